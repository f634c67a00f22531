// A kernel writes to __constant__ memory.
// EXPECT: a write of 4 bytes in memory that a kernel can only read
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"

__constant__ float weights[4] = {1, 2, 3, 4};
__device__ float scratch[4];

__global__ void scale(float factor)
{
#ifdef FIXED
    float *const to = scratch;
#else
    float *const to = weights;
#endif
    if (threadIdx.x > 0 && threadIdx.x < 4)
        to[threadIdx.x] = factor * weights[threadIdx.x]; // FAULT
}

int main(void)
{
    float result[4];
    scale<<<1, 32>>>(2.0f);
    const int status = finish();
    cudaMemcpyFromSymbol(result, scratch, sizeof result);
    return result[3] == 8.0f ? status : 4;
}
