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

// What a matrix holds at (row, col), and 0 outside.
__device__ float element(const float *matrix, int rows, int cols, int row, int col)
{
    return row < rows && col < cols ? matrix[row * cols + col] : 0.0f;
}

__global__ void __launch_bounds__(THREADS)
    matmul_kernel(int M, int N, int K, const float *A, const float *B, float *C)
{
    __shared__ float A_tile[BM][BK];
    __shared__ float B_tile[BK][BN];
    const int top = blockIdx.y * BM, left = blockIdx.x * BN;

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

    float acc[TM * TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += THREADS)
            A_tile[i / BK][i % BK] = element(A, M, K, top + i / BK, k0 + i % BK);
        for (int i = threadIdx.x; i < BK * BN; i += THREADS)
            B_tile[i / BN][i % BN] = element(B, K, N, k0 + i / BN, left + i % BN);
        __syncthreads();

        for (int k = 0; k < BK; ++k) {
            float of_A[TM], of_B[TN];
            // BEGIN hidden
            //- for (int i = 0; i < TM; ++i)
            //-     of_A[i] = A_tile[thread_row + i][k];
            //- for (int i = 0; i < TN; ++i)
            //-     of_B[i] = B_tile[k][thread_col + i];
            for (int i = 0; i < TM; ++i)
                of_A[i] = A_tile[thread_row + i * ROW_STEP][k];
            for (int i = 0; i < TN; ++i)
                of_B[i] = B_tile[k][thread_col + i * COL_STEP];
            // END hidden
            for (int i = 0; i < TM * TN; ++i)
                acc[i] += of_A[i / TN] * of_B[i % TN];
        }
        __syncthreads();
    }

    for (int i = 0; i < TM * TN; ++i) {
        // BEGIN hidden
        //- const int row = top + thread_row + i / TN;
        //- const int col = left + thread_col + i % TN;
        const int row = top + thread_row + i / TN * ROW_STEP;
        const int col = left + thread_col + i % TN * COL_STEP;
        // END hidden
        if (row < M && col < N)
            C[row * N + col] = acc[i];
    }
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
    matmul_kernel<<<blocks, THREADS>>>(M, N, K, A, B, C);
}
