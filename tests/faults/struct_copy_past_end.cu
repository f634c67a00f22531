// The last thread copies a struct too many: one that no instruction moves at once.
// EXPECT: out of bounds: a write of 4 bytes in global memory, 0 bytes past the end
// THREAD (31,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void copy(const float3 *from, float3 *to, int n)
{
#ifndef FIXED
    n++;
#endif
    if ((int)threadIdx.x >= n) return;
    to[threadIdx.x] = from[threadIdx.x]; // FAULT
}

int main(void)
{
    const int n = 31;
    float3 *from, *to;
    cudaMalloc(&from, (n + 1) * sizeof *from);
    cudaMalloc(&to, n * sizeof *to);
    cudaMemset(from, 0, (n + 1) * sizeof *from);
    copy<<<1, 32>>>(from, to, n);
    int status = finish();
    cudaFree(from);
    cudaFree(to);
    return status;
}
