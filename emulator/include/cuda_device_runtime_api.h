/* What a kernel may call of the runtime, which cuda_runtime.h declares for all. */
#ifndef CUDA_DEVICE_RUNTIME_API_H
#define CUDA_DEVICE_RUNTIME_API_H

#include "cuda_runtime.h"

#endif
