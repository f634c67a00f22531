// The halo needs two cells more than the block has threads; the array has none.
// EXPECT: past the end of tile
// THREAD (31,0,0) BLOCK (2,0,0)
#include "fault.h"

#ifdef FIXED
#define CELLS 33
#else
#define CELLS 32
#endif

__global__ void neighbours(const float *in, float *out, int n)
{
    __shared__ float tile[CELLS];
    const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    tile[t] = i < n ? in[i] : 0.0f;
    const int next = i + 1 < n && (blockIdx.x == 2) ? i + 1 : 0;
    if (t == (int)blockDim.x - 1 && next) tile[t + 1] = in[next]; // FAULT
    __syncthreads();
    if (i < n && t + 1 < 32) out[i] = tile[t] + tile[t + 1];
}

int main(void)
{
    const int n = 128;
    float *in, *out;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&out, n * sizeof *out);
    cudaMemset(in, 0, n * sizeof *in);
    neighbours<<<4, 32>>>(in, out, n);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
