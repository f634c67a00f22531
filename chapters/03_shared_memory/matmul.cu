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
const int THREADS = BM * BN;

static_assert(BM * BN <= 1024, "a block has at most 1,024 threads: lower BM or BN");
static_assert(BK == BN, "A_tile takes one element a thread: BK must equal BN");
static_assert(BK == BM, "B_tile takes one element a thread: BK must equal BM");

__global__ void __launch_bounds__(THREADS)
    matmul_kernel(int M, int N, int K, float alpha, const float *A, const float *B,
                  float beta, float *C)
{
    // One copy for each block, seen by all of its threads and by no others.
    __shared__ float A_tile[BM][BK];
    __shared__ float B_tile[BK][BN];

    // 1. Find my element, and my place in the tiles.
    const int tiles_down = (M - 1) / BM + 1;
    const int tile_row = blockIdx.x % tiles_down;
    const int tile_col = blockIdx.x / tiles_down;
    const int thread_row = threadIdx.y;
    const int thread_col = threadIdx.x;
    const int row = tile_row * BM + thread_row;
    const int col = tile_col * BN + thread_col;

    // The element of A and the one of B that this thread fetches next.
    const float *a_next = A + (size_t)row * K + thread_col;
    const float *b_next = B + (size_t)thread_row * N + col;
    const bool whole = (tile_row + 1) * BM <= M && (tile_col + 1) * BN <= N;

    // No early return for threads outside C: the block needs their help to load, and all
    // of its threads have to come to a barrier.
    float acc = 0.0f;
    for (int k0 = 0; k0 < K; k0 += BK) {
        // 2. Fetch one element for each tile. Where a tile sticks out of its matrix a
        //    zero stands in, which adds nothing to any sum. Most tiles do not: they skip
        //    the bounds checks.
        float a_value = 0.0f, b_value = 0.0f;
        if (whole && k0 + BK <= K) {
            a_value = *a_next;
            b_value = *b_next;
        } else {
            if (row < M && k0 + thread_col < K)
                a_value = *a_next;
            if (k0 + thread_row < K && col < N)
                b_value = *b_next;
        }
        a_next += BK;
        b_next += (size_t)BK * N;

        // 3. Wait until no thread needs the old tiles, then overwrite them. The fetch above
        //    comes first because it takes long: it travels while others still compute.
        __syncthreads();
        A_tile[thread_row][thread_col] = a_value;
        B_tile[thread_row][thread_col] = b_value;

        // 4. Wait until the tiles are complete: I am about to read what others stored.
        __syncthreads();

        // 5. Compute from the tiles alone.
        for (int k = 0; k < BK; ++k)
            acc += A_tile[thread_row][k] * B_tile[k][thread_col];
    }

    // 6. Store, if this thread owns an element; beta == 0 must not read C.
    if (row < M && col < N) {
        float *c = &C[(size_t)row * N + col];
        const float old = beta == 0.0f ? 0.0f : *c;
        *c = alpha * acc + beta * old;
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

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 3,
        .title = "shared memory: load once, use many times",
        .about = "shared memory",
        .launch = matmul,
        .BM = BM,
        .BN = BN,
        .TM = 1,
        .TN = 1,
        .blocks_go_down = true,
        .flop_per_byte = 0.5 * BM * BN / (BM + BN),
        .kernel = KERNEL(matmul_kernel),
        .threads = THREADS,
    };
    return chapter_main(argc, argv, &chapter);
}
