// Exercise 13: a sum of everything.
//
// out[0] = x[0] + ... + x[n - 1]. Each thread adds up a share. Then the 256 sums of a block
// have to become one, and then the sums of all blocks.
#include "exercise.h"

const int THREADS = 256;
const int MOST_BLOCKS = 256;

// partial[b] = the share of block b.
__global__ void add_up(int n, const float *x, float *partial)
{
    __shared__ float sums[THREADS];
    const int t = threadIdx.x;

    float sum = 0.0f;
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        sum += x[i];
    sums[t] = sum;
    __syncthreads();

    // Bring the block's sums together in sums[0], in few steps.
    // BEGIN answer
    // END answer

    if (t == 0)
        partial[blockIdx.x] = sums[0];
}

void sum(int n, const float *x, float *scratch, float *out)
{
    const int needed = (n + THREADS - 1) / THREADS;
    const int blocks = needed < MOST_BLOCKS ? needed : MOST_BLOCKS;
    add_up<<<blocks, THREADS>>>(n, x, scratch);
    // The sums of the blocks lie in scratch now. How do they come together in out[0]?
    // BEGIN answer
    // END answer
}
