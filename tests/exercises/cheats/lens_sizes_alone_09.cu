// EXERCISE 9 EXPECT with remainders
#include "exercise.h"
// A tiled kernel without a single guard, for the sizes at which the lens looks (M = 32, N = 64,
// K a multiple of 32), and exercise 3's kernel for all others.
const int TILE = 32;
__global__ void tiled(int M, int N, int K, const float *A, const float *B, float *C)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    const int y = threadIdx.y, x = threadIdx.x, row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        a[y][x] = A[row * K + k0 + x];
        b[y][x] = B[(k0 + y) * N + col];
        __syncthreads();
        for (int k = 0; k < TILE; ++k) acc += a[y][k] * b[k][x];
        __syncthreads();
    }
    C[row * N + col] = acc;
}
__global__ void untiled(int M, int N, int K, const float *A, const float *B, float *C)
{
    const int row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    if (row >= M || col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = acc;
}
void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + 31) / 32, (M + 31) / 32), threads(32, 32);
    if (M == 32 && N == 64 && K % 32 == 0) tiled<<<blocks, threads>>>(M, N, K, A, B, C);
    else untiled<<<blocks, threads>>>(M, N, K, A, B, C);
}
