/* thrust::permutation_iterator. */
#include "transform_iterator.h"
