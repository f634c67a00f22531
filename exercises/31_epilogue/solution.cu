// Exercise 31: the way home.
//
// A block has 16 x 64 results, and the tensor core has spread them over its lanes: a lane
// holds two neighbours, and the next two are another lane's. Stored from there, a row comes
// home in crumbs of 16 bytes, and memory takes nothing smaller than 32.
#include "exercise.h"
#include "given.cuh"

// BEGIN answer
// The place of a cell of eight results: in another order in each row, so that the same
// cell of eight rows lies in different banks.
__device__ int place_of(int row, int cell)
{
    return row * CELLS + (row + cell) % CELLS;
}

// END answer
__global__ void __launch_bounds__(THREADS)
    matmul_kernel(int N, int K, const __half *A, const __half *B, __half *C)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int top = blockIdx.y * ROWS, left = blockIdx.x * COLS;
    struct sums sums = {};
    sums.multiply(&A[top * K], K, &B[left], N);

    // BEGIN answer
    //- for (int j = 0; j < 2; ++j)
    //-     for (int i = 0; i < 4; ++i) {
    //-         const int row = top + lane / 4 + i / 2 * 8;
    //-         const int col = left + warp * 16 + j * 8 + lane % 4 * 2 + i % 2;
    //-         C[row * N + col] = __float2half_rn(sums.d[j][i]);
    //-     }
    __shared__ uint4 results[ROWS * CELLS];
    for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 4; i += 2) {
            __half2 *cell =
                (__half2 *)&results[place_of(lane / 4 + i / 2 * 8, warp * 2 + j)];
            cell[lane % 4] = __floats2half2_rn(sums.d[j][i], sums.d[j][i + 1]);
        }
    __syncthreads();
    for (int i = threadIdx.x; i < ROWS * CELLS; i += THREADS) {
        const int row = i / CELLS, cell = i % CELLS;
        *(uint4 *)&C[(top + row) * N + left + cell * 8] = results[place_of(row, cell)];
    }
    // END answer
}

void matmul_to_halves(int M, int N, int K, const __half *A, const __half *B, __half *C)
{
    matmul_kernel<<<dim3(N / COLS, M / ROWS), THREADS>>>(N, K, A, B, C);
}
