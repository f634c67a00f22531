// Two kernels do the same; the second gets an array that is too small.
// EXPECT: out of bounds
// EXPECT: kernel halve_all
// THREAD (31,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void halve(float *x)
{
    x[threadIdx.x] *= 0.5f;
}

__global__ void halve_all(float *x)
{
    x[threadIdx.x] *= 0.5f; // FAULT
}

int main(void)
{
    float *x, *y;
    cudaMalloc(&x, 32 * sizeof *x);
    cudaMemset(x, 0, 32 * sizeof *x);
#ifdef FIXED
    cudaMalloc(&y, 32 * sizeof *y);
    cudaMemset(y, 0, 32 * sizeof *y);
#else
    cudaMalloc(&y, 31 * sizeof *y);
    cudaMemset(y, 0, 31 * sizeof *y);
#endif
    halve<<<1, 32>>>(x);
    halve_all<<<1, 32>>>(y);
    const int status = finish();
    cudaFree(x);
    cudaFree(y);
    return status;
}
