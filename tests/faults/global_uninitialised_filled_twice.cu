// Words that are written twice do not stand for others that never are.
// EXPECT: uninitialised global memory: byte 124 of
// THREAD (31,0,0) BLOCK (0,0,0)
#include "fault.h"

#ifdef FIXED
enum { FILLED = 32 };
#else
enum { FILLED = 31 };
#endif

__global__ void fill(unsigned char *bytes, float *data)
{
    bytes[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x < FILLED) data[threadIdx.x] = 1.0f;
}

__global__ void sum(const float *data, float *total)
{
    atomicAdd(total, data[threadIdx.x]); // FAULT
}

int main(void)
{
    float *source, *data, *total;
    cudaMalloc(&source, 32 * sizeof *source);
    cudaMalloc(&data, 32 * sizeof *data);
    cudaMalloc(&total, sizeof *total);
    cudaMemset(total, 0, sizeof *total);
    for (int i = 0; i < 2; i++) fill<<<1, 32>>>((unsigned char *)source, source);
    cudaMemset(data, 0, 32 * sizeof *data); // all of it holds values, and then no more
    cudaMemcpy(data, source, 32 * sizeof *data, cudaMemcpyDeviceToDevice);
    fill<<<1, 32>>>((unsigned char *)data, data);
    sum<<<1, 32>>>(data, total);
    int status = finish();
    cudaFree(source);
    cudaFree(data);
    cudaFree(total);
    return status;
}
