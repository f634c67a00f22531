/* thrust::lower_bound, upper_bound, binary_search. */
#include "sort.h"
