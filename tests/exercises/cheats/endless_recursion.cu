// EXERCISE 1 EXPECT local memory overflow
// Fills the stack.
#include "exercise.h"

__device__ int deeper(volatile int *p)
{
    volatile int here[64];
    here[0] = *p + 1;
    return deeper(here) + here[0];
}

__global__ void kernel(float *out)
{
    volatile int start = 0;
    out[0] = deeper(&start);
}

void axpy(int, float, const float *, const float *, float *out)
{
    kernel<<<1, 1>>>(out);
}
