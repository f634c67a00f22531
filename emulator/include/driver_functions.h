/* make_cudaExtent and its like. */
#include "cuda_runtime_api.h"
