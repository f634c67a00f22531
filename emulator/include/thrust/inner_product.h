/* thrust::inner_product. */
#include "reduce.h"
