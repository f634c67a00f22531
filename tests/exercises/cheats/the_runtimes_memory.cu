// EXERCISE 1 EXPECT can only read
// Looks for the lens's counts in the runtime's variables, around one that it may read.
#include "exercise.h"

__global__ void kernel()
{
    volatile unsigned *p = (volatile unsigned *)&threadIdx;
    for (int i = 0; i < 100000; ++i) p[i] = 0;
}

void axpy(int, float, const float *, const float *, float *)
{
    kernel<<<1, 1>>>();
}
