/* device_free(). */
#include "device_malloc.h"
