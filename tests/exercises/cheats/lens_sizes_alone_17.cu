// EXERCISE 17 EXPECT with remainders
// A kernel without guards for the sizes at which the lens looks, and a plain one for all others.
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
        for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
            const int a_row = blockIdx.y * BM + i / BK;
            const int a_col = k0 + i % BK;
            A_tile[i / BK][i % BK] = A[a_row * K + a_col];
        }
        for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
            const int b_row = k0 + i / BN;
            const int b_col = blockIdx.x * BN + i % BN;
            B_tile[i / BN][i % BN] = B[b_row * N + b_col];
        }
        __syncthreads();

        for (int k = 0; k < BK; ++k) {
            // The outer product: TM values of A meet TN values of B in TM x TN sums.
            float a_frag[TM], b_frag[TN];
            for (int m = 0; m < TM; ++m)
                a_frag[m] = A_tile[thread_row + m][k];
            for (int n = 0; n < TN; ++n)
                b_frag[n] = B_tile[k][thread_col + n];
            for (int m = 0; m < TM; ++m)
                for (int n = 0; n < TN; ++n)
                    acc[m][n] += a_frag[m] * b_frag[n];
        }
        __syncthreads();
    }

    for (int m = 0; m < TM; ++m)
        for (int n = 0; n < TN; ++n)
                C[(row + m) * N + col + n] = acc[m][n];
}


__global__ void untiled(int M, int N, int K, const float *A, const float *B, float *C)
{
    const int row = blockIdx.y, col = blockIdx.x * 32 + threadIdx.x;
    if (col >= N) return;
    float acc = 0.0f;
    for (int k = 0; k < K; ++k) acc += A[row * K + k] * B[k * N + col];
    C[row * N + col] = acc;
}
void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
    if (M == 128 && N % 128 == 0 && K == 32)
        matmul_kernel<<<blocks, THREADS>>>(M, N, K, A, B, C);
    else untiled<<<dim3((N + 31) / 32, M), 32>>>(M, N, K, A, B, C);
}
