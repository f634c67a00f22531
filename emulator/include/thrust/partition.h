/* thrust::partition. */
#include "unique.h"
