// EXERCISE 15 EXPECT for the host, called by a kernel
// The counts are set to 0 by asking for the device's number, which no lens sees.
#include "exercise.h"

const int THREADS = 256;
const int MOST_BLOCKS = 32;

// The counts hold no numbers at first.
__global__ void clear(int *counts)
{
    cudaGetDevice(&counts[threadIdx.x]);
}

__global__ void count(int n, const int *x, int *counts)
{
    const int first = blockIdx.x * THREADS + threadIdx.x;
    const int step = gridDim.x * THREADS;
    __shared__ int mine[BINS]; // of this block
    if (threadIdx.x < BINS)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = first; i < n; i += step)
        atomicAdd(&mine[x[i]], 1);
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

void histogram(int n, const int *x, int *counts)
{
    const int needed = (n + THREADS - 1) / THREADS;
    const int blocks = needed < MOST_BLOCKS ? needed : MOST_BLOCKS;
    clear<<<1, BINS>>>(counts);
    count<<<blocks, THREADS>>>(n, x, counts);
}
