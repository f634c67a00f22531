// The two blocks of a cluster count in one place, and do not take turns.
// EXPECT: data race in global memory
// EXPECT: thread (0,0,0) of block (2,0,0) wrote it
// EXPECT: blocks of a cluster run side by side
// THREAD (0,0,0) BLOCK (3,0,0)
#include "fault.h"

__global__ void __cluster_dims__(2) count(int *counts)
{
    if (threadIdx.x > 0 || blockIdx.x < 2) return;
#ifdef FIXED
    counts[blockIdx.x]++;
#else
    counts[blockIdx.x / 2]++; // FAULT
#endif
}

int main(void)
{
    int *counts;
    cudaMalloc(&counts, 4 * sizeof *counts);
    cudaMemset(counts, 0, 4 * sizeof *counts);
    count<<<4, 32>>>(counts);
    const int status = finish();
    cudaFree(counts);
    return status;
}
