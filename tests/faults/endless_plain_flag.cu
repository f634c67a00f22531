// A block waits for another's flag, which is not volatile: the compiler may read it once,
// and where it does, the loop has nothing left to end it.
// EXPECT: endless loop
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void wait_for_flag(const int *flag, int *out)
{
    if (threadIdx.x > 0) return;
#ifndef FIXED
    while (*flag == 0) continue; // FAULT
#endif
    *out = *flag;
}

int main(void)
{
    int *flag, *out;
    cudaMalloc(&flag, sizeof *flag);
    cudaMalloc(&out, sizeof *out);
    cudaMemset(flag, 0, sizeof *flag);
    wait_for_flag<<<1, 32>>>(flag, out);
    int status = finish();
    cudaFree(flag);
    cudaFree(out);
    return status;
}
