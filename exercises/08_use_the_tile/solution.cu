// Exercise 8: use a filled tile.
//
// Now the tiles are filled for you: fetch() has each thread copy one element. What is
// missing is what comes after.
#include "exercise.h"
#include "given.cuh"

__global__ void matmul_kernel(int M, int N, int K, const float *A, const float *B,
                              float *C)
{
    __shared__ float A_tile[TILE][TILE]; // rows of C's tile, TILE steps of k
    __shared__ float B_tile[TILE][TILE]; // TILE steps of k, columns of C's tile

    const int y = threadIdx.y, x = threadIdx.x;
    const int row = blockIdx.y * TILE + y; // my result in C
    const int col = blockIdx.x * TILE + x;

    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += TILE) {
        fetch(A_tile, A, M, K, blockIdx.y * TILE, k0);
        fetch(B_tile, B, K, N, k0, blockIdx.x * TILE);
        // Add up the TILE products that the tiles hold for me. Who else reads them, and
        // who fills them next?
        // BEGIN answer
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            acc += A_tile[y][k] * B_tile[k][x];
        __syncthreads();
        // END answer
    }
    if (row < M && col < N)
        C[row * N + col] = acc;
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    matmul_kernel<<<blocks, dim3(TILE, TILE)>>>(M, N, K, A, B, C);
}
