// A fence for the threads of the block, where another block is to see it.
// EXPECT: data race in global memory
// EXPECT: must come after a __threadfence()
// THREAD (0,0,0) BLOCK (1,0,0)
#include "handover.h"

#ifdef FIXED
#define FENCE __threadfence()
#else
#define FENCE __threadfence_block()
#endif

__global__ void chain(const float *in, float *parts, float *out, int *turn)
{
    if (threadIdx.x > 0) return;
    const int b = blockIdx.x;
    while (*(volatile int *)turn < b) continue;
    __threadfence();
    float sum = in[b];
    if (b > 0) sum += parts[b - 1]; // FAULT
    parts[b] = sum;                 // OTHER
    FENCE;
    *(volatile int *)turn = b + 1;
    out[b] = sum;
}

int main(void)
{
    return run(chain);
}
