// Exercise 5: find the missing barrier.
//
// This tiled matrix product gives the right result on most days. Something is missing.
// Read it as if every thread ran at its own speed, because on a GPU every warp does.
#include "exercise.h"

const int TILE = 16;

__global__ void matmul_kernel(int M, int N, int K, const float *A, const float *B,
                              float *C)
{
    __shared__ float A_tile[TILE][TILE];
    __shared__ float B_tile[TILE][TILE];

    const int thread_row = threadIdx.y;
    const int thread_col = threadIdx.x;
    const int row = blockIdx.y * TILE + thread_row;
    const int col = blockIdx.x * TILE + thread_col;

    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        const int a_col = k0 + thread_col;
        const int b_row = k0 + thread_row;
        A_tile[thread_row][thread_col] = row < M && a_col < K ? A[row * K + a_col] : 0.0f;
        B_tile[thread_row][thread_col] = b_row < K && col < N ? B[b_row * N + col] : 0.0f;
        __syncthreads();

        for (int k = 0; k < TILE; ++k)
            acc += A_tile[thread_row][k] * B_tile[k][thread_col];
    }

    if (row < M && col < N)
        C[row * N + col] = acc;
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    const dim3 threads(TILE, TILE);
    matmul_kernel<<<blocks, threads>>>(M, N, K, A, B, C);
}
