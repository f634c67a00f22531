// EXERCISE 1 EXPECT endless loop
// A thread that waits for what never happens.
#include "exercise.h"

__global__ void kernel(volatile float *out)
{
    while (out[0] != 1.0f);
}

void axpy(int n, float a, const float *x, const float *y, float *out)
{
    (void)n, (void)a, (void)x, (void)y;
    kernel<<<1, 1>>>(out);
}
