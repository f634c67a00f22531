// An asynchronous copy reads, too: its line is the one to blame.
// EXPECT: uninitialised global memory
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"
#include <cuda_pipeline.h>

__global__ void reverse(const float *in, float *out)
{
    __shared__ __align__(16) float tile[64];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[4 * t], &in[4 * t], sizeof(float4)); // FAULT
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    for (int i = t; i < 64; i += 16) out[i] = tile[63 - i];
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, 64 * sizeof *in);
    cudaMalloc(&out, 64 * sizeof *out);
#ifdef FIXED
    cudaMemset(in, 0, 64 * sizeof *in);
#endif
    reverse<<<1, 16>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
