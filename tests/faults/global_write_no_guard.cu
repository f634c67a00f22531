// No guard at all: the last block's spare threads write behind the array.
// EXPECT: out of bounds: a write of 4 bytes in global memory
// THREAD (20,0,0) BLOCK (1,0,0)
#include "fault.h"

__global__ void fill(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
    if (i < n)
#endif
        out[i] = n; // FAULT
}

int main(void)
{
    const int n = 84;
    int *out;
    cudaMalloc(&out, n * sizeof *out);
    fill<<<2, 64>>>(out, n);
    int status = finish();
    cudaFree(out);
    return status;
}
