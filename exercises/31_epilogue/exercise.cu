// Exercise 31: the way home.
//
// A block has 16 x 64 results, and the tensor core has spread them over its lanes: a lane
// holds two neighbours, and the next two are another lane's. Stored from there, a row comes
// home in crumbs of 16 bytes, and memory takes nothing smaller than 32.
#include "exercise.h"
#include "given.cuh"

// BEGIN answer
// END answer
__global__ void __launch_bounds__(THREADS)
    matmul_kernel(int N, int K, const __half *A, const __half *B, __half *C)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int top = blockIdx.y * ROWS, left = blockIdx.x * COLS;
    struct sums sums = {};
    sums.multiply(&A[top * K], K, &B[left], N);

    // BEGIN answer
    for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 4; ++i) {
            const int row = top + lane / 4 + i / 2 * 8;
            const int col = left + warp * 16 + j * 8 + lane % 4 * 2 + i % 2;
            C[row * N + col] = __float2half_rn(sums.d[j][i]);
        }
    // END answer
}

void matmul_to_halves(int M, int N, int K, const __half *A, const __half *B, __half *C)
{
    matmul_kernel<<<dim3(N / COLS, M / ROWS), THREADS>>>(N, K, A, B, C);
}
