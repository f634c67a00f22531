// Exercise 7: fill the tile.
//
// A block computes a tile of C, TILE x TILE results. It goes along k in steps: in each it
// copies a tile of A and a tile of B into shared memory, and uses them. Using them is done
// for you, in given.cuh. Filling them is not.
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
        // Each thread fetches one element of each tile, the one at [y][x], and puts a 0
        // where the tile sticks out of its matrix.
        // BEGIN answer
        A_tile[y][x] = 0.0f;
        B_tile[y][x] = 0.0f;
        // END answer
        __syncthreads();
        add_products(A_tile, B_tile, &acc);
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = acc;
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    matmul_kernel<<<blocks, dim3(TILE, TILE)>>>(M, N, K, A, B, C);
}
