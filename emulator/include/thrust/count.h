/* thrust::count. */
#include "reduce.h"
