// Half of the warp shuffles while the other half votes: neither can answer the other.
// EXPECT: warp divergence: lane 0 waits in __shfl_sync here while lane 16 waits in __ballot_sync at
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void mix(int *data)
{
    int v = data[threadIdx.x];
#ifdef FIXED
    const int from_20 = __shfl_sync(0xffffffffu, v, 20);
    const int votes = (int)__ballot_sync(0xffffffffu, v > 0);
    v = threadIdx.x < 16 ? from_20 : votes;
#else
    if (threadIdx.x < 16)
        v = __shfl_sync(0xffffffffu, v, 20); // FAULT
    else
        v = (int)__ballot_sync(0xffffffffu, v > 0); // OTHER
#endif
    data[threadIdx.x] = v;
}

int main(void)
{
    int *data;
    cudaMalloc(&data, 32 * sizeof *data);
    cudaMemset(data, 0, 32 * sizeof *data);
    mix<<<1, 32>>>(data);
    int status = finish();
    cudaFree(data);
    return status;
}
