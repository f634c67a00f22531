// A copy of nothing is nothing, too.
// EXPECT: uninitialised global memory: byte 128 of
// THREAD (32,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void twice(float *data)
{
    data[threadIdx.x] *= 2.0f; // FAULT
}

int main(void)
{
    float *first, *second;
    cudaMalloc(&first, 64 * sizeof *first);
    cudaMalloc(&second, 64 * sizeof *second);
#ifdef FIXED
    cudaMemset(first, 0, 64 * sizeof *first);
#else
    cudaMemset(first, 0, 32 * sizeof *first);
    cudaMemset(second, 0, 64 * sizeof *second);
#endif
    cudaMemcpy(second, first, 64 * sizeof *first, cudaMemcpyDeviceToDevice);
    twice<<<1, 64>>>(second);
    int status = finish();
    cudaFree(first);
    cudaFree(second);
    return status;
}
