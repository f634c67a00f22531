// The flag itself is written and read like any word: nothing obliges the hardware to show
// it to anybody.
// EXPECT: data race in global memory
// THREAD (0,0,0) BLOCK (1,0,0)
#include "handover.h"

#ifdef FIXED
typedef volatile int flag;
#else
typedef int flag;
#endif

__global__ void chain(const float *in, float *parts, float *out, int *turn)
{
    if (threadIdx.x > 0) return;
    const int b = blockIdx.x;
    if (*(flag *)turn < b) return; // FAULT
    __threadfence();
    parts[b] = in[b] + (b > 0 ? parts[b - 1] : 0.0f);
    __threadfence();
    *(flag *)turn = b + 1; // OTHER
    out[b] = in[b];
}

int main(void)
{
    return run(chain);
}
