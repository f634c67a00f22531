// The fence is there, but the part is stored behind it.
// EXPECT: data race in global memory
// EXPECT: must come after a __threadfence()
// THREAD (0,0,0) BLOCK (1,0,0)
#include "handover.h"

__global__ void chain(const float *in, float *parts, float *out, int *turn)
{
    if (threadIdx.x > 0) return;
    const int b = blockIdx.x;
    while (atomicAdd(turn, 0) < b) continue;
    __threadfence();
    float sum = in[b];
    if (b > 0) sum += parts[b - 1]; // FAULT
#ifdef FIXED
    parts[b] = sum;
    __threadfence();
#else
    __threadfence();
    parts[b] = sum; // OTHER
#endif
    atomicAdd(turn, 1);
    out[b] = sum;
}

int main(void)
{
    return run(chain);
}
