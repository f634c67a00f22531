// Exercise 24: choose the tiles.
//
// The kernel below works for any tile sizes that pass its static_asserts. Which ones are
// good is another question: larger tiles save traffic and cost shared memory and
// registers.
#include "exercise.h"

// BEGIN answer
//- const int BM = 32; // the block computes BM x BN results,
//- const int BN = 32;
//- const int BK = 32; // BK steps of k at a time;
//- const int TM = 2;  // a thread computes TM x TN of them
//- const int TN = 2;
const int BM = 128; // the block computes BM x BN results,
const int BN = 128;
const int BK = 8; // BK steps of k at a time;
const int TM = 8; // a thread computes TM x TN of them
const int TN = 8;
// END answer
const int THREADS = BM / TM * (BN / TN);

static_assert(BM % TM == 0, "TM must divide BM, or some rows have no thread");
static_assert(BN % TN == 0, "TN must divide BN, or some columns have no thread");
static_assert(THREADS % 32 == 0, "whole warps, please: choose other tiles");
static_assert(THREADS <= 1024, "a block has at most 1,024 threads: raise TM or TN");

__global__ void __launch_bounds__(THREADS)
    matmul_kernel(int M, int N, int K, const float *A, const float *B, float *C)
{
    __shared__ float A_tile[BM][BK];
    __shared__ float B_tile[BK][BN];
    const int thread_row = threadIdx.x / (BN / TN);
    const int thread_col = threadIdx.x % (BN / TN);

    float acc[TM][TN] = {{0.0f}};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
            const int a_row = blockIdx.y * BM + i / BK;
            const int a_col = k0 + i % BK;
            A_tile[i / BK][i % BK] = a_row < M && a_col < K ? A[a_row * K + a_col] : 0.0f;
        }
        for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
            const int b_row = k0 + i / BN;
            const int b_col = blockIdx.x * BN + i % BN;
            B_tile[i / BN][i % BN] = b_row < K && b_col < N ? B[b_row * N + b_col] : 0.0f;
        }
        __syncthreads();

        for (int k = 0; k < BK; ++k) {
            float a_frag[TM], b_frag[TN];
            for (int m = 0; m < TM; ++m)
                a_frag[m] = A_tile[thread_row * TM + m][k];
            for (int n = 0; n < TN; ++n)
                b_frag[n] = B_tile[k][thread_col * TN + n];
            for (int m = 0; m < TM; ++m)
                for (int n = 0; n < TN; ++n)
                    acc[m][n] += a_frag[m] * b_frag[n];
        }
        __syncthreads();
    }

    for (int m = 0; m < TM; ++m)
        for (int n = 0; n < TN; ++n) {
            const int row = blockIdx.y * BM + thread_row * TM + m;
            const int col = blockIdx.x * BN + thread_col * TN + n;
            if (row < M && col < N)
                C[row * N + col] = acc[m][n];
        }
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
    matmul_kernel<<<blocks, THREADS>>>(M, N, K, A, B, C);
}
