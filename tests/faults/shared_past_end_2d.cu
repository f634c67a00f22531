// Two tiles side by side; the row index of the first runs over into nobody's memory.
// EXPECT: past the end of a_tile
// THREAD (0,8,0) BLOCK (0,1,0)
#include "fault.h"

__global__ void work(float *data, int rows)
{
    __shared__ float a_tile[8][16];
    __shared__ float b_tile[8][16];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * 8 + y % 8;
    if (y < 8) a_tile[y][x] = b_tile[y][x] = data[row * 16 + x];
#ifdef FIXED
    if (y < 8 && blockIdx.y == 1)
#else
    if (blockIdx.y == 1)
#endif
        a_tile[y][x] = 2.0f * rows; // FAULT
    __syncthreads();
    if (y < 8) data[row * 16 + x] = a_tile[y][15 - x] + b_tile[7 - y][x];
}

int main(void)
{
    float *data;
    cudaMalloc(&data, 16 * 16 * sizeof *data);
    cudaMemset(data, 0, 16 * 16 * sizeof *data);
    work<<<dim3(1, 2), dim3(16, 16)>>>(data, 16);
    int status = finish();
    cudaFree(data);
    return status;
}
