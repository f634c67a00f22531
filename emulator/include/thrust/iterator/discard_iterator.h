/* thrust::discard_iterator. */
#include "counting_iterator.h"
