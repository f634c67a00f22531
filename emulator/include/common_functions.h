/* What kernels have of the C library, which cuda_runtime.h brings along anyway. */
#ifndef COMMON_FUNCTIONS_H
#define COMMON_FUNCTIONS_H

#include "cuda_runtime.h"

#endif
