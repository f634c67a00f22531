// A barrier that only half of the block reaches before it ends.
// EXPECT: barrier divergence: 32 of 64 threads wait
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void half(int *data)
{
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = data[t];
#ifdef FIXED
    __syncthreads();
    if (t < 32) data[t] = s[63 - t];
#else
    if (t < 32) {
        __syncthreads(); // FAULT
        data[t] = s[t];
    }
#endif
}

int main(void)
{
    int *data;
    cudaMalloc(&data, 64 * sizeof *data);
    cudaMemset(data, 0, 64 * sizeof *data);
    half<<<1, 64>>>(data);
    int status = finish();
    cudaFree(data);
    return status;
}
