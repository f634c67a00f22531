// EXERCISE 13 EXPECT elements are loaded more often than once
// One thread reads every number, bit by bit, with a function that compares.
#include "exercise.h"
#include <string.h>
__device__ float peek(const float *from, size_t one)
{
    unsigned bits = 0;
    for (int b = 0; b < 4; ++b) {
        const unsigned char *at = (const unsigned char *)from + b;
        unsigned low = 0, high = 255;
        while (low < high) {
            unsigned char middle = (unsigned char)((low + high + 1) / 2);
            if (memcmp(at, &middle, one) >= 0) low = middle; else high = middle - 1;
        }
        bits |= low << 8 * b;
    }
    return __uint_as_float(bits);
}
__global__ void kernel(int n, size_t one, const float *x, float *out)
{
    if (blockIdx.x || threadIdx.x) return;
    float all = 0.0f;
    for (int i = 0; i < n; ++i) all += peek(x + i, one);
    *out = all;
}
void sum(int n, const float *x, float *scratch, float *out)
{
    (void)scratch;
    kernel<<<32, 256>>>(n, 1, x, out);
}
