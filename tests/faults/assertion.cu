// An assert in a kernel that does not hold for one thread.
// EXPECT: assertion `i != 77' failed
// THREAD (13,0,0) BLOCK (2,0,0)
#include "fault.h"
#include <assert.h>

__global__ void check(int *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifndef FIXED
    assert(i != 77); // FAULT
#endif
    out[i] = i;
}

int main(void)
{
    int *out;
    cudaMalloc(&out, 128 * sizeof *out);
    check<<<4, 32>>>(out);
    int status = finish();
    cudaFree(out);
    return status;
}
