// Exercise 16: a thread owns a column.
//
// With one result a thread, every product needs two reads from shared memory. Here a
// thread computes TM = 8 results that lie below one another. They share their column of
// B, so a value of B_tile, read once, serves 8 products.
#include "exercise.h"

const int BM = 64;
const int BN = 64;
const int BK = 8;
const int TM = 8; // results a thread, below one another
const int THREADS = BM * BN / TM;

__global__ void matmul_kernel(int M, int N, int K, const float *A, const float *B,
                              float *C)
{
    __shared__ float A_tile[BM][BK];
    __shared__ float B_tile[BK][BN];

    // My TM results begin at this place of the block's tile of C.
    const int thread_row = threadIdx.x / BN * TM;
    const int thread_col = threadIdx.x % BN;
    const int row = blockIdx.y * BM + thread_row;
    const int col = blockIdx.x * BN + thread_col;

    // 512 threads, 512 elements in each tile: each thread fetches one of both.
    const int load_a_row = threadIdx.x / BK;
    const int load_a_col = threadIdx.x % BK;
    const int load_b_row = threadIdx.x / BN;
    const int load_b_col = threadIdx.x % BN;
    const int a_row = blockIdx.y * BM + load_a_row;
    const int b_col = blockIdx.x * BN + load_b_col;

    float acc[TM] = {0.0f};
    for (int k0 = 0; k0 < K; k0 += BK) {
        const int a_col = k0 + load_a_col;
        const int b_row = k0 + load_b_row;
        A_tile[load_a_row][load_a_col] =
            a_row < M && a_col < K ? A[a_row * K + a_col] : 0.0f;
        B_tile[load_b_row][load_b_col] =
            b_row < K && b_col < N ? B[b_row * N + b_col] : 0.0f;
        __syncthreads();

        // Add the products of this tile to all TM sums.
        // BEGIN answer
        // END answer
        __syncthreads();
    }

    // Store the results that lie inside C.
    // BEGIN answer
    C[row * N + col] = acc[0];
    // END answer
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + BN - 1) / BN, (M + BM - 1) / BM);
    matmul_kernel<<<blocks, THREADS>>>(M, N, K, A, B, C);
}
