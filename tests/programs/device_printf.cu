// printf and assert in a kernel.
// PRINTS: thread (1,0) of block 2 says 3.50 and x
// PRINTS: thread (0,1) of block 0 says 0.50 and x
// PRINTS: 100% of 12 threads
// PRINTS: all 100% of 1,  2.50
#include <assert.h>
#include <stdio.h>

__global__ void speak(void)
{
    assert(blockDim.x == 2 && "the launch asks for two");
    printf("thread (%d,%d) of block %u says %.2f and %s\n", threadIdx.x, threadIdx.y,
           blockIdx.x, blockIdx.x + threadIdx.x + 0.5, "x");
    if (blockIdx.x == 2 && threadIdx.x == 1 && threadIdx.y == 1)
        printf("%d%% of %d threads\n", 100, (int)(gridDim.x * blockDim.x * blockDim.y));
}

// On a GPU, printf returns how many arguments it was given.
__global__ void count(int *counts)
{
    counts[0] = printf("plain\n");
    counts[1] = printf("all 100%% of %d, %*.2f\n", 1, 5, 2.5);
    counts[2] = printf("%s %c %lld\n", "three", 'x', 1ll);
}

int main(void)
{
    speak<<<3, dim3(2, 2)>>>();
    int *counts;
    cudaMallocManaged(&counts, 3 * sizeof *counts);
    count<<<1, 1>>>(counts);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 1;
    }
    if (counts[0] != 0 || counts[1] != 3 || counts[2] != 3) {
        printf("%d, %d and %d arguments\n", counts[0], counts[1], counts[2]);
        return 1;
    }
    cudaFree(counts);
    printf("PASS\n");
    return 0;
}
