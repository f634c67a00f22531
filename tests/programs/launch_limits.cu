// What a launch may ask for: dynamic shared memory that was opted in to, where the kernel's name
// alone does not say which function is meant; and no more threads than __launch_bounds__ allows.
#include "check.h"

const int SHARED = 64 * 1024;

__global__ void with_default(float *out, int n = 32)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = (float)n;
    __syncthreads();
    out[threadIdx.x] = tile[31 - threadIdx.x];
}

template <class T, int N = 32> __global__ void reversed(T *out)
{
    extern __shared__ char raw[];
    T *const tile = (T *)raw;
    tile[threadIdx.x] = (T)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[N - 1 - threadIdx.x];
}

__global__ void __launch_bounds__(128) bounded(float *out)
{
    out[threadIdx.x] = 1.0f;
}

template <int N> __global__ __launch_bounds__(N * 32, 2) void bounded_by(float *out)
{
    out[threadIdx.x] = N;
}

namespace tiled
{
const int THREADS = 64;
__global__ void __launch_bounds__(THREADS) bounded(float *out)
{
    out[threadIdx.x] = 1.0f;
}
} // namespace tiled

int main(void)
{
    float *out, host[256];
    CHECK(cudaMalloc(&out, sizeof host));

    reversed<float><<<1, 32, SHARED>>>(out);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(with_default, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               SHARED));
    with_default<<<1, 32, SHARED>>>(out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, out, 32 * sizeof *host, cudaMemcpyDeviceToHost));
    EXPECT(host[7] == 32.0f);
    CHECK(cudaFuncSetAttribute(reversed<float>,
                               cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    reversed<float><<<1, 32, SHARED>>>(out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, out, 32 * sizeof *host, cudaMemcpyDeviceToHost));
    EXPECT(host[7] == 24.0f);

    CHECK(cudaMemset(out, 0, sizeof host));
    bounded<<<1, 256>>>(out);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    bounded_by<2><<<1000, dim3(13, 5)>>>(out);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 256; i++) EXPECT(host[i] == 0.0f);

    int grid, block, blocks;
    cudaFuncAttributes attributes;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, tiled::bounded));
    EXPECT(block == 64);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, tiled::bounded, 65, 0));
    EXPECT(blocks == 0);
    CHECK(cudaFuncGetAttributes(&attributes, bounded));
    EXPECT(attributes.maxThreadsPerBlock == 128);

    bounded<<<1, 128>>>(out);
    CHECK(cudaGetLastError());
    bounded_by<2><<<1, 64>>>(out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    EXPECT(host[0] == 2.0f && host[63] == 2.0f && host[64] == 1.0f && host[127] == 1.0f);
    CHECK(cudaFree(out));
    return pass();
}
