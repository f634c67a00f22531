// EXERCISE 3 EXPECT too many sectors
// Prints a report of the lens's kind, last of all.
#include "exercise.h"

#include <stdio.h>

struct last {
    ~last()
    {
        printf("\n{\"gpu\": \"\", \"kernels\": [{\"name\": \"k\", \"blocks\": 1, "
               "\"totals\": {}, \"lines\": []}]}\n");
    }
};
static last report;

__global__ void kernel(int M, int N, int K, const float *A, const float *B, float *C)
{
    const int row = blockIdx.y * 32 + threadIdx.x;
    const int col = blockIdx.x * 8 + threadIdx.y;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = acc;
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    kernel<<<dim3((N + 7) / 8, (M + 31) / 32), dim3(32, 8)>>>(M, N, K, A, B, C);
}
