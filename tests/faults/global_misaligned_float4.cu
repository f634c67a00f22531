// A row of an odd number of floats does not begin at a multiple of 16 bytes.
// EXPECT: misaligned address: a read of 16 bytes
// THREAD (0,1,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void first_four(const float *matrix, int columns, float4 *out)
{
    const float *row = matrix + threadIdx.y * columns;
#ifdef FIXED
    float4 v = make_float4(row[0], row[1], row[2], row[3]);
#else
    float4 v = *reinterpret_cast<const float4 *>(row); // FAULT
#endif
    out[threadIdx.y] = v;
}

int main(void)
{
    const int rows = 4, columns = 7;
    float *matrix;
    float4 *out;
    cudaMalloc(&matrix, rows * columns * sizeof *matrix);
    cudaMalloc(&out, rows * sizeof *out);
    cudaMemset(matrix, 0, rows * columns * sizeof *matrix);
    first_four<<<1, dim3(1, rows)>>>(matrix, columns, out);
    int status = finish();
    cudaFree(matrix);
    cudaFree(out);
    return status;
}
