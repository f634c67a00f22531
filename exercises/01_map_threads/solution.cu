// Exercise 1: one thread, one result.
//
// out[i] = a * x[i] + y[i] for a million elements, without a loop: the GPU starts a
// thread for each, and every thread runs this same function.
#include "exercise.h"

const int THREADS = 256; // in a block

__global__ void axpy_kernel(float a, const float *x, const float *y, float *out)
{
    // Which element is mine? Let no two threads of the whole grid get the same i.
    // BEGIN answer
    //- const int i = 0;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // END answer
    out[i] = a * x[i] + y[i];
}

// n is a multiple of THREADS here. The next exercise drops that promise.
void axpy(int n, float a, const float *x, const float *y, float *out)
{
    axpy_kernel<<<n / THREADS, THREADS>>>(a, x, y, out);
}
