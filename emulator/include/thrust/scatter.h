/* thrust::scatter. */
#include "transform.h"
