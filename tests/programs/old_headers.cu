// Headers that older programs include, and what they expect to find there.
// BUILD: -lcublas
#include <builtin_types.h>
#include <cublas_api.h>
#include <device_types.h>
#include <driver_functions.h>
#include <string.h>

#include "check.h"

static const char *name_of(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return "success";
    case cudaErrorApiFailureBase: return "of the driver";
    default: return "other";
    }
}

int main()
{
    const cudaRoundMode mode = cudaRoundZero;
    const cudaExtent extent = make_cudaExtent(3, 2, 1);
    cublasHandle_t handle = NULL;
    EXPECT(mode != cudaRoundNearest && extent.width == 3 && !handle);
    EXPECT(strcmp(name_of((cudaError_t)10000), "of the driver") == 0);
    EXPECT(strcmp(cudaGetErrorName(cudaErrorApiFailureBase), "cudaErrorApiFailureBase") ==
           0);
    EXPECT(strcmp(cudaGetErrorString(cudaErrorApiFailureBase), "api failure base") == 0);
    return pass();
}
