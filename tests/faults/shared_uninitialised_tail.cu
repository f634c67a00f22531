// The last tile is filled only as far as the data goes, and summed to its end.
// EXPECT: uninitialised shared memory
// THREAD (0,0,0) BLOCK (1,0,0)
#include "fault.h"

__global__ void sums(const float *in, float *out, int n)
{
    __shared__ float tile[64];
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) tile[threadIdx.x] = in[i];
#ifdef FIXED
    else
        tile[threadIdx.x] = 0.0f;
#endif
    __syncthreads();
    float sum = 0.0f;
    for (int j = 0; j < 64; j++) sum += tile[j]; // FAULT
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

int main(void)
{
    const int n = 100;
    float *in, *out;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&out, 2 * sizeof *out);
    cudaMemset(in, 0, n * sizeof *in);
    sums<<<2, 64>>>(in, out, n);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
