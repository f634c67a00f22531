/* thrust::equal. */
#include "reduce.h"
