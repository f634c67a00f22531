// The buffer is freed one line too early.
// EXPECT: freed
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void fill(int *out)
{
    out[threadIdx.x] = 1; // FAULT
}

int main(void)
{
    int *out, *other;
    cudaMalloc(&other, 32 * sizeof *other);
    cudaMalloc(&out, 32 * sizeof *out);
#ifndef FIXED
    cudaFree(out);
#endif
    fill<<<1, 32>>>(out);
    int status = finish();
#ifdef FIXED
    cudaFree(out);
#endif
    cudaFree(other);
    return status;
}
