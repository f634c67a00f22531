// A 2-D kernel on a matrix that is not square, with the two limits swapped.
// EXPECT: out of bounds: a write of 4 bytes in global memory
// THREAD (0,4,0) BLOCK (0,1,0)
#include "fault.h"

__global__ void clear(float *matrix, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
#ifdef FIXED
    if (row < rows && column < columns)
#else
    if (row < columns && column < rows)
#endif
        matrix[row * columns + column] = 0.0f; // FAULT
}

int main(void)
{
    const int rows = 12, columns = 40;
    float *matrix;
    cudaMalloc(&matrix, rows * columns * sizeof *matrix);
    clear<<<dim3(5, 5), dim3(8, 8)>>>(matrix, rows, columns);
    int status = finish();
    cudaFree(matrix);
    return status;
}
