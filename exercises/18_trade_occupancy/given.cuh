// The part of exercise 18 that is done: a block with a tile of BLOCK x BLOCK results.
#pragma once

const int BLOCK = 128; // results in a row and in a column of the block's tile
const int DEPTH = 8;   // steps of k that fit into the tiles

// Copies rows x DEPTH elements of A, and DEPTH x cols of B, to where a thread finds what
// it needs side by side: A is turned on its way.
template <int THREADS>
__device__ void fetch(float (*A_tile)[BLOCK + 4], float (*B_tile)[BLOCK + 4], int M,
                      int N, int K, const float *A, const float *B, int k0)
{
    const int top = blockIdx.y * BLOCK, left = blockIdx.x * BLOCK;
    for (int place = threadIdx.x; place < BLOCK * DEPTH; place += THREADS) {
        const int down = place / DEPTH, k = place % DEPTH;
        const bool exists = top + down < M && k0 + k < K;
        A_tile[k][down] = exists ? A[(top + down) * K + k0 + k] : 0.0f;
    }
    for (int place = threadIdx.x; place < BLOCK * DEPTH; place += THREADS) {
        const int k = place / BLOCK, right = place % BLOCK;
        const bool exists = k0 + k < K && left + right < N;
        B_tile[k][right] = exists ? B[(k0 + k) * N + left + right] : 0.0f;
    }
}

// One thread's ROWS x COLS results, `first_row` and `first_col` in the block's tile.
template <int ROWS, int COLS> struct Square {
    float sum[ROWS * COLS] = {};

    __device__ void add(const float *from_A, const float *from_B)
    {
        float a[ROWS], b[COLS];
        for (int i = 0; i < ROWS; ++i)
            a[i] = from_A[i];
        for (int j = 0; j < COLS; ++j)
            b[j] = from_B[j];
        for (int i = 0; i < ROWS * COLS; ++i)
            sum[i] += a[i / COLS] * b[i % COLS];
    }

    __device__ void store(int M, int N, float *C, int first_row, int first_col) const
    {
        for (int i = 0; i < ROWS * COLS; ++i) {
            const int row = blockIdx.y * BLOCK + first_row + i / COLS;
            const int col = blockIdx.x * BLOCK + first_col + i % COLS;
            if (row < M && col < N)
                C[row * N + col] = sum[i];
        }
    }
};
