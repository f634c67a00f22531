// A __device__ variable is global memory like any other.
// EXPECT: data race in global memory
// THREAD (0,0,0) BLOCK (1,0,0)
#include "fault.h"

__device__ int ticket;

__global__ void number_blocks(int *numbers)
{
    if (threadIdx.x > 0) return;
#ifdef FIXED
    numbers[blockIdx.x] = atomicAdd(&ticket, 1);
#else
    numbers[blockIdx.x] = ticket++; // FAULT
#endif
}

int main(void)
{
    int *numbers;
    cudaMalloc(&numbers, 4 * sizeof *numbers);
    number_blocks<<<4, 32>>>(numbers);
    int status = finish();
    cudaFree(numbers);
    return status;
}
