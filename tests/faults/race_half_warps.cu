// Each half of the warp waits for its own lanes, and then reads what the other half wrote.
// EXPECT: data race in shared memory
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void swap(int *data)
{
    __shared__ int s[32];
    const unsigned lane = threadIdx.x;
    s[lane] = data[lane]; // OTHER
#ifdef FIXED
    __syncwarp();
#else
    __syncwarp(lane < 16 ? 0x0000ffffu : 0xffff0000u);
#endif
    data[lane] = s[(lane + 16) % 32]; // FAULT
}

int main(void)
{
    int *data;
    cudaMalloc(&data, 32 * sizeof *data);
    cudaMemset(data, 0, 32 * sizeof *data);
    swap<<<1, 32>>>(data);
    int status = finish();
    cudaFree(data);
    return status;
}
