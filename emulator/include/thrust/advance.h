/* thrust::advance. */
#include "distance.h"
