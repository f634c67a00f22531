// Exercise 12: the warp adds up.
//
// One warp sums one row. Each of its 32 lanes has added up its share, and now the 32 sums
// must become one. The lanes can hand each other their registers directly, without shared
// memory and without a barrier.
#include "exercise.h"

const int WARPS = 4; // in a block, each with a row of its own

__global__ void row_sums_kernel(int M, int N, const float *A, float *sums)
{
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= M) // a whole warp leaves, or none of it
        return;

    float sum = 0.0f;
    for (int col = lane; col < N; col += 32)
        sum += A[row * N + col];

    // Bring the 32 sums together in lane 0.
    // BEGIN answer
    // END answer

    if (lane == 0)
        sums[row] = sum;
}

void row_sums(int M, int N, const float *A, float *sums)
{
    row_sums_kernel<<<(M + WARPS - 1) / WARPS, 32 * WARPS>>>(M, N, A, sums);
}
