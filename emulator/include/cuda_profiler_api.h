/* cudaProfilerStart and cudaProfilerStop, which cuda_runtime_api.h declares. */
#ifndef CUDA_PROFILER_API_H
#define CUDA_PROFILER_API_H

#include "cuda_runtime_api.h"

#endif
