/* thrust::find. */
#include "reduce.h"
