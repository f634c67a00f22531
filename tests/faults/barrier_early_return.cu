// The spare threads of the last block leave, and the others wait for them.
// EXPECT: barrier divergence: 4 of 32 threads wait at this barrier, 28 returned
// THREAD (0,0,0) BLOCK (3,0,0)
#include "fault.h"

__global__ void shift(int *data, int n)
{
    __shared__ int s[32];
    const int i = blockIdx.x * 32 + threadIdx.x;
#ifdef FIXED
    s[threadIdx.x] = i < n ? data[i] : 0;
#else
    if (i >= n) return;
    s[threadIdx.x] = data[i];
#endif
    __syncthreads(); // FAULT
    if (i < n && threadIdx.x > 0) data[i] = s[threadIdx.x - 1];
}

int main(void)
{
    const int n = 100;
    int *data;
    cudaMalloc(&data, n * sizeof *data);
    cudaMemset(data, 0, n * sizeof *data);
    shift<<<4, 32>>>(data, n);
    int status = finish();
    cudaFree(data);
    return status;
}
