// EXERCISE 3 EXPECT `memcpy` is not needed
// Loads past the lens.
#include "exercise.h"

__global__ void kernel(int M, int N, int K, const float *A, const float *B, float *C)
{
    const int i = blockIdx.x * 32 + threadIdx.x;
    if (i >= M * N) return;
    float acc = 0.0f, a, b;
    for (int k = 0; k < K; ++k) {
        memcpy(&a, &A[i / N * K + k], sizeof a);
        memcpy(&b, &B[k * N + i % N], sizeof b);
        acc += a * b;
    }
    C[i] = acc;
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    kernel<<<(M * N + 31) / 32, 32>>>(M, N, K, A, B, C);
}
