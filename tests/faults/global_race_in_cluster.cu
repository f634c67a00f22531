// The two blocks of a cluster count in one place, and do not take turns.
// EXPECT: data race in global memory
// EXPECT: thread (0,0,0) of block (2,0,0) wrote it
// EXPECT: blocks of a cluster run side by side
// THREAD (0,0,0) BLOCK (3,0,0)
#include "fault.h"

__global__ void count(int *counts)
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
    cudaLaunchAttribute pairs = {};
    pairs.id = cudaLaunchAttributeClusterDimension;
    pairs.val.clusterDim.x = 2;
    pairs.val.clusterDim.y = pairs.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 4;
    config.blockDim = 32;
    config.attrs = &pairs;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, count, counts);
    const int status = finish();
    cudaFree(counts);
    return status;
}
