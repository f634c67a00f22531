// Destroying a stream waits for nothing, and orders nothing.
// EXPECT: a kernel in another stream wrote it at
#include "fault.h"

__global__ void set(int *p, int value)
{
    p[threadIdx.x] = value; // FAULT
}

int main(void)
{
    int *p;
    cudaStream_t first, second;
    cudaMalloc(&p, 32 * sizeof *p);
    cudaStreamCreate(&first);
    cudaStreamCreate(&second);
    set<<<1, 32, 0, first>>>(p, 1);
#ifdef FIXED
    cudaStreamSynchronize(first);
#endif
    cudaStreamDestroy(first);
    set<<<1, 32, 0, second>>>(p, 2);
    const int status = finish();
    cudaStreamDestroy(second);
    cudaFree(p);
    return status;
}
