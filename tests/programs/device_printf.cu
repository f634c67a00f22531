// printf and assert in a kernel.
// PRINTS: thread (1,0) of block 2 says 3.50 and x
// PRINTS: thread (0,1) of block 0 says 0.50 and x
// PRINTS: 100% of 12 threads
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

int main(void)
{
    speak<<<3, dim3(2, 2)>>>();
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(error));
        return 1;
    }
    printf("PASS\n");
    return 0;
}
