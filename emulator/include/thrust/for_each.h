/* thrust::for_each. */
#include "transform.h"
