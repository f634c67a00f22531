/* thrust::gather. */
#include "transform.h"
