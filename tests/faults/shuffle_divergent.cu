// Half of the warp shuffles, the other half waits at the block's barrier for it.
// EXPECT: warp divergence: __shfl_xor_sync waits for lanes 0xffff0000
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void mix(int *data)
{
    int v = data[threadIdx.x];
#ifdef FIXED
    v = __shfl_xor_sync(0xffffffffu, v, 1);
#else
    if (threadIdx.x < 16) v = __shfl_xor_sync(0xffffffffu, v, 1); // FAULT
#endif
    __syncthreads();
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
