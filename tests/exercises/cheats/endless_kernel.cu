// EXERCISE 1 EXPECT come to an end
// A thread that counts for ever: every step looks like progress, so only the clock can end it.
#include "exercise.h"

__global__ void kernel(volatile float *out)
{
    for (;;) out[0] = out[0] + 1.0f;
}

void axpy(int n, float a, const float *x, const float *y, float *out)
{
    (void)n, (void)a, (void)x, (void)y;
    kernel<<<1, 1>>>(out);
}
