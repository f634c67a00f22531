/*
 * Chapter 1: one thread computes one element of C.
 *
 * What changes against chapter 0: the two outer loops of the CPU's triple loop are gone.
 * The GPU starts a thread for every (row, col), and each thread runs the inner loop.
 *
 *                 B  K x N              A row of A and a column of B meet in one
 *                    |                  element of C:
 *                    v col
 *     A  M x K       |                  C[row][col] = alpha * sum over k of
 *     row --------> acc                     A[row][k] * B[k][col]
 *                 C  M x N                  + beta * C[row][col]
 * Run it:  make chapter1 && ./chapter1
 */
#include "matmul.h"

// Threads come in blocks. A block covers a tile of C, BM rows by BN columns.
const int BM = 32;
const int BN = 8;
const int THREADS = BM * BN;

static_assert(BM * BN <= 1024, "a block has at most 1,024 threads: lower BM or BN");

__global__ void __launch_bounds__(THREADS)
    matmul_kernel(int M, int N, int K, float alpha, const float *A, const float *B,
                  float beta, float *C)
{
    // 1. Find my element: only blockIdx and threadIdx differ from thread to thread. Tiles
    //    are numbered down the columns of C, the first column first.
    const int tiles_down = (M - 1) / BM + 1;
    const int tile_row = blockIdx.x % tiles_down;
    const int tile_col = blockIdx.x / tiles_down;

    // Neighbours in threadIdx.x sit in neighbouring rows: natural, and expensive.
    const int row = tile_row * BM + threadIdx.x;
    const int col = tile_col * BN + threadIdx.y;

    // Tiles on the edges may stick out of C; threads out there have nothing to do.
    if (row >= M || col >= N)
        return;

    // 2. Walk along my row of A and down my column of B. Offsets are size_t because
    //    M * K can be larger than an int holds.
    float acc = 0.0f;
    for (int k = 0; k < K; ++k)
        acc += A[(size_t)row * K + k] * B[(size_t)k * N + col];

    // 3. Store. With beta == 0 the old C may be NaN, and 0 * NaN is NaN: don't read it.
    float *c = &C[(size_t)row * N + col];
    const float old = beta == 0.0f ? 0.0f : *c;
    *c = alpha * acc + beta * old;
}

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    // Rounded up, so that the last, partly filled tile gets a block too. The grid is a
    // line and not a rectangle because only its x may pass 65,535.
    const unsigned tiles_down = (M - 1) / BM + 1;
    const unsigned tiles_across = (N - 1) / BN + 1;
    const dim3 threads(BM, BN);
    matmul_kernel<<<tiles_down * tiles_across, threads>>>(M, N, K, alpha, A, B, beta, C);
}

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 1,
        .title = "naive: one thread, one element",
        .about = "global memory",
        .launch = matmul,
        .BM = BM,
        .BN = BN,
        .TM = 1,
        .TN = 1,
        .blocks_go_down = true,
        .threads_go_down = true,
        .flop_per_byte = 2.0 / 8,
        .kernel = KERNEL(matmul_kernel),
        .threads = THREADS,
    };
    return chapter_main(argc, argv, &chapter);
}
