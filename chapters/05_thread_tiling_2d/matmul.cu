/*
 * Chapter 5: let one thread compute a square of results.
 *
 * What changes against chapter 4: a thread owns TM x TN = 8 x 8 elements of C. For each
 * k it reads 8 values of A and 8 of B, and every one of them is used 8 times.
 *
 *                          b_frag  1 x TN       for each k:
 *                         +--------------+        16 reads from shared memory,
 *              a_frag     |              |        64 products in registers
 *              TM x 1     |  acc TM x TN |      (the outer product of two short
 *                         |              |       vectors, added to acc)
 *                         +--------------+
 *
 * Run it:  make chapter5 && ./chapter5
 */
#include "matmul.h"

// A block covers BM x BN elements of C and takes BK steps along K at a time.
const int BM = 128;
const int BN = 128;
const int BK = 8;
const int TM = 8; // results a thread: TM rows
const int TN = 8; // by TN columns of C
const int THREADS = BM * BN / (TM * TN);
// The elements of a tile that each thread fetches.
const int LOADS = BM * BK / THREADS;

static_assert(BM % TM == 0 && BN % TN == 0, "or some results have no thread");
static_assert(BM == BN, "a thread fetches as many elements of A_tile as of B_tile");
static_assert(LOADS * THREADS == BM * BK, "the tiles divide evenly among the threads");
static_assert(THREADS % BK == 0 && THREADS % BN == 0, "the tiles take whole rows");
static_assert(THREADS <= 1024, "a block has at most 1,024 threads: raise TM or TN");

// The 2 asks the compiler to leave room for two blocks on a multiprocessor, that is, to
// get by with 128 registers a thread: while one block waits at a barrier, the other computes.
__global__ void __launch_bounds__(THREADS, 2)
    matmul_kernel(int M, int N, int K, float alpha, const float *A, const float *B,
                  float beta, float *C)
{
    __shared__ float A_tile[BM][BK];
    __shared__ float B_tile[BK][BN];

    // 1. Find my results, TM x TN elements from (row, col), and their place in the tiles.
    const int tiles_down = (M - 1) / BM + 1;
    const int tile_row = blockIdx.x % tiles_down;
    const int tile_col = blockIdx.x / tiles_down;
    const int thread_row = threadIdx.x / (BN / TN) * TM;
    const int thread_col = threadIdx.x % (BN / TN) * TN;
    const int row = tile_row * BM + thread_row;
    const int col = tile_col * BN + thread_col;

    // All threads together fetch STRIDE_A whole rows of A_tile at a time, and STRIDE_B of
    // B_tile, until they have all. Neighbours stay on neighbouring addresses.
    const int STRIDE_A = THREADS / BK;
    const int STRIDE_B = THREADS / BN;
    const int load_a_row = threadIdx.x / BK;
    const int load_a_col = threadIdx.x % BK;
    const int load_b_row = threadIdx.x / BN;
    const int load_b_col = threadIdx.x % BN;
    const int a_row = tile_row * BM + load_a_row;
    const int b_col = tile_col * BN + load_b_col;

    // The first element of A and the first of B that this thread fetches next.
    const float *a_next = A + (size_t)a_row * K + load_a_col;
    const float *b_next = B + (size_t)load_b_row * N + b_col;

    float acc[TM][TN] = {{0.0f}};
    for (int k0 = 0; k0 < K; k0 += BK) {
        // 2. Fetch LOADS elements for each tile, zeros outside the matrices.
        float a_value[LOADS], b_value[LOADS];
        for (int i = 0; i < LOADS; ++i) {
            const int m = i * STRIDE_A, k = i * STRIDE_B;
            const bool in_a = a_row + m < M && k0 + load_a_col < K;
            const bool in_b = k0 + load_b_row + k < K && b_col < N;
            a_value[i] = in_a ? a_next[(size_t)m * K] : 0.0f;
            b_value[i] = in_b ? b_next[(size_t)k * N] : 0.0f;
        }
        a_next += BK;
        b_next += (size_t)BK * N;

        // 3. Put them in the tiles, between the two barriers.
        __syncthreads();
        for (int i = 0; i < LOADS; ++i) {
            A_tile[load_a_row + i * STRIDE_A][load_a_col] = a_value[i];
            B_tile[load_b_row + i * STRIDE_B][load_b_col] = b_value[i];
        }
        __syncthreads();

        // 4. Compute: a piece of a column of A_tile times a piece of a row of B_tile.
        //    Unrolled over k as well, the compiler can read ahead and mix the reads with
        //    the arithmetic.
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a_frag[TM], b_frag[TN];
            for (int m = 0; m < TM; ++m)
                a_frag[m] = A_tile[thread_row + m][k];
            for (int n = 0; n < TN; ++n)
                b_frag[n] = B_tile[k][thread_col + n];
            for (int m = 0; m < TM; ++m)
                for (int n = 0; n < TN; ++n)
                    acc[m][n] += a_frag[m] * b_frag[n];
        }
    }

    // 5. Store the results that lie inside C; beta == 0 must not read C.
    float *c = &C[(size_t)row * N + col];
    for (int m = 0; m < TM && row + m < M; ++m) {
        for (int n = 0; n < TN && col + n < N; ++n) {
            const float old = beta == 0.0f ? 0.0f : c[n];
            c[n] = alpha * acc[m][n] + beta * old;
        }
        c += N;
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
    matmul_kernel<<<tiles_down * tiles_across, THREADS>>>(M, N, K, alpha, A, B, beta, C);
}

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 5,
        .title = "2D thread tiling: a thread owns a square",
        .about = "registers",
        .launch = matmul,
        .BM = BM,
        .BN = BN,
        .TM = TM,
        .TN = TN,
        .blocks_go_down = true,
        .flop_per_byte = 0.5 * BM * BN / (BM + BN),
        .kernel = KERNEL(matmul_kernel),
        .threads = THREADS,
    };
    return chapter_main(argc, argv, &chapter);
}
