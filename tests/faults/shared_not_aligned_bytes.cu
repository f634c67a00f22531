// A buffer of bytes that is used as integers: nobody has promised a multiple of four.
// EXPECT: misaligned address: a write of 4 bytes needs a multiple of 4, and buffer is not
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void rotate(int *data)
{
#ifdef FIXED
    __shared__ alignas(int) unsigned char buffer[32 * sizeof(int)];
#else
    __shared__ unsigned char buffer[32 * sizeof(int)];
#endif
    int *const words = (int *)buffer;
    words[threadIdx.x] = data[threadIdx.x]; // FAULT
    __syncthreads();
    data[threadIdx.x] = words[(threadIdx.x + 1) % 32];
}

int main(void)
{
    int *data;
    cudaMalloc(&data, 32 * sizeof *data);
    cudaMemset(data, 0, 32 * sizeof *data);
    rotate<<<1, 32>>>(data);
    int status = finish();
    cudaFree(data);
    return status;
}
