// The first block clears the result to which all blocks add, and lets nothing of it be seen
// after its own addition. But no other block waits for that: it may have added before.
// EXPECT: data race in global memory
// EXPECT: thread (0,0,0) of block (0,0,0) wrote it
// THREAD (0,0,0) BLOCK (0,0,1)
#include "fault.h"

__global__ void add_part(const int *in, int *sum, int *cleared)
{
    if (blockIdx.z == 0) {
        sum[threadIdx.x] = 0; // OTHER
        __threadfence();
        atomicExch(&cleared[threadIdx.x], 1);
    }
#ifdef FIXED
    while (atomicAdd(&cleared[threadIdx.x], 0) == 0) {
    }
    __threadfence();
#endif
    atomicAdd(&sum[threadIdx.x], in[blockIdx.z]); // FAULT
}

int main(void)
{
    const int in[] = {1, 2, 3};
    int *parts, *sum, *cleared;
    cudaMalloc(&parts, sizeof in);
    cudaMalloc(&sum, 64 * sizeof *sum);
    cudaMalloc(&cleared, 64 * sizeof *cleared);
    cudaMemcpy(parts, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemset(cleared, 0, 64 * sizeof *cleared);
    add_part<<<dim3(1, 1, 3), 64>>>(parts, sum, cleared);
    int status = finish();
    cudaFree(parts);
    cudaFree(sum);
    cudaFree(cleared);
    return status;
}
