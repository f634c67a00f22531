// An allocation that was forgotten.
// EXPECT: null pointer: a write of 4 bytes
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void fill(int *out)
{
    out[threadIdx.x] = 1; // FAULT
}

int main(void)
{
    int *out = NULL;
#ifdef FIXED
    cudaMalloc(&out, 32 * sizeof *out);
#endif
    fill<<<1, 32>>>(out);
    int status = finish();
    cudaFree(out);
    return status;
}
