// EXERCISE 3 EXPECT hides a load
// Tells the lens of coalesced loads, and makes others.
#include "exercise.h"

extern "C" void __tsan_read4(const void *);
extern "C" void __tsan_write4(const void *);

__attribute__((no_sanitize("thread"))) __global__ void
kernel(int M, int N, int K, const float *A, const float *B, float *C)
{
    const int row = blockIdx.y * 32 + threadIdx.x;
    const int col = blockIdx.x * 8 + threadIdx.y;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) {
        __tsan_read4(&A[k]);
        __tsan_read4(&B[k * N]);
        acc += A[row * K + k] * B[k * N + col];
    }
    __tsan_write4(&C[row * N + col]);
    C[row * N + col] = acc;
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    kernel<<<dim3((N + 7) / 8, (M + 31) / 32), dim3(32, 8)>>>(M, N, K, A, B, C);
}
