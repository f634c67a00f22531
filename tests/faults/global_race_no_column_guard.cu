// The guard looks at the index only: the threads behind a row's end write into the next
// row, and so do the threads whose row it is.
// EXPECT: data race in global memory, byte 80 of
// EXPECT: blocks run in any order: an element of its own for each, or an atomic?
// EXPECT: thread (0,1,0) of block (0,0,0) wrote it at
// THREAD (4,0,0) BLOCK (1,0,0)
#include "fault.h"

__global__ void add_column_number(const float *in, float *out, int rows, int cols)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
    if (row < rows && col < cols)
#else
    if (row * cols + col < rows * cols)
#endif
        out[row * cols + col] = in[row * cols + col] + col; // FAULT
}

int main(void)
{
    const int rows = 10, cols = 20;
    float *in, *out;
    cudaMalloc(&in, rows * cols * sizeof *in);
    cudaMalloc(&out, rows * cols * sizeof *out);
    cudaMemset(in, 0, rows * cols * sizeof *in);
    add_column_number<<<dim3(2, 3), dim3(16, 4)>>>(in, out, rows, cols);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
