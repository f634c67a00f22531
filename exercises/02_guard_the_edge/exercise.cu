// Exercise 2: guard the edge.
//
// B = a * A for any M x N matrix. Blocks come whole, matrices do not: the last blocks
// stick out, and the threads out there must keep their hands off memory.
#include "exercise.h"

const int BM = 8;  // rows a block covers
const int BN = 32; // columns

__global__ void scale_kernel(int M, int N, float a, const float *A, float *B)
{
    const int row = blockIdx.y * BM + threadIdx.y;
    const int col = blockIdx.x * BN + threadIdx.x;

    // Threads outside the matrix have nothing to do.
    // BEGIN answer
    // END answer
    B[row * N + col] = a * A[row * N + col];
}

void scale(int M, int N, float a, const float *A, float *B)
{
    // How many blocks cover N columns, how many cover M rows? None may be missing, and
    // none may lie outside altogether.
    // BEGIN answer
    const int blocks_x = N / BN;
    const int blocks_y = M / BM;
    // END answer
    const dim3 blocks(blocks_x, blocks_y);
    const dim3 threads(BN, BM);
    scale_kernel<<<blocks, threads>>>(M, N, a, A, B);
}
