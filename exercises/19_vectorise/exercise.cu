// Exercise 19: ask for 16 bytes at once.
//
// The same vectors as in exercise 1, any length, and it works. But a warp needs a request
// for every 32 elements. With float4, one request brings 128.
#include "exercise.h"

const int THREADS = 128;

__global__ void axpy_kernel(int n, float a, const float *x, const float *y, float *out)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    // BEGIN answer
    if (i < n)
        out[i] = a * x[i] + y[i];
    // END answer
}

// x, y and out begin at multiples of 16 bytes, as everything from cudaMalloc does.
void axpy(int n, float a, const float *x, const float *y, float *out)
{
    // How many threads are needed?
    // BEGIN answer
    const int needed = n;
    // END answer
    axpy_kernel<<<(needed + THREADS - 1) / THREADS, THREADS>>>(n, a, x, y, out);
}
