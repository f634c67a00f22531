/* thrust::generate. */
#include "fill.h"
