// The tile is filled again while others may still read it: the second barrier is missing.
// EXPECT: data race in shared memory
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void sums(const int *in, int *out, int tiles)
{
    __shared__ int tile[64];
    const int t = threadIdx.x;
    int sum = 0;
    for (int i = 0; i < tiles; i++) {
        tile[t] = in[i * 64 + t]; // OTHER
        __syncthreads();
        for (int j = 0; j < 64; j++) sum += tile[j]; // FAULT
#ifdef FIXED
        __syncthreads();
#endif
    }
    out[blockIdx.x * 64 + t] = sum;
}

int main(void)
{
    int *in, *out;
    cudaMalloc(&in, 128 * sizeof *in);
    cudaMalloc(&out, 128 * sizeof *out);
    cudaMemset(in, 0, 128 * sizeof *in);
    sums<<<2, 64>>>(in, out, 2);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
