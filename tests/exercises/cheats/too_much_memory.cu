// EXERCISE 1 EXPECT no memory for
// 100 GB, every page of it in use.
#include "exercise.h"

void axpy(int n, float a, const float *x, const float *y, float *out)
{
    (void)n, (void)a, (void)x, (void)y, (void)out;
    volatile char *huge = new char[100l << 30];
    for (long i = 0; i < 100l << 30; i += 4096) huge[i] = 1;
}
