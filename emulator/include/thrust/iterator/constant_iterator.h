/* thrust::constant_iterator. */
#include "counting_iterator.h"
