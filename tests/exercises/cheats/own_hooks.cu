// EXERCISE 3 EXPECT hides a load
// Puts functions of its own in the place of those that tell the lens.
#include "exercise.h"

extern "C" void __tsan_read4(void *)
{
}
extern "C" void __tsan_write4(void *)
{
}

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
