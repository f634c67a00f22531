// The sum begins with the upper half's values, and the mask leaves the upper half out: what
// comes from there is no value.
// EXPECT: assertion `v == 496' failed
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"
#include <assert.h>

#ifdef FIXED
#define LANES 32
#define MASK 0xffffffffu
#else
#define LANES 16
#define MASK 0x0000ffffu
#endif

__global__ void sum(int *out)
{
    int v = threadIdx.x;
    if (threadIdx.x < LANES)
        for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(MASK, v, d);
    if (threadIdx.x > 0) return;
    assert(v == 496); // FAULT
    *out = v;
}

int main(void)
{
    int *out;
    cudaMalloc(&out, sizeof *out);
    sum<<<1, 32>>>(out);
    int status = finish();
    cudaFree(out);
    return status;
}
