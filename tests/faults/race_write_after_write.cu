// Two threads store different values in one place: which one stays is luck.
// EXPECT: data race in shared memory
// THREAD (32,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void pairs(int *out)
{
    __shared__ int slot[32];
    const int t = threadIdx.x;
#ifdef FIXED
    if (t < 32)
#endif
        slot[t % 32] = t; // FAULT
    __syncthreads();
    out[t] = slot[31 - t % 32];
}

int main(void)
{
    int *out;
    cudaMalloc(&out, 64 * sizeof *out);
    pairs<<<1, 64>>>(out);
    int status = finish();
    cudaFree(out);
    return status;
}
