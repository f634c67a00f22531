/* thrust::sequence. */
#include "transform.h"
