// EXERCISE 3 EXPECT hides a store
// Only the scattered stores are hidden.
#include "exercise.h"

__attribute__((no_sanitize("thread"), noinline)) __device__ void put(float *p, float value)
{
    *p = value;
}

__global__ void kernel(int M, int N, int K, const float *A, const float *B, float *C)
{
    const int row = blockIdx.y * 8 + threadIdx.y;
    const int col = blockIdx.x * 32 + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    put(&C[row * N + col], acc);
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    kernel<<<dim3((N + 31) / 32, (M + 7) / 8), dim3(32, 8)>>>(M, N, K, A, B, C);
}
