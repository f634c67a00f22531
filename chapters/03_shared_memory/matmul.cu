/*
 * Chapter 3: fetch a tile once, let the whole block use it.
 *
 * What changes against chapter 2: the block copies a tile of A and a tile of B into
 * shared memory, on the chip, and every element copied serves 32 threads.
 *
 *                          B_tile  BK x BN     the block slides both tiles along K,
 *                             | k0             A's to the right and B's downwards;
 *                             v                after each step every thread has added
 *     A_tile  BM x BK --k0-> C tile            BK products to its own sum
 *
 * Run it:  make chapter3 && ./chapter3
 */
#include "matmul.h"

// A block covers a tile of C, BM rows by BN columns with one thread an element, and
// takes BK steps along K between two visits to global memory.
const int BM = 32;
const int BN = 32;
const int BK = 32;

static_assert(BM * BN <= 1024, "a block has at most 1,024 threads: make BM or BN smaller");
static_assert(BK == BN, "A_tile is loaded one element a thread: BK must equal BN");
static_assert(BK == BM, "B_tile is loaded one element a thread: BK must equal BM");

__global__ void __launch_bounds__(BM * BN)
matmul_kernel(int M, int N, int K, float alpha, const float *A, const float *B,
              float beta, float *C)
{
    // One copy for each block, seen by all of its threads and by no others.
    __shared__ float A_tile[BM][BK];
    __shared__ float B_tile[BK][BN];

    // 1. Find my element, and my place in the tiles.
    const int tiles_across = (N - 1) / BN + 1;
    const int tile_row = blockIdx.x / tiles_across;
    const int tile_col = blockIdx.x % tiles_across;
    const int thread_row = threadIdx.y;
    const int thread_col = threadIdx.x;
    const int row = tile_row * BM + thread_row;
    const int col = tile_col * BN + thread_col;

    // No early return for threads outside C: the block needs their help to load, and a
    // barrier waits for every thread.
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        // 2. Load one element of each tile. Where a tile sticks out of its matrix a zero
        //    stands in, which adds nothing to any sum.
        const int a_col = k0 + thread_col;
        const int b_row = k0 + thread_row;
        A_tile[thread_row][thread_col] =
            row < M && a_col < K ? A[(size_t)row * K + a_col] : 0.0f;
        B_tile[thread_row][thread_col] =
            b_row < K && col < N ? B[(size_t)b_row * N + col] : 0.0f;

        // 3. Wait until the tiles are complete: I am about to read what others loaded.
        __syncthreads();

        // 4. Compute from the tiles alone.
        for (int k = 0; k < BK; ++k)
            acc += A_tile[thread_row][k] * B_tile[k][thread_col];

        // 5. Wait until nobody needs the tiles: I am about to overwrite what others read.
        __syncthreads();
    }

    // 6. Store, if this thread owns an element; beta == 0 must not read C.
    if (row < M && col < N) {
        float *c = &C[(size_t)row * N + col];
        *c = beta == 0.0f ? alpha * acc : alpha * acc + beta * *c;
    }
}

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    // (M - 1) / BM + 1 rounds up, so the last, partly filled tile gets a block too. The
    // grid is a line and not a rectangle because only its x may pass 65,535.
    const unsigned tiles_down = (M - 1) / BM + 1;
    const unsigned tiles_across = (N - 1) / BN + 1;
    const dim3 threads(BN, BM);
    matmul_kernel<<<tiles_down * tiles_across, threads>>>(M, N, K, alpha, A, B, beta, C);
}
