// Each thread waits for its own copies only; a neighbour's need a barrier besides.
// EXPECT: data race in shared memory
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"
#include <cuda_pipeline.h>

__global__ void shift(const float *in, float *out)
{
    __shared__ float tile[64];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
#ifdef FIXED
    __syncthreads();
#endif
    if (t > 0) out[t] = tile[t - 1]; // FAULT
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, 64 * sizeof *in);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaMemset(in, 0, 64 * sizeof *in);
    shift<<<1, 64>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
