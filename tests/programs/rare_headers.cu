// Headers that fewer programs include, and what they expect to find there.
// BUILD: -lcublas
#include <builtin_types.h>
#include <cublas_api.h>
#include <device_types.h>
#include <driver_functions.h>
#include <string.h>
#include <thrust/random/linear_congruential_engine.h>
#include <thrust/random/uniform_int_distribution.h>

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
    const cuComplex z = make_cuComplex(1.0f, 2.0f); // cuBLAS brings it
    thrust::minstd_rand engine(7);
    thrust::uniform_int_distribution<int> die(1, 6);
    for (int i = 0; i < 100; i++) {
        const int eyes = die(engine);
        EXPECT(eyes >= 1 && eyes <= 6);
    }
    EXPECT(cuCimagf(z) == 2.0f);
    EXPECT(mode != cudaRoundNearest && extent.width == 3 && !handle);
    EXPECT(strcmp(name_of((cudaError_t)10000), "of the driver") == 0);
    EXPECT(strcmp(cudaGetErrorName(cudaErrorApiFailureBase), "cudaErrorApiFailureBase") ==
           0);
    EXPECT(strcmp(cudaGetErrorString(cudaErrorApiFailureBase), "api failure base") == 0);
    return pass();
}
