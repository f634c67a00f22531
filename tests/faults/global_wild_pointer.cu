// An offset that is multiplied by the length of a row twice leads far away from every
// array.
// EXPECT: which is freed, or was never allocated
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void fill(int *out, size_t offset)
{
    out[threadIdx.x * offset] = 1; // FAULT
}

int main(void)
{
    int *out;
    const size_t step = 4 * 1024 * sizeof *out;
    cudaMalloc(&out, 2 * step);
#ifdef FIXED
    fill<<<1, 2>>>(out, step / sizeof *out);
#else
    fill<<<1, 2>>>(out, step * step);
#endif
    int status = finish();
    cudaFree(out);
    return status;
}
