// Thread 0 waits for what thread 32 is to store, and thread 32 for thread 0, at a barrier.
// EXPECT: no other thread can go on and change them
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void hand_over(volatile int *flag, int *out)
{
#ifdef FIXED
    if (threadIdx.x == 32) *flag = 7;
#endif
    if (threadIdx.x == 0) {
        while (*flag == 0) continue; // FAULT
        *out = *flag;
    }
    __syncthreads();
#ifndef FIXED
    if (threadIdx.x == 32) *flag = 7;
#endif
}

int main(void)
{
    int *flag, *out;
    cudaMalloc(&flag, sizeof *flag);
    cudaMalloc(&out, sizeof *out);
    cudaMemset(flag, 0, sizeof *flag);
    hand_over<<<1, 64>>>(flag, out);
    int status = finish();
    cudaFree(flag);
    cudaFree(out);
    return status;
}
