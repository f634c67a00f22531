/* thrust::adjacent_difference. */
#include "transform.h"
