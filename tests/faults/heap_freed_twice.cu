// Two threads free the memory that one of them allocated.
// EXPECT: free of 0x
// EXPECT: which is freed already, at
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void work(int *out)
{
    __shared__ int *scratch;
    if (threadIdx.x == 0) scratch = (int *)malloc(32 * sizeof *scratch);
    __syncthreads();
    scratch[threadIdx.x] = (int)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = scratch[31 - threadIdx.x];
    __syncthreads();
#ifdef FIXED
    if (threadIdx.x == 0)
#endif
        free(scratch); // FAULT
}

int main(void)
{
    int *out;
    cudaMalloc(&out, 32 * sizeof *out);
    work<<<1, 32>>>(out);
    const int status = finish();
    cudaFree(out);
    return status;
}
