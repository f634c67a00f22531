/* Which part of a program a profiler looks at, here the lens: the driver API's calls. */
#ifndef CUDA_PROFILER_H
#define CUDA_PROFILER_H

#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

#ifdef __cplusplus
}
#endif

#endif
