/* thrust::remove. */
#include "unique.h"
