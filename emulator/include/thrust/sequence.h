/* thrust::sequence. */
#include "fill.h"
