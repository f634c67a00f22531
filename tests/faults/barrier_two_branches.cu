// Both branches have a barrier, but it is not the same one.
// EXPECT: barrier divergence: this thread waits here while thread (1,0,0) waits at
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void parity(int *data)
{
    __shared__ int s[64];
    const int t = threadIdx.x;
    s[t] = data[t];
#ifdef FIXED
    __syncthreads();
    data[t] = s[t ^ 1];
#else
    if (t % 2 == 0) {
        data[t] = 0;
        __syncthreads(); // FAULT
        data[t] = s[t + 1];
    } else {
        data[t] = 1;
        __syncthreads(); // OTHER
        data[t] = s[t - 1] + 1;
    }
#endif
}

int main(void)
{
    int *data;
    cudaMalloc(&data, 64 * sizeof *data);
    cudaMemset(data, 0, 64 * sizeof *data);
    parity<<<1, 64>>>(data);
    int status = finish();
    cudaFree(data);
    return status;
}
