/* thrust::replace. */
#include "transform.h"
