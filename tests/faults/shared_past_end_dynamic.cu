// The launch asks for too little: the number of floats where the number of bytes is
// meant.
// EXPECT: past the end of dynamic shared memory
// THREAD (16,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void reverse(float *data)
{
    extern __shared__ float line[];
    line[threadIdx.x] = data[threadIdx.x]; // FAULT
    __syncthreads();
    data[threadIdx.x] = line[blockDim.x - 1 - threadIdx.x];
}

int main(void)
{
    const int n = 64;
    float *data;
    cudaMalloc(&data, n * sizeof *data);
    cudaMemset(data, 0, n * sizeof *data);
#ifdef FIXED
    reverse<<<1, n, n * sizeof *data>>>(data);
#else
    reverse<<<1, n, n>>>(data);
#endif
    int status = finish();
    cudaFree(data);
    return status;
}
