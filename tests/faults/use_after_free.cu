// The buffer is freed one line too early.
// EXPECT: use after free: a write of 4 bytes in global memory, at byte 0 of out, the 128 bytes allocated at
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void fill(int *out)
{
    out[threadIdx.x] = 1; // FAULT
}

int main(void)
{
    int *out, *other;
    cudaMalloc(&out, 32 * sizeof *out); // OTHER
    cudaMalloc(&other, 32 * sizeof *other);
#ifndef FIXED
    cudaFree(out); // OTHER
#endif
    fill<<<1, 32>>>(out);
    int status = finish();
#ifdef FIXED
    cudaFree(out);
#endif
    cudaFree(other);
    return status;
}
