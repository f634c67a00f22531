// Exercise 15: count what there is.
//
// counts[v] = how many elements of x are v. Every thread adds to the same 64 places, so it
// has to be atomic, and it is right. It is slow, because the threads queue up in front of
// those places, and global memory is far away.
#include "exercise.h"

const int THREADS = 256;
const int MOST_BLOCKS = 32;

// The counts hold no numbers at first.
__global__ void clear(int *counts)
{
    counts[threadIdx.x] = 0;
}

__global__ void count(int n, const int *x, int *counts)
{
    const int first = blockIdx.x * THREADS + threadIdx.x;
    const int step = gridDim.x * THREADS;
    // BEGIN answer
    for (int i = first; i < n; i += step)
        atomicAdd(&counts[x[i]], 1);
    // END answer
}

void histogram(int n, const int *x, int *counts)
{
    const int needed = (n + THREADS - 1) / THREADS;
    const int blocks = needed < MOST_BLOCKS ? needed : MOST_BLOCKS;
    clear<<<1, BINS>>>(counts);
    count<<<blocks, THREADS>>>(n, x, counts);
}
