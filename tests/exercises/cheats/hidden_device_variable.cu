// EXERCISE 3 EXPECT hides a
// Global memory of its own, which the lens is not told of.
#include "exercise.h"

__device__ float kept[1 << 16];

__attribute__((no_sanitize("thread"), noinline)) __device__ void keep(int i, float value)
{
    kept[i] = value;
}

__global__ void kernel(int M, int N, int K, const float *A, const float *B, float *C)
{
    const int row = blockIdx.y * 8 + threadIdx.y;
    const int col = blockIdx.x * 32 + threadIdx.x;
    if (row >= M || col >= N) return;
    for (int k = 0; k < K; ++k) keep(row * K + k, A[row * K + k]);
    C[row * N + col] = B[col];
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    kernel<<<dim3((N + 31) / 32, (M + 7) / 8), dim3(32, 8)>>>(M, N, K, A, B, C);
}
