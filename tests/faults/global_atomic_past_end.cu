// A bin number that no bin has.
// EXPECT: out of bounds: an atomic of 4 bytes in global memory
// THREAD (10,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void count(unsigned *bins, int n)
{
    int bin = threadIdx.x;
#ifdef FIXED
    if (bin >= n) return;
#endif
    atomicAdd(&bins[bin % (n + 1)], 1u); // FAULT
}

int main(void)
{
    const int n = 10;
    unsigned *bins;
    cudaMalloc(&bins, n * sizeof *bins);
    cudaMemset(bins, 0, n * sizeof *bins);
    count<<<1, 32>>>(bins, n);
    int status = finish();
    cudaFree(bins);
    return status;
}
