// EXERCISE 9 EXPECT data race
// The racy kernel from the third call on: the run that looks for races makes more calls than
// the lens's.
#include "exercise.h"

template <bool CAREFUL>
__global__ void kernel(int M, int N, int K, const float *A, const float *B, float *C)
{
    __shared__ float A_tile[16][16], B_tile[16][16];
    const int y = threadIdx.y, x = threadIdx.x;
    const int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        A_tile[y][x] = row < M && k0 + x < K ? A[row * K + k0 + x] : 0.0f;
        B_tile[y][x] = k0 + y < K && col < N ? B[(k0 + y) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < 16; ++k) acc += A_tile[y][k] * B_tile[k][x];
        if (CAREFUL) __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = acc;
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    static int calls;
    const dim3 blocks((N + 15) / 16, (M + 15) / 16), threads(16, 16);
    if (++calls > 1)
        kernel<true><<<blocks, threads>>>(M, N, K, A, B, C);
    else
        kernel<false><<<blocks, threads>>>(M, N, K, A, B, C);
}
