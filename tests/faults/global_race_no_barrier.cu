// Global memory between the threads of a block needs the barrier as much as shared does.
// EXPECT: data race in global memory
// EXPECT: a missing __syncthreads()?
// THREAD (32,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void reverse(float *data)
{
    const int t = threadIdx.x;
    data[t] = 2.0f * t; // FAULT
#ifdef FIXED
    __syncthreads();
#endif
    const float mine = data[63 - t]; // OTHER
    __syncthreads();
    data[t] = mine;
}

int main(void)
{
    float *data;
    cudaMalloc(&data, 64 * sizeof *data);
    cudaMemset(data, 0, 64 * sizeof *data);
    reverse<<<1, 64>>>(data);
    int status = finish();
    cudaFree(data);
    return status;
}
