/* thrust::tabulate. */
#include "fill.h"
