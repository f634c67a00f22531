/* thrust::uninitialized_fill. */
#include "fill.h"
