/*
 * Chapter 2: let neighbouring threads read neighbouring memory.
 *
 * What changes against chapter 1: rows and columns change places in the index lines, so
 * threadIdx.x, along which threads are neighbours, now walks along a row of C.
 *
 *     the 32 threads of a warp    chapter 1                  chapter 2
 *     read of A at step k         32 rows, far apart         one element, shared by all
 *     read of B at step k         one element, shared        32 neighbours in one row
 *     write of C                  32 rows, far apart         32 neighbours in one row
 *
 * Run it:  make chapter2 && ./chapter2
 */
#include "matmul.h"

// BN = 32: a row of the tile is one warp.
const int BM = 8;
const int BN = 32;
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

    // Now a warp shares a row and sits in neighbouring columns, as memory lies.
    const int row = tile_row * BM + threadIdx.y;
    const int col = tile_col * BN + threadIdx.x;

    // Tiles on the edges may stick out of C; threads out there have nothing to do.
    if (row >= M || col >= N)
        return;

    // 2. Walk. Nothing here says "together": the memory system sees 32 addresses at once
    //    and fetches each 32-byte sector among them once, four for B and one for A.
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
    const dim3 threads(BN, BM);
    matmul_kernel<<<tiles_down * tiles_across, threads>>>(M, N, K, alpha, A, B, beta, C);
}

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 2,
        .title = "coalescing: neighbours read neighbours",
        .about = "global memory",
        .launch = matmul,
        .BM = BM,
        .BN = BN,
        .TM = 1,
        .TN = 1,
        .blocks_go_down = true,
        .flop_per_byte = 2.0 / 8,
        .kernel = KERNEL(matmul_kernel),
        .threads = THREADS,
    };
    return chapter_main(argc, argv, &chapter);
}
