// Lanes of one warp do not march in step any more: they need __syncwarp.
// EXPECT: data race in shared memory
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void shift(const int *in, int *out)
{
    __shared__ int s[32];
    const int lane = threadIdx.x;
    s[lane] = in[lane]; // OTHER
#ifdef FIXED
    __syncwarp();
#endif
    if (lane > 0) out[lane] = s[lane - 1]; // FAULT
}

int main(void)
{
    int *in, *out;
    cudaMalloc(&in, 32 * sizeof *in);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(in, 0, 32 * sizeof *in);
    shift<<<1, 32>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
