// A swizzle goes by the bits of the address: what the descriptor describes must begin at a
// multiple of 1,024 bytes, and the array is declared for 128.
// EXPECT: misaligned address: a matrix descriptor with a swizzle of 128 bytes
// EXPECT: matrix is not declared with __align__(1024)
// THREAD (0,0,0) BLOCK (0,0,0)
#include "../../common/wgmma.h"

#include "fault.h"

#include <cuda_fp16.h>

#ifdef FIXED
#define ALIGNED __align__(1024)
#else
#define ALIGNED __align__(128)
#endif

extern "C" void cuda_check(cudaError_t error, const char *call, const char *file,
                           int line)
{
    if (error != cudaSuccess)
        printf("%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
}

__global__ void multiply(float *out)
{
    __shared__ ALIGNED __half matrix[64 * 64]; // rows of 128 bytes
    const int t = threadIdx.x;
    for (int i = t; i < 64 * 64; i += 128) matrix[i] = 1.0f;
    fence_proxy_async();
    __syncthreads();
    const uint64_t m = wgmma_descriptor(matrix, 16, 8 * 128, WGMMA_SWIZZLE_128B);
    float sums[32];
    wgmma_fence();
    wgmma_mma_async_f16<0, 0>(sums, m, m, 0); // FAULT
    wgmma_commit_group();
    wgmma_wait_group<0>();
    for (int i = 0; i < 32; i++) out[t * 32 + i] = sums[i];
}

int main(void)
{
    float *out;
    CUDA_CHECK(cudaMalloc(&out, 64 * 64 * sizeof *out));
    multiply<<<1, 128>>>(out);
    const int status = finish();
    CUDA_CHECK(cudaFree(out));
    return status;
}
