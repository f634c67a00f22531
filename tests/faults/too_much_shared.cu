// More shared memory in one kernel than a block may have without asking.
// EXPECT: too much shared
// COMPILER: the real nvcc refuses this file (ptxas: uses too much shared data)
#include "fault.h"

#ifdef FIXED
#define ROWS 48
#else
#define ROWS 65
#endif

__global__ void large(float *out)
{
    __shared__ float tile[ROWS][256]; // FAULT
    for (int r = 0; r < ROWS; r++) tile[r][threadIdx.x] = (float)r;
    __syncthreads();
    out[threadIdx.x] = tile[ROWS - 1][255 - threadIdx.x];
}

int main(void)
{
    float *out;
    cudaMalloc(&out, 256 * sizeof *out);
    large<<<1, 256>>>(out);
    int status = finish();
    cudaFree(out);
    return status;
}
