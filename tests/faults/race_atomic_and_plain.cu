// Everybody adds with an atomic, and one thread looks before the others are done.
// EXPECT: data race in shared memory
// THREAD (40,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void count(int *out)
{
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, 1); // OTHER
#ifdef FIXED
    __syncthreads();
#endif
    if (threadIdx.x == 40) *out = total; // FAULT
}

int main(void)
{
    int *out;
    cudaMalloc(&out, sizeof *out);
    count<<<1, 64>>>(out);
    int status = finish();
    cudaFree(out);
    return status;
}
