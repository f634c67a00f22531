/* thrust::mismatch. */
#include "reduce.h"
