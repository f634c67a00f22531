// A lock keeps others out, and does not keep memory in order.
// EXPECT: data race in global memory
// THREAD (0,0,0) BLOCK (1,0,0)
#include "handover.h"

#ifdef FIXED
#define FENCE __threadfence()
#else
#define FENCE (void)0
#endif

__global__ void add_up(const float *in, float *parts, float *out, int *lock)
{
    (void)parts;
    if (threadIdx.x > 0) return;
    while (atomicCAS(lock, 0, 1) != 0) continue;
    FENCE;
    out[0] += in[blockIdx.x]; // FAULT
    FENCE;
    atomicExch(lock, 0);
}

int main(void)
{
    return run(add_up);
}
