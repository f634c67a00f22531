// No barrier between filling the tile and reading what a neighbour filled in.
// EXPECT: data race in shared memory
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void differences(const int *in, int *out)
{
    __shared__ int tile[64];
    const int t = threadIdx.x;
    tile[t] = in[t]; // OTHER
#ifdef FIXED
    __syncthreads();
#endif
    if (t > 0) out[t] = tile[t] - tile[t - 1]; // FAULT
}

int main(void)
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof *in);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaMemset(in, 1, 64 * sizeof *in);
    differences<<<1, 64>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
