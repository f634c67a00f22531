// EXERCISE 1 EXPECT come to an end
// Fills the disk, or tries to.
#include "exercise.h"

#include <stdio.h>

void axpy(int n, float a, const float *x, const float *y, float *out)
{
    (void)n, (void)a, (void)x, (void)y, (void)out;
    for (;;) printf("%099d\n", 0);
}
