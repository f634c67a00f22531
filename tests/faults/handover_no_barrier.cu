// Every thread has a fence behind its part; but thread 0 counts the block without waiting
// for the others.
// EXPECT: data race in global memory
// EXPECT: thread (1,0,0) of block (0,0,0) wrote it
// EXPECT: must come after a __threadfence(), and after a __syncthreads() or __syncwarp()
// THREAD (1,0,0) BLOCK (3,0,0)
#include "handover.h"

__global__ void add_up(const float *in, float *parts, float *out, int *counted)
{
    __shared__ bool last;
    const int t = threadIdx.x;
    parts[blockIdx.x * THREADS + t] = 2.0f * in[blockIdx.x * THREADS + t]; // OTHER
    __threadfence();
#ifdef FIXED
    __syncthreads();
#endif
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
