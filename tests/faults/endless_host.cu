// A kernel that waits for the host: the flag is in memory of both, and would be raised after
// the launch. On a GPU the kernel runs meanwhile.
// EXPECT: Should the host do so: on a GPU it can, but here a launch returns only when its kernel has ended
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void wait(volatile int *flag, int *out)
{
    while (*flag == 0) continue; // FAULT
    *out = *flag;
}

int main(void)
{
    int *flag, *d_flag, *d_out;
    if (cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped) != cudaSuccess) return 2;
    cudaHostGetDevicePointer(&d_flag, flag, 0);
    cudaMalloc(&d_out, sizeof *d_out);
    *flag = 0;
#ifdef FIXED
    *(volatile int *)flag = 1;
#endif
    wait<<<1, 1>>>(d_flag, d_out);
#ifndef FIXED
    *(volatile int *)flag = 1;
#endif
    const int status = finish();
    cudaFree(d_out);
    cudaFreeHost(flag);
    return status;
}
