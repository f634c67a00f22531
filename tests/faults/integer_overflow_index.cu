// The last row of a matrix with 3,000,000,000 elements, of which this program needs to
// have only a few: row * cols + col is an int, and passes 2^31.
// EXPECT: integer overflow: 59999 * 50000 does not fit 'int'
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

// Adds the row's first elements into *sum; `last` is where the matrix's last rows are.
__global__ void sum_row(const unsigned char *last, size_t kept, int rows, int cols,
                        int *sum)
{
    const int row = rows - 1, col = threadIdx.x;
    const size_t before = (size_t)rows * cols - kept;
#ifdef FIXED
    const size_t i = (size_t)row * cols + col;
#else
    const size_t i = row * cols + col; // FAULT
#endif
    if (i >= before) atomicAdd(sum, last[i - before]);
}

int main(void)
{
    const int rows = 60000, cols = 50000;
    unsigned char *last;
    int *sum;
    cudaMalloc(&last, cols);
    cudaMalloc(&sum, sizeof *sum);
    cudaMemset(last, 1, cols);
    cudaMemset(sum, 0, sizeof *sum);
    sum_row<<<1, 64>>>(last, cols, rows, cols, sum);
    int status = finish();
    cudaFree(last);
    cudaFree(sum);
    return status;
}
