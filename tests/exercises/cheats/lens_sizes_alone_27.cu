// EXERCISE 27 EXPECT with remainders
// A kernel without guards for the sizes at which the lens looks, and a plain one for all others.
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
    return matrix[row * cols + col];
}

__global__ void __launch_bounds__(THREADS)
    matmul_kernel(int M, int N, int K, const float *A, const float *B, float *C)
{
    __shared__ float A_tile[BM][BK];
    __shared__ float B_tile[BK][BN];
    const int top = blockIdx.y * BM, left = blockIdx.x * BN;

    // My results: every 16th row and every 16th column from here. What is a step for me
    // is filled by my neighbours, so that a warp always sits side by side.
    const int ROW_STEP = BM / TM;
    const int COL_STEP = BN / TN;
    const int thread_row = threadIdx.x / COL_STEP;
    const int thread_col = threadIdx.x % COL_STEP;

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
                of_A[i] = A_tile[thread_row + i * ROW_STEP][k];
            for (int i = 0; i < TN; ++i)
                of_B[i] = B_tile[k][thread_col + i * COL_STEP];
            for (int i = 0; i < TM * TN; ++i)
                acc[i] += of_A[i / TN] * of_B[i % TN];
        }
        __syncthreads();
    }

    for (int i = 0; i < TM * TN; ++i) {
        const int row = top + thread_row + i / TN * ROW_STEP;
        const int col = left + thread_col + i % TN * COL_STEP;
            C[row * N + col] = acc[i];
    }
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
    if (M == 256 && N == 128 && K % 16 == 0)
        matmul_kernel<<<blocks, THREADS>>>(M, N, K, A, B, C);
    else untiled<<<dim3((N + 31) / 32, M), 32>>>(M, N, K, A, B, C);
}
