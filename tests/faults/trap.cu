// A kernel ends itself where a number is not what it was promised to be.
// EXPECT: FAULT __trap()
// THREAD (13,0,0) BLOCK (2,0,0)
#include "fault.h"

__global__ void check(int *out, int limit)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == limit) {
        __trap(); // FAULT
    }
    out[i] = i;
}

int main(void)
{
    int *out;
    cudaMalloc(&out, 128 * sizeof *out);
#ifdef FIXED
    check<<<4, 32>>>(out, 128);
#else
    check<<<4, 32>>>(out, 77);
#endif
    const int status = finish();
    cudaFree(out);
    return status;
}
