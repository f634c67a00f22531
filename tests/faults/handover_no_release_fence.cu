// The last block adds up what all have left. Without a fence before the count, a part may
// be on its way still when its block is counted.
// EXPECT: data race in global memory
// EXPECT: thread (0,0,0) of block (0,0,0) wrote it
// EXPECT: and to hand something over takes __threadfence() and an atomic on both sides
// THREAD (0,0,0) BLOCK (3,0,0)
#include "handover.h"

__global__ void add_up(const float *in, float *parts, float *out, int *counted)
{
    __shared__ bool last;
    const int t = threadIdx.x;
    parts[blockIdx.x * THREADS + t] = 2.0f * in[blockIdx.x * THREADS + t]; // OTHER
#ifdef FIXED
    __threadfence();
#endif
    __syncthreads();
    if (t == 0) last = atomicAdd(counted, 1) == BLOCKS - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    float sum = 0.0f;
    for (int b = 0; b < BLOCKS; b++) sum += parts[b * THREADS + t]; // FAULT
    out[t] = sum;
}

int main(void)
{
    return run(add_up);
}
