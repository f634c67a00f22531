/* thrust::reverse. */
#include "transform.h"
