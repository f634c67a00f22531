/* thrust::zip_function. */
#include "iterator/zip_iterator.h"
