// The first block clears the result to which all blocks add. Its barrier orders that for
// its own threads; other blocks may have added before.
// EXPECT: data race in global memory
// EXPECT: thread (0,0,0) of block (0,0,0) wrote it
// THREAD (0,0,0) BLOCK (0,0,1)
#include "fault.h"

__global__ void clear(int *sum)
{
    sum[threadIdx.x] = 0;
}

__global__ void add_part(const int *in, int *sum)
{
#ifndef FIXED
    if (blockIdx.z == 0) sum[threadIdx.x] = 0; // OTHER
    __syncthreads();
#endif
    atomicAdd(&sum[threadIdx.x], in[blockIdx.z]); // FAULT
}

int main(void)
{
    const int in[] = {1, 2, 3};
    int *parts, *sum;
    cudaMalloc(&parts, sizeof in);
    cudaMalloc(&sum, 64 * sizeof *sum);
    cudaMemcpy(parts, in, sizeof in, cudaMemcpyHostToDevice);
    clear<<<1, 64>>>(sum);
    add_part<<<dim3(1, 1, 3), 64>>>(parts, sum);
    int status = finish();
    cudaFree(parts);
    cudaFree(sum);
    return status;
}
