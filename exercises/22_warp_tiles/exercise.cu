// Exercise 22: a warp owns a rectangle.
//
// A block of 256 threads computes 64 x 64 results, a thread a square of 4 x 4. For
// each k it reads four values of A and four of B. What the 32 threads of a warp read
// *together* depends on where their squares lie.
#include "exercise.h"

const int SIDE = 64; // of the block's tile of C
const int DEPTH = 8; // steps of k that fit into the tiles
const int OWN = 4;   // results of a thread, in each direction
const int THREADS = SIDE / OWN * (SIDE / OWN);

// Where in the block's tile the thread's square begins.
__device__ void place_of(int thread, int *row, int *col)
{
    // BEGIN answer
    *row = thread / (SIDE / OWN) * OWN;
    *col = thread % (SIDE / OWN) * OWN;
    // END answer
}

__global__ void __launch_bounds__(THREADS)
    matmul_kernel(int M, int N, int K, const float *A, const float *B, float *C)
{
    __shared__ float A_tile[DEPTH][SIDE + 1]; // turned: a column of A is a row here
    __shared__ float B_tile[DEPTH][SIDE + 1];
    const int top = blockIdx.y * SIDE, left = blockIdx.x * SIDE;
    int row, col;
    place_of(threadIdx.x, &row, &col);

    float acc[OWN * OWN] = {};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        for (int half = 0; half < 2; ++half) {
            const int down = threadIdx.x / 8 + 32 * half, k = threadIdx.x % 8;
            const int right = threadIdx.x % 64, step = threadIdx.x / 64 + 4 * half;
            A_tile[k][down] =
                top + down < M && k0 + k < K ? A[(top + down) * K + k0 + k] : 0.0f;
            B_tile[step][right] = k0 + step < K && left + right < N
                                      ? B[(k0 + step) * N + left + right]
                                      : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; ++k) {
            float factors[2 * OWN]; // my four of A, and my four of B
            for (int i = 0; i < OWN; ++i) {
                factors[i] = A_tile[k][row + i];
                factors[OWN + i] = B_tile[k][col + i];
            }
            for (int i = 0; i < OWN * OWN; ++i)
                acc[i] += factors[i / OWN] * factors[OWN + i % OWN];
        }
        __syncthreads();
    }

    for (int i = 0; i < OWN * OWN; ++i) {
        const int to_row = top + row + i / OWN, to_col = left + col + i % OWN;
        if (to_row < M && to_col < N)
            C[to_row * N + to_col] = acc[i];
    }
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE);
    matmul_kernel<<<blocks, THREADS>>>(M, N, K, A, B, C);
}
