/*
 * Chapter 4: let one thread compute eight results.
 *
 * What changes against chapter 3: a thread owns a column of TM = 8 elements of C, so a
 * value of B, once read from shared memory, is used eight times from a register.
 *
 *                         B_tile  BK x BN
 *                            | k                for each k a thread reads
 *                            v                    1 value of B and
 *     A_tile  BM x BK  k -> [acc 0]               TM values of A
 *                      k -> [acc 1]             and makes TM products: 9 reads for 8,
 *                      ...    ...               where chapter 3 needed 16
 *                      k -> [acc 7]
 *
 * Run it:  make chapter4 && ./chapter4
 */
#include "matmul.h"

// A block covers BM x BN elements of C and takes BK steps along K at a time. The tiles
// of A and B are longer and thinner than in chapter 3: half the memory, 4 times the C.
const int BM = 64;
const int BN = 64;
const int BK = 8;
const int TM = 8; // results a thread, in one column of C
const int THREADS = BM * BN / TM;

static_assert(BM % TM == 0, "TM must divide BM, or some rows have no thread");
static_assert(BM * BK == THREADS, "A_tile takes one element a thread: BM * BK threads");
static_assert(BK * BN == THREADS, "B_tile takes one element a thread: BK * BN threads");
static_assert(THREADS <= 1024, "a block has at most 1,024 threads: raise TM");

__global__ void __launch_bounds__(THREADS)
    matmul_kernel(int M, int N, int K, float alpha, const float *A, const float *B,
                  float beta, float *C)
{
    __shared__ float A_tile[BM][BK];
    __shared__ float B_tile[BK][BN];

    // 1. Find my results, rows row .. row + TM - 1 of column col, and their place in the
    //    tiles.
    const int tiles_down = (M - 1) / BM + 1;
    const int tile_row = blockIdx.x % tiles_down;
    const int tile_col = blockIdx.x / tiles_down;
    const int thread_row = threadIdx.x / BN * TM;
    const int thread_col = threadIdx.x % BN;
    const int row = tile_row * BM + thread_row;
    const int col = tile_col * BN + thread_col;

    // The tiles have another shape than the threads' results, so loading has indices of
    // its own. They keep neighbours on neighbouring addresses of A and of B.
    const int load_a_row = threadIdx.x / BK;
    const int load_a_col = threadIdx.x % BK;
    const int load_b_row = threadIdx.x / BN;
    const int load_b_col = threadIdx.x % BN;
    const int a_row = tile_row * BM + load_a_row;
    const int b_col = tile_col * BN + load_b_col;

    // The element of A and the one of B that this thread fetches next.
    const float *a_next = A + (size_t)a_row * K + load_a_col;
    const float *b_next = B + (size_t)load_b_row * N + b_col;
    const bool whole = (tile_row + 1) * BM <= M && (tile_col + 1) * BN <= N;

    // The sums stay in registers. A register can be named but not indexed, so every
    // index into acc has to be a constant: it is, once the loops over m are unrolled.
    float acc[TM] = {0.0f};
    for (int k0 = 0; k0 < K; k0 += BK) {
        // 2. Fetch one element for each tile, zeros outside the matrices.
        float a_value = 0.0f, b_value = 0.0f;
        if (whole && k0 + BK <= K) {
            a_value = *a_next;
            b_value = *b_next;
        } else {
            if (a_row < M && k0 + load_a_col < K)
                a_value = *a_next;
            if (k0 + load_b_row < K && b_col < N)
                b_value = *b_next;
        }
        a_next += BK;
        b_next += (size_t)BK * N;

        // 3. Put them in the tiles, between the two barriers.
        __syncthreads();
        A_tile[load_a_row][load_a_col] = a_value;
        B_tile[load_b_row][load_b_col] = b_value;
        __syncthreads();

        // 4. Compute. k is the outer loop, so that one value of B meets TM of A.
        for (int k = 0; k < BK; ++k) {
            const float b = B_tile[k][thread_col];
            for (int m = 0; m < TM; ++m)
                acc[m] += A_tile[thread_row + m][k] * b;
        }
    }

    // 5. Store the results that lie inside C; beta == 0 must not read C.
    float *c = &C[(size_t)row * N + col];
    for (int m = 0; m < TM && row + m < M && col < N; ++m) {
        const float old = beta == 0.0f ? 0.0f : *c;
        *c = alpha * acc[m] + beta * old;
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
        .number = 4,
        .title = "1D thread tiling: a thread owns a column",
        .about = "registers",
        .launch = matmul,
        .BM = BM,
        .BN = BN,
        .TM = TM,
        .TN = 1,
        .blocks_go_down = true,
        .flop_per_byte = 0.5 * BM * BN / (BM + BN),
        .kernel = KERNEL(matmul_kernel),
        .threads = THREADS,
    };
    return chapter_main(argc, argv, &chapter);
}
