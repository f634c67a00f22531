// A sparse matrix times a vector, a warp a row; __ldg and restrict pointers.
#include "check.h"

__global__ void spmv(int rows, const int *__restrict__ first,
                     const int *__restrict__ column, const float *__restrict__ value,
                     const float *__restrict__ x, float *__restrict__ y)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
    const int lane = threadIdx.x & 31;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = first[row] + lane; i < first[row + 1]; i += 32)
        sum = fmaf(value[i], __ldg(&x[column[i]]), sum);
#pragma unroll
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffff, sum, o);
    if (lane == 0) y[row] = sum;
}

int main(void)
{
    const int rows = 50, columns = 80;
    int *first, *column, count = 0;
    float *value, *x, *y;
    CHECK(cudaMallocManaged(&first, (rows + 1) * sizeof *first));
    CHECK(cudaMallocManaged(&column, rows * columns * sizeof *column));
    CHECK(cudaMallocManaged(&value, rows * columns * sizeof *value));
    CHECK(cudaMallocManaged(&x, columns * sizeof *x));
    CHECK(cudaMallocManaged(&y, rows * sizeof *y));
    for (int r = 0; r < rows; r++) {
        first[r] = count;
        for (int c = 0; c < columns; c++)
            if ((r * 31 + c * 17) % 13 < r % 14) {
                column[count] = c;
                value[count] = noise(count);
                count++;
            }
    }
    first[rows] = count;
    for (int c = 0; c < columns; c++) x[c] = noise(c + 999);
    spmv<<<(rows * 32 + 127) / 128, 128>>>(rows, first, column, value, x, y);
    CHECK(cudaDeviceSynchronize());
    for (int r = 0; r < rows; r++) {
        double want = 0.0;
        for (int i = first[r]; i < first[r + 1]; i++)
            want += (double)value[i] * x[column[i]];
        EXPECT(close_to(y[r], want, 1e-5));
    }
    CHECK(cudaFree(first));
    CHECK(cudaFree(column));
    CHECK(cudaFree(value));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return pass();
}
