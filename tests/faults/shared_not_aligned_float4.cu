// Four floats at once from an array of floats, which happens to lie well in most programs
// and in some does not: only __align__ makes it sure.
// EXPECT: misaligned address: a read of 16 bytes needs a multiple of 16, and tile is not
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void reverse(float *data)
{
#ifdef FIXED
    __shared__ __align__(16) float tile[64];
#else
    __shared__ float tile[64];
#endif
    const int t = threadIdx.x;
    for (int i = 0; i < 4; i++) tile[63 - 4 * t - i] = data[4 * t + i];
    __syncthreads();
    *(float4 *)&data[4 * t] = *(float4 *)&tile[4 * t]; // FAULT
}

int main(void)
{
    float *data;
    cudaMalloc(&data, 64 * sizeof *data);
    cudaMemset(data, 0, 64 * sizeof *data);
    reverse<<<1, 16>>>(data);
    int status = finish();
    cudaFree(data);
    return status;
}
