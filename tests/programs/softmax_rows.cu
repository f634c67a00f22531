// Softmax of every row, a warp a row: the maximum and the sum go round by shuffles.
#include "check.h"
#include <float.h>

const int WARPS = 4;

__global__ void softmax(const float *__restrict__ in, float *__restrict__ out, int rows,
                        int columns)
{
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows) return; // a whole warp at once
    const float *x = in + (size_t)row * columns;
    float *y = out + (size_t)row * columns;

    float largest = -FLT_MAX;
    for (int c = threadIdx.x; c < columns; c += 32) largest = fmaxf(largest, x[c]);
    for (int o = 16; o; o >>= 1)
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, o));
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += 32) sum += __expf(x[c] - largest);
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    for (int c = threadIdx.x; c < columns; c += 32) y[c] = __expf(x[c] - largest) / sum;
}

int main(void)
{
    const int rows = 30, columns = 101;
    float *in, *out;
    CHECK(cudaMallocManaged(&in, sizeof(float) * rows * columns));
    CHECK(cudaMallocManaged(&out, sizeof(float) * rows * columns));
    for (int i = 0; i < rows * columns; i++) in[i] = 20.0f * noise(i) + 100.0f;
    softmax<<<(rows + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(in, out, rows, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int r = 0; r < rows; r++) {
        double largest = -1e30, sum = 0.0;
        for (int c = 0; c < columns; c++) largest = fmax(largest, in[r * columns + c]);
        for (int c = 0; c < columns; c++) sum += exp(in[r * columns + c] - largest);
        for (int c = 0; c < columns; c++) {
            const double want = exp(in[r * columns + c] - largest) / sum;
            EXPECT(fabs(out[r * columns + c] - want) < 1e-5 * want + 1e-7);
        }
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return pass();
}
