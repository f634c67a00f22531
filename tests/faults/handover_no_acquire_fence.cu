// The last block knows that all have been counted, and may read what was there before.
// EXPECT: data race in global memory
// EXPECT: a missing __threadfence() behind the atomic that tells this block?
// THREAD (0,0,0) BLOCK (3,0,0)
#include "handover.h"

__global__ void add_up(const float *in, float *parts, float *out, int *counted)
{
    __shared__ bool last;
    const int t = threadIdx.x;
    parts[blockIdx.x * THREADS + t] = 2.0f * in[blockIdx.x * THREADS + t]; // OTHER
    __syncthreads();
    if (t == 0) {
        __threadfence();
        last = atomicAdd(counted, 1) == BLOCKS - 1;
#ifdef FIXED
        __threadfence();
#endif
    }
    __syncthreads();
    if (!last) return;
    float sum = 0.0f;
    for (int b = 0; b < BLOCKS; b++) sum += parts[b * THREADS + t]; // FAULT
    out[t] = sum;
}

int main(void)
{
    return run(add_up);
}
