// Exercise 27: beat chapter 5.
//
// This is chapter 5's kernel: 128 x 128 results a block, 8 x 8 a thread. The lens shows
// where it loses: its reads of shared memory meet in the banks, and its stores are
// scattered. Do better. Nothing tells you where to write; everything may change.
#include "exercise.h"

const int BM = 128;
const int BN = 128;
const int BK = 8;
const int TM = 8;
const int TN = 8;
const int THREADS = BM * BN / (TM * TN);

__global__ void __launch_bounds__(THREADS)
    matmul_kernel(int M, int N, int K, const float *A, const float *B, float *C)
{
    __shared__ float A_tile[BM][BK];
    __shared__ float B_tile[BK][BN];

    // BEGIN hidden
    //- // My results: TM x TN elements side by side, from here.
    //- const int thread_row = threadIdx.x / (BN / TN) * TM;
    //- const int thread_col = threadIdx.x % (BN / TN) * TN;
    // My results: every 16th row and every 16th column from here. What is a step for me
    // is filled by my neighbours, so that a warp always sits side by side.
    const int ROW_STEP = BM / TM;
    const int COL_STEP = BN / TN;
    const int thread_row = threadIdx.x / COL_STEP;
    const int thread_col = threadIdx.x % COL_STEP;
    // END hidden
    const int row = blockIdx.y * BM + thread_row;
    const int col = blockIdx.x * BN + thread_col;

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
            // BEGIN hidden
            //- for (int m = 0; m < TM; ++m)
            //-     a_frag[m] = A_tile[thread_row + m][k];
            //- for (int n = 0; n < TN; ++n)
            //-     b_frag[n] = B_tile[k][thread_col + n];
            for (int m = 0; m < TM; ++m)
                a_frag[m] = A_tile[thread_row + m * ROW_STEP][k];
            for (int n = 0; n < TN; ++n)
                b_frag[n] = B_tile[k][thread_col + n * COL_STEP];
            // END hidden
            for (int m = 0; m < TM; ++m)
                for (int n = 0; n < TN; ++n)
                    acc[m][n] += a_frag[m] * b_frag[n];
        }
        __syncthreads();
    }

    for (int m = 0; m < TM; ++m)
        for (int n = 0; n < TN; ++n)
            // BEGIN hidden
            //- if (row + m < M && col + n < N)
            //-     C[(row + m) * N + col + n] = acc[m][n];
            if (row + m * ROW_STEP < M && col + n * COL_STEP < N)
                C[(row + m * ROW_STEP) * N + col + n * COL_STEP] = acc[m][n];
    // END hidden
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
    matmul_kernel<<<blocks, THREADS>>>(M, N, K, A, B, C);
}
