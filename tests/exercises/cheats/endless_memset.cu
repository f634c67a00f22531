// EXERCISE 1 EXPECT did not come to an end within 1,500 million
// Work that is done outside, a lot of it with each call.
#include "exercise.h"
#include <string.h>

static char big[30 << 20];

void axpy(int n, float a, const float *x, const float *y, float *out)
{
    (void)n, (void)a, (void)x, (void)y, (void)out;
    for (int i = 0; big[i % 1000] == i % 256 - (i % 256 > 127) * 256 || i >= 0; ++i)
        memset(big, i, sizeof big);
}
