// Headers that fewer programs include, and what they expect to find there.
// BUILD: -lcublas --extended-lambda -std=c++17
#include <builtin_types.h>
#include <channel_descriptor.h>
#include <cub/config.cuh>
#include <cub/cub.cuh> // and with it numbers of 16 bits
#include <cub/util_arch.cuh>
#include <cub/util_macro.cuh>
#include <cublas_api.h>
#include <cuda/cmath>
#include <cudaProfiler.h>
#include <cuda_device_runtime_api.h>
#include <device_types.h>
#include <driver_functions.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <sm_20_atomic_functions.h>
#include <sm_20_intrinsics.h>
#include <sm_32_atomic_functions.h>
#include <sm_32_intrinsics.h>
#include <sm_35_atomic_functions.h>
#include <sm_35_intrinsics.h>
#include <sm_60_atomic_functions.h>
#include <sm_61_intrinsics.h>
#include <string.h>
#include <surface_types.h>
#include <thrust/device_vector.h>
#include <thrust/random/linear_congruential_engine.h>
#include <thrust/random/uniform_int_distribution.h>

#ifdef __CUDA_EMULATED__ // NVIDIA's say that they are nobody's business
#include <common_functions.h>
#include <crt/device_functions.h>
#include <crt/math_functions.h>
#include <device_double_functions.h>
#endif

#include "check.h"

static_assert(THRUST_VERSION >= 200000, "any header of thrust says which it is");

static const char *name_of(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return "success";
    case cudaErrorApiFailureBase: return "of the driver";
    default: return "other";
    }
}

/* With --extended-lambda nvcc includes <functional>, and what that includes. */
static std::tuple<int, __nv_bfloat16> both(int i)
{
    return {i, __float2bfloat16((float)i)};
}

#if __has_include(<nvfunctional>) // a part of the toolkit that may be missing
#include <nvfunctional>

__device__ int twice(const nvstd::function<int(int)> &f, int x)
{
    return f(f(x));
}

/* With a function object that is too large to lie in what holds it. */
__global__ void hold(int *out, int x)
{
    const int numbers[] = {3, x, 4, 1, 5};
    const nvstd::function<int(int)> f = [=](int i) { return numbers[i % 5] + 3; };
    *out = twice(f, 4);
}
#endif

__global__ void divide(double *x)
{
    *x = __ddiv_rd(1.0, 3.0) + __ddiv_ru(-1.0, 3.0);
}

int main()
{
    double *quotients;
    CHECK(cudaMallocManaged(&quotients, sizeof *quotients));
    EXPECT(cuProfilerStart() == CUDA_SUCCESS);
    divide<<<1, 1>>>(quotients);
    CHECK(cudaDeviceSynchronize());
    EXPECT(cuProfilerStop() == CUDA_SUCCESS);
    EXPECT(*quotients == 0.0);
    CHECK(cudaFree(quotients));
    const cudaSurfaceObject_t surface = 0;
    EXPECT(!surface && cudaCreateChannelDesc<short2>().y == 16);

#if __has_include(<nvfunctional>)
    int *held;
    CHECK(cudaMallocManaged(&held, sizeof *held));
    hold<<<1, 1>>>(held, 0);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*held == 4);
    CHECK(cudaFree(held));
#endif
    EXPECT(std::get<0>(both(3)) == 3);
    // What programs use without including it, since NVIDIA's headers do.
    const auto begin = std::chrono::steady_clock::now();
    const std::unique_ptr<int> one(new int(1));
    EXPECT(std::strlen("three") == 5 && *one < std::numeric_limits<int>::max());
    EXPECT(std::chrono::steady_clock::now() >= begin);
    thrust::device_vector<int> ones(3, 1);
    thrust::inclusive_scan(ones.begin(), ones.end(), ones.begin());
    EXPECT(ones[2] == 3);
    EXPECT(cuda::ceil_div(1001, 256) == 4 && cuda::ceil_div(1024u, 256) == 4u);
    EXPECT(cuda::ceil_div(0x7fffffff, 2) == 0x40000000);
    EXPECT(cuda::round_up(17, 8) == 24 && cuda::round_down(17, 8) == 16);
    EXPECT(cuda::ilog2(1023) == 9 && cuda::ilog10(1000u) == 3);
    nvtxNameCuDeviceA(0, "the only one");
    nvtxNameCudaDeviceA(0, "the only one");
    nvtxNameCudaStreamA(0, "the default");
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
