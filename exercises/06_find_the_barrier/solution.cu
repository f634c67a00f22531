// Exercise 6: find the missing barrier.
//
// The blur of exercise 5, but a block goes along x in STEPS steps and uses the same shared
// array in each. It gives the right result on most days. Something is missing. Read it as
// if every thread ran at its own speed, because on a GPU every warp does.
#include "exercise.h"

const int THREADS = 128;
const int STEPS = 4; // pieces of x that a block goes through, one after the other
const int HALO = 1;  // neighbours that a result needs on either side

__global__ void blur_kernel(int n, const float *x, float *out)
{
    __shared__ float window[HALO + THREADS + HALO];
    const int t = threadIdx.x;

    for (int step = 0; step < STEPS; ++step) {
        const int first = (blockIdx.x * STEPS + step) * THREADS;
        for (int place = t; place < THREADS + 2 * HALO; place += THREADS) {
            const int from = first - HALO + place;
            window[place] = from >= 0 && from < n ? x[from] : 0.0f;
        }
        __syncthreads();

        if (first + t < n) {
            float sum = 0.0f;
            for (int d = 0; d <= 2 * HALO; ++d)
                sum += window[t + d];
            out[first + t] = sum / 3.0f;
        }
        // BEGIN hidden
        __syncthreads();
        // END hidden
    }
}

void blur(int n, const float *x, float *out)
{
    const int per_block = THREADS * STEPS;
    blur_kernel<<<(n + per_block - 1) / per_block, THREADS>>>(n, x, out);
}
