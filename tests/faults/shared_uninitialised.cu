// An accumulator in shared memory that nobody has set to zero.
// EXPECT: uninitialised shared memory
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void count(int *out)
{
    __shared__ int total;
#ifdef FIXED
    if (threadIdx.x == 0) total = 0;
#endif
    __syncthreads();
    atomicAdd(&total, 1); // FAULT
    __syncthreads();
    if (threadIdx.x == 0) *out = total;
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
