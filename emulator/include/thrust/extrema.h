/* thrust::min_element and its like. */
#include "reduce.h"
