// Two groups of warps, each with a barrier of its own. In the second, the first thread
// counts the block without waiting for the others.
// EXPECT: data race in global memory
// EXPECT: thread (63,0,0) of block (0,0,0) wrote it
// EXPECT: must come after a __threadfence(), and after a __syncthreads() or __syncwarp()
// THREAD (63,0,0) BLOCK (3,0,0)
#include "handover.h"

static __device__ void meet(int group)
{
    asm volatile("bar.sync %0, 32;" ::"r"(1 + group) : "memory");
}

__global__ void add_up(const float *in, float *parts, float *out, int *counted)
{
    __shared__ int before[THREADS / 32];
    const int t = threadIdx.x, group = t / 32;
    parts[blockIdx.x * THREADS + t] = 2.0f * in[blockIdx.x * THREADS + t]; // OTHER
#ifdef FIXED
    meet(group);
#else
    if (group == 0) meet(group);
#endif
    if (t % 32 == 0) {
        __threadfence();
        before[group] = atomicAdd(counted, 1 << 8 * group) >> 8 * group & 255;
        __threadfence();
    }
    meet(group);
    if (before[group] < BLOCKS - 1) return;
    float sum = 0.0f;
    for (int b = 0; b < BLOCKS; b++) sum += parts[b * THREADS + t]; // FAULT
    out[t] = sum;
}

int main(void)
{
    return run(add_up);
}
