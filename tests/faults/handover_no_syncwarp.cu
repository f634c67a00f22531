// Each warp counts for itself, and its first lane does not wait for the others.
// EXPECT: data race in global memory
// EXPECT: thread (1,0,0) of block (0,0,0) wrote it
// EXPECT: must come after a __threadfence(), and after a __syncthreads() or __syncwarp()
// THREAD (33,0,0) BLOCK (3,0,0)
#include "handover.h"

__global__ void add_up(const float *in, float *parts, float *out, int *counted)
{
    const int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32;
    int before = 0;
    parts[i] = 2.0f * in[i]; // OTHER
    __threadfence();
#ifdef FIXED
    __syncwarp();
#endif
    if (lane == 0) before = atomicAdd(counted, 1);
    before = __shfl_sync(0xffffffffu, before, 0);
    if (before < COUNT / 32 - 1) return;
    __threadfence();
    float sum = 0.0f;
    for (int warp = 0; warp < COUNT / 32; warp++) sum += parts[warp * 32 + lane]; // FAULT
    out[lane] = sum;
}

int main(void)
{
    return run(add_up);
}
