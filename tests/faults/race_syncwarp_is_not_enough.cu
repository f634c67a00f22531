// __syncwarp orders one warp; the neighbour of lane 0 belongs to another.
// EXPECT: data race in shared memory
// THREAD (32,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void shift(const int *in, int *out)
{
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = in[t]; // OTHER
#ifdef FIXED
    __syncthreads();
#else
    __syncwarp();
#endif
    if (t > 0) out[t] = s[t - 1]; // FAULT
}

int main(void)
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof *in);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaMemset(in, 0, 64 * sizeof *in);
    shift<<<1, 64>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
