// Rows of 33 floats again, this time in shared memory: a padding of one column.
// EXPECT: misaligned address: a write of 16 bytes
// THREAD (0,1,0) BLOCK (0,0,0)
#include "fault.h"

#ifdef FIXED
#define PAD 4
#else
#define PAD 1
#endif

__global__ void copy(float *data)
{
    __shared__ __align__(16) float tile[4][32 + PAD];
    const int x = 4 * threadIdx.x, y = threadIdx.y;
    float4 v = *(const float4 *)&data[y * 32 + x];
    *(float4 *)&tile[y][x] = v; // FAULT
    __syncthreads();
    data[y * 32 + x] = tile[3 - y][x];
}

int main(void)
{
    float *data;
    cudaMalloc(&data, 4 * 32 * sizeof *data);
    cudaMemset(data, 0, 4 * 32 * sizeof *data);
    copy<<<1, dim3(8, 4)>>>(data);
    int status = finish();
    cudaFree(data);
    return status;
}
