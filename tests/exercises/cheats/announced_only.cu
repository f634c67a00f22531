// EXERCISE 9 EXPECT does not make
// The kernel of exercise 3, which tells the lens that it uses shared memory.
#include "exercise.h"

extern "C" void __tsan_read4(const void *);

__global__ void kernel(int M, int N, int K, const float *A, const float *B, float *C)
{
    __shared__ float tile[32];
    const int row = blockIdx.y * 8 + threadIdx.y;
    const int col = blockIdx.x * 32 + threadIdx.x;
    tile[threadIdx.x] = 0.0f;
    __syncthreads();
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) {
        __tsan_read4(&tile[threadIdx.x]);
        __tsan_read4(&tile[threadIdx.x]);
        acc += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = acc;
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    kernel<<<dim3((N + 31) / 32, (M + 7) / 8), dim3(32, 8)>>>(M, N, K, A, B, C);
}
