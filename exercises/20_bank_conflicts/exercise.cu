// Exercise 20: 32 doors.
//
// A transpose reads rows and writes columns. This one goes through shared memory, so that
// both reading and writing are coalesced. But on the way a warp reads a column of the
// tile, and all 32 elements of that column wait at the same door: they lie in the same
// bank.
#include "exercise.h"

const int TILE = 32;
const int ROWS = 8; // rows of threads; each thread moves TILE / ROWS elements

__global__ void transpose_kernel(int M, int N, const float *A, float *B)
{
    // BEGIN answer
    __shared__ float tile[TILE][TILE];
    // END answer
    const int x = threadIdx.x;

    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        const int row = blockIdx.y * TILE + y;
        const int col = blockIdx.x * TILE + x;
        if (row < M && col < N)
            tile[y][x] = A[row * N + col];
    }
    __syncthreads();

    // B's tile lies where A's lay, mirrored: its rows are A's columns.
    for (int y = threadIdx.y; y < TILE; y += ROWS) {
        const int row = blockIdx.x * TILE + y;
        const int col = blockIdx.y * TILE + x;
        if (row < N && col < M)
            B[row * M + col] = tile[x][y];
    }
}

void transpose(int M, int N, const float *A, float *B)
{
    const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    const dim3 threads(TILE, ROWS);
    transpose_kernel<<<blocks, threads>>>(M, N, A, B);
}
