// EXERCISE 1 EXPECT where this code has no memory
// The same without the calls that look at addresses.
#include "exercise.h"

__attribute__((no_sanitize("thread"))) __global__ void kernel()
{
    volatile unsigned *p = (volatile unsigned *)&threadIdx;
    for (int i = 0; i < 100000; ++i) p[i] = 0;
}

void axpy(int, float, const float *, const float *, float *)
{
    kernel<<<1, 1>>>();
}
