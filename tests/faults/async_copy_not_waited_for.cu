// The tile is read while its copy may still be on the way: a barrier does not wait for
// it.
// EXPECT: asynchronous copy not waited for
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"
#include <cuda_pipeline.h>

__global__ void reverse(const float *in, float *out)
{
    __shared__ float tile[64];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], sizeof(float));
    __pipeline_commit();
#ifdef FIXED
    __pipeline_wait_prior(0);
#endif
    __syncthreads();
    out[t] = tile[63 - t]; // FAULT
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, 64 * sizeof *in);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaMemset(in, 0, 64 * sizeof *in);
    reverse<<<1, 64>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
