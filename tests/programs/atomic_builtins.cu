// nvcc's own atomics (__nv_atomic_...), old names of shuffles for a program's own functions,
// conversions of 64 bits that round one way.
#include "check.h"

#include <cuda.h>

enum { BLOCKS = 4, THREADS = 64 };

struct Sums {
    int sum, most, least, handed, flag;
    unsigned bits;
    unsigned long long wide;
    float number;
};

__device__ void lock(int *word)
{
    int none = 0;
    while (!__nv_atomic_compare_exchange_n(word, &none, 1, false, __NV_ATOMIC_ACQUIRE,
                                           __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE))
        none = 0;
}

__global__ void add_up(Sums *sums, int *word, int *guarded)
{
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    __nv_atomic_fetch_add(&sums->sum, me, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_sub(&sums->wide, 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_fetch_max(&sums->most, me, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_min(&sums->least, -me, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_or(&sums->bits, 1u << me % 32, __NV_ATOMIC_RELAXED);
    __nv_atomic_fetch_add(&sums->number, 0.5f, __NV_ATOMIC_RELAXED);
    if (threadIdx.x == 0) {
        lock(word);
        *guarded += 1;
        __nv_atomic_store_n(word, 0, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    }
}

/* The first block leaves a value behind a flag, the second fetches it. */
__global__ void hand_over(Sums *sums, int *value)
{
    if (blockIdx.x == 0) {
        *value = 42;
        __nv_atomic_thread_fence(__NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
        int raised = 1;
        __nv_atomic_store(&sums->flag, &raised, __NV_ATOMIC_RELAXED);
    } else {
        int raised = 0;
        while (!raised)
            __nv_atomic_load(&sums->flag, &raised, __NV_ATOMIC_ACQUIRE,
                             __NV_THREAD_SCOPE_DEVICE);
        sums->handed = __nv_atomic_exchange_n(value, 0, __NV_ATOMIC_RELAXED);
    }
}

/* CUDA has no __shfl_down any more, so the name is free. */
__device__ float4 __shfl_down(const float4 &v, int distance, int width = 32)
{
    return make_float4(__shfl_down_sync(0xffffffff, v.x, distance, width),
                       __shfl_down_sync(0xffffffff, v.y, distance, width), 0, 0);
}

__global__ void shift(float4 *v)
{
    v[threadIdx.x] = __shfl_down(v[threadIdx.x], 1);
}

__global__ void convert(double *down, double *up, const long long *x)
{
    down[threadIdx.x] = __ll2double_rd(x[threadIdx.x]);
    up[threadIdx.x] = __ll2double_ru(x[threadIdx.x]);
    if (threadIdx.x == 0) *up = __ull2double_rz(0xffffffffffffffffull);
}

int main()
{
    Sums *sums;
    int *words;
    const int all = BLOCKS * THREADS;
    CHECK(cudaMallocManaged(&sums, sizeof *sums));
    CHECK(cudaMallocManaged(&words, 2 * sizeof *words));
    *sums = Sums{};
    sums->wide = 1000;
    words[0] = words[1] = 0;
    add_up<<<BLOCKS, THREADS>>>(sums, &words[0], &words[1]);
    hand_over<<<2, 1>>>(sums, &words[0]);
    CHECK(cudaDeviceSynchronize());
    EXPECT(sums->sum == all * (all - 1) / 2 && sums->wide == 1000ull - all);
    EXPECT(sums->most == all - 1 && sums->least == 1 - all);
    EXPECT(sums->bits == 0xffffffff && sums->number == 0.5f * all);
    EXPECT(words[1] == BLOCKS && sums->handed == 42 && words[0] == 0);

    float4 *v;
    CHECK(cudaMallocManaged(&v, 32 * sizeof *v));
    for (int i = 0; i < 32; i++) v[i] = make_float4((float)i, (float)-i, 1, 1);
    shift<<<1, 32>>>(v);
    CHECK(cudaDeviceSynchronize());
    EXPECT(v[3].x == 4 && v[3].y == -4 && v[3].z == 0);

    double *down, *up;
    long long *x;
    CHECK(cudaMallocManaged(&down, 2 * sizeof *down));
    CHECK(cudaMallocManaged(&up, 2 * sizeof *up));
    CHECK(cudaMallocManaged(&x, 2 * sizeof *x));
    x[0] = x[1] = (1ll << 60) + 1;
    convert<<<1, 2>>>(down, up, x);
    CHECK(cudaDeviceSynchronize());
    EXPECT(down[1] == 0x1p60 && up[1] == 0x1p60 + 256 && up[0] == 0x1p64 - 2048);

    EXPECT(CUDA_ERROR_INVALID_CONTEXT == 201 && CUDA_ERROR_UNKNOWN == 999);
    CHECK(cudaFree(sums));
    CHECK(cudaFree(words));
    CHECK(cudaFree(v));
    CHECK(cudaFree(down));
    CHECK(cudaFree(up));
    CHECK(cudaFree(x));
    return pass();
}
