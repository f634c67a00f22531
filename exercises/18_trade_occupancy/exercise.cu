// Exercise 18: give up warps.
//
// A block computes 128 x 128 results, and a thread ROWS x COLS of them, in registers. Small
// rectangles leave room for many warps, and all of them ask for shared memory. Large ones
// ask for less, and leave room for few. How far would you go?
#include "exercise.h"
#include "given.cuh"

// BEGIN answer
const int ROWS = 4;
const int COLS = 4;
// END answer
const int THREADS = BLOCK / ROWS * (BLOCK / COLS);

static_assert(BLOCK % ROWS == 0 && BLOCK % COLS == 0, "ROWS and COLS must divide 128");
static_assert(THREADS % 32 == 0, "a block consists of whole warps: smaller rectangles");
static_assert(THREADS <= 1024, "a block has at most 1,024 threads: larger rectangles");

__global__ void __launch_bounds__(THREADS)
    matmul_kernel(int M, int N, int K, const float *A, const float *B, float *C)
{
    __shared__ float A_tile[DEPTH][BLOCK + 4];
    __shared__ float B_tile[DEPTH][BLOCK + 4];
    const int first_row = threadIdx.x / (BLOCK / COLS) * ROWS;
    const int first_col = threadIdx.x % (BLOCK / COLS) * COLS;

    Square<ROWS, COLS> mine;
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        fetch<THREADS>(A_tile, B_tile, M, N, K, A, B, k0);
        __syncthreads();
        for (int k = 0; k < DEPTH; ++k)
            mine.add(&A_tile[k][first_row], &B_tile[k][first_col]);
        __syncthreads();
    }
    mine.store(M, N, C, first_row, first_col);
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + BLOCK - 1) / BLOCK, (M + BLOCK - 1) / BLOCK);
    matmul_kernel<<<blocks, THREADS>>>(M, N, K, A, B, C);
}
