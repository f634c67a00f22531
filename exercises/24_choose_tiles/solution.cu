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
    const int thread_row = threadIdx.x / (BN / TN) * TM;
    const int thread_col = threadIdx.x % (BN / TN) * TN;

    float acc[TM * TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        for (int i = threadIdx.x; i < BM * BK; i += THREADS)
            A_tile[i / BK][i % BK] = element(A, M, K, top + i / BK, k0 + i % BK);
        for (int i = threadIdx.x; i < BK * BN; i += THREADS)
            B_tile[i / BN][i % BN] = element(B, K, N, k0 + i / BN, left + i % BN);
        __syncthreads();

        for (int k = 0; k < BK; ++k) {
            float of_A[TM], of_B[TN];
            for (int i = 0; i < TM; ++i)
                of_A[i] = A_tile[thread_row + i][k];
            for (int i = 0; i < TN; ++i)
                of_B[i] = B_tile[k][thread_col + i];
            for (int i = 0; i < TM * TN; ++i)
                acc[i] += of_A[i / TN] * of_B[i % TN];
        }
        __syncthreads();
    }

    for (int i = 0; i < TM * TN; ++i) {
        const int row = top + thread_row + i / TN, col = left + thread_col + i % TN;
        if (row < M && col < N)
            C[row * N + col] = acc[i];
    }
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
    matmul_kernel<<<blocks, THREADS>>>(M, N, K, A, B, C);
}
