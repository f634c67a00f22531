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
    //- if (i < n)
    //-     out[i] = a * x[i] + y[i];
    const int first = 4 * i;
    if (first + 3 < n) {
        const float4 u = *(const float4 *)&x[first];
        const float4 v = *(const float4 *)&y[first];
        *(float4 *)&out[first] =
            make_float4(a * u.x + v.x, a * u.y + v.y, a * u.z + v.z, a * u.w + v.w);
    } else {
        for (int j = first; j < n; ++j)
            out[j] = a * x[j] + y[j];
    }
    // END answer
}

// x, y and out begin at multiples of 16 bytes, as everything from cudaMalloc does.
void axpy(int n, float a, const float *x, const float *y, float *out)
{
    // How many threads are needed?
    // BEGIN answer
    //- const int needed = n;
    const int needed = (n + 3) / 4;
    // END answer
    axpy_kernel<<<(needed + THREADS - 1) / THREADS, THREADS>>>(n, a, x, y, out);
}
