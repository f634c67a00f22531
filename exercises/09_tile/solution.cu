// Exercise 9: load once, use many times.
//
// Without shared memory, every thread fetches 2K floats for one result, and 31 other
// threads fetch the same ones. Here a block fetches each of them once, into tiles that
// all of its threads read.
#include "exercise.h"

const int TILE = 32; // the block computes TILE x TILE results, TILE steps of k at a time

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
        // 1. Each thread fetches one element of A and one of B into the tiles, and 0
        //    where the tile sticks out of its matrix.
        // 2. It waits. 3. It adds up its products from the tiles. 4. It waits again.
        // BEGIN answer
        A_tile[thread_row][thread_col] =
            row < M && k0 + thread_col < K ? A[row * K + k0 + thread_col] : 0.0f;
        B_tile[thread_row][thread_col] =
            k0 + thread_row < K && col < N ? B[(k0 + thread_row) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            acc += A_tile[thread_row][k] * B_tile[k][thread_col];
        __syncthreads();
        // END answer
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
