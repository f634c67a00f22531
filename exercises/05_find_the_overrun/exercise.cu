// Exercise 5: find the overrun.
//
// A blur: every result is the mean of an element and its two neighbours. The block copies
// its piece of x into shared memory, with one more element on either side (the halo), so
// that each is fetched once and used three times. Two things reach too far.
#include "exercise.h"

const int THREADS = 128;

__global__ void blur_kernel(int n, const float *x, float *out)
{
    // piece[1] belongs to thread 0; before it and behind the last sit the halo's two.
    __shared__ float piece[THREADS + 1];
    const int t = threadIdx.x;
    const int i = blockIdx.x * THREADS + t;

    piece[t + 1] = i < n ? x[i] : 0.0f;
    if (t == 0)
        piece[0] = i > 0 ? x[i - 1] : 0.0f;
    if (t == THREADS - 1)
        piece[t + 2] = i < n ? x[i + 1] : 0.0f;
    __syncthreads();

    if (i < n)
        out[i] = (piece[t] + piece[t + 1] + piece[t + 2]) / 3.0f;
}

void blur(int n, const float *x, float *out)
{
    blur_kernel<<<(n + THREADS - 1) / THREADS, THREADS>>>(n, x, out);
}
