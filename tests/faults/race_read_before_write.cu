// The same mistake in the other direction: the reader comes first and finds nothing yet.
// EXPECT: uninitialised shared memory
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void reverse(int *data)
{
    __shared__ int tile[64];
    const int t = threadIdx.x;
    tile[t] = data[t];
#ifdef FIXED
    __syncthreads();
#endif
    data[t] = tile[63 - t]; // FAULT
}

int main(void)
{
    int *data;
    cudaMalloc(&data, 64 * sizeof *data);
    cudaMemset(data, 1, 64 * sizeof *data);
    reverse<<<1, 64>>>(data);
    int status = finish();
    cudaFree(data);
    return status;
}
