// Exercise 17: a thread owns a square.
//
// A column of 8 results needs 9 reads for 8 products. A square of 4 x 4 needs 4 values of
// A and 4 of B for 16 products: half as much for each. Every value read is used four
// times.
#include "exercise.h"

const int BM = 64;
const int BN = 64;
const int BK = 8;
const int TM = 4; // a thread computes TM x TN results
const int TN = 4;
const int THREADS = BM * BN / (TM * TN);

__global__ void matmul_kernel(int M, int N, int K, const float *A, const float *B,
                              float *C)
{
    __shared__ float A_tile[BM][BK];
    __shared__ float B_tile[BK][BN];

    // My results begin at (row, col) of C, and at this place of the block's tile.
    const int thread_row = threadIdx.x / (BN / TN) * TM;
    const int thread_col = threadIdx.x % (BN / TN) * TN;
    const int row = blockIdx.y * BM + thread_row;
    const int col = blockIdx.x * BN + thread_col;

    float acc[TM][TN] = {{0.0f}};
    for (int k0 = 0; k0 < K; k0 += BK) {
        // Fill the tiles. There are 256 threads and 512 places in each tile, so a thread
        // has to fetch more than one; outside the matrices, a 0 stands in.
        // BEGIN answer
        // END answer
        __syncthreads();

        for (int k = 0; k < BK; ++k) {
            // The outer product: TM values of A meet TN values of B in TM x TN sums.
            // BEGIN answer
            // END answer
        }
        __syncthreads();
    }

    for (int m = 0; m < TM; ++m)
        for (int n = 0; n < TN; ++n)
            if (row + m < M && col + n < N)
                C[(row + m) * N + col + n] = acc[m][n];
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
    matmul_kernel<<<blocks, THREADS>>>(M, N, K, A, B, C);
}
