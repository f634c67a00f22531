/* thrust::transform_reduce. */
#include "reduce.h"
