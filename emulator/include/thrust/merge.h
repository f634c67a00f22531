/* thrust::merge. */
#include "sort.h"
