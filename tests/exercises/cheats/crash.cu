// EXERCISE 1 EXPECT null pointer
// Writes where there is nothing.
#include "exercise.h"

void axpy(int n, float a, const float *x, const float *y, float *out)
{
    (void)n, (void)a, (void)x, (void)y, (void)out;
    *(volatile int *)8 = 1;
}
