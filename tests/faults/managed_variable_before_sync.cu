// The host reads a __managed__ variable while the kernel may still be writing it.
// EXPECT: host code touches a __managed__ variable, which a kernel or a copy may still be writing
#include "fault.h"

__device__ __managed__ int squares[16];

__global__ void square(void)
{
    squares[threadIdx.x] = threadIdx.x * threadIdx.x; // OTHER
}

int main(void)
{
    square<<<1, 16>>>();
#ifdef FIXED
    cudaDeviceSynchronize();
#endif
    const int got = squares[3]; // FAULT
    return got == 9 ? finish() : 5;
}
