/*
 * Chapter 8: fetch the next tile while this one is multiplied.
 *
 * What changes against chapter 7: a round of the loop asks for a tile, multiplies the one
 * that came the round before, and only then looks at what it asked for. While memory
 * answers, the multiprocessor multiplies. There are two buffers in shared memory, one to
 * multiply and one to fill, so that one barrier a round is enough.
 *
 *     chapter 7   | fetch 0 . . . . fill 0 || multiply 0 | fetch 1 . . . . fill 1 || ...
 *
 *     chapter 8   | fetch 0 . . . . fill 0 | fetch 1     . . . .    fill 1 | fetch 2 ...
 *                                          | multiply 0 . . . . . .        | multiply 1
 *                                                                           time -->
 *
 * Run it:  make chapter8 && ./chapter8
 */
#include "matmul.h"

// A block covers BM x BN elements of C and takes BK steps along K at a time.
const int BM = 128;
const int BN = 128;
const int BK = 16;
const int TM = 8; // results a thread: TM rows
const int TN = 8; // by TN columns of C, in squares of 4 x 4
const int THREADS = BM * BN / (TM * TN);
// A thread's squares lie this far apart, with those of its neighbours between them.
const int ROW_STEP = BM / (TM / 4);
const int COL_STEP = BN / (TN / 4);
// Without padding, rows of A_tile that are 4 apart start in the same bank: 4 * 128 floats
// are a multiple of 32. 4 floats more a row move them 16 banks apart, and 4 is also the
// least that keeps every row on a multiple of 16 bytes, as float4s need it.
const int PADDING = 4;
// The float4s of a tile that each thread fetches, and the steps of k between two of them.
const int LOADS = BM * BK / 4 / THREADS;
const int LOAD_STEP = BK / LOADS;

static_assert(BM % TM == 0, "TM must divide BM, or some rows have no thread");
static_assert(BN % TN == 0, "TN must divide BN, or some columns have no thread");
static_assert(TM % 4 == 0 && TN % 4 == 0, "TM and TN must be multiples of 4: float4s");
static_assert(BM == BN, "both tiles take the same number of float4s a thread");
static_assert(LOADS * THREADS * 4 == BM * BK, "all threads fetch the same number");
static_assert(LOADS * LOAD_STEP == BK, "the fetches of a thread divide the steps of k");
static_assert(LOAD_STEP == 8, "a warp fetches 16 rows of A, 8 floats each: see PADDING");
static_assert(THREADS <= 1024, "a block has at most 1,024 threads: raise TM or TN");

// Copies the four floats at `from`, of which `left` lie inside the matrix, and puts zeros
// for the others. Moving them as one float4 is a promise that the address is a multiple
// of 16 bytes, and the GPU faults when it is broken. ALIGNED says that this matrix keeps
// it: then its rows are whole float4s, and the four are all inside or all outside.
template <bool ALIGNED> __device__ void load4(float *to, const float *from, int left)
{
    if (ALIGNED && left > 0)
        *(float4 *)to = *(const float4 *)from;
    else
        for (int i = 0; i < 4; ++i)
            to[i] = i < left ? from[i] : 0.0f;
}

// The way back, into the matrix: at least the first of the four has its place there.
template <bool ALIGNED> __device__ void store4(float *to, const float *from, int left)
{
    if (ALIGNED)
        *(float4 *)to = *(const float4 *)from;
    else
        for (int i = 0; i < 4 && i < left; ++i)
            to[i] = from[i];
}

template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS, 2)
    matmul_kernel(int M, int N, int K, float alpha, const float *A, const float *B,
                  float beta, float *C)
{
    // Aligned, because float4s are read from them. A_tile lies transposed, k first.
    // Two of each: one to multiply, one to fill.
    __shared__ __align__(16) float A_tile[2][BK][BM + PADDING];
    __shared__ __align__(16) float B_tile[2][BK][BN];

    // 1. Find my results: the first square starts at (row, col), and 16 bytes further on
    //    starts my neighbour's.
    const int tiles_down = (M - 1) / BM + 1;
    const int tile_row = blockIdx.x % tiles_down;
    const int tile_col = blockIdx.x / tiles_down;
    const int thread_row = threadIdx.x / (BN / TN) * 4;
    const int thread_col = threadIdx.x % (BN / TN) * 4;
    const int row = tile_row * BM + thread_row;
    const int col = tile_col * BN + thread_col;

    // LOADS float4s of each tile a thread, LOAD_STEP steps of k apart: in that stretch a
    // row of A's tile has LOAD_STEP / 4 of them, a row of B's tile BN / 4.
    const int load_a_row = threadIdx.x / (LOAD_STEP / 4);
    const int load_a_col = threadIdx.x % (LOAD_STEP / 4) * 4;
    const int load_b_row = threadIdx.x / (BN / 4);
    const int load_b_col = threadIdx.x % (BN / 4) * 4;
    const int a_row = tile_row * BM + load_a_row;
    const int b_col = tile_col * BN + load_b_col;

    float acc[TM][TN] = {{0.0f}};
    int now = 0; // the buffer to multiply
    // A round more than there are tiles: it fetches the tile at k0 and multiplies the one
    // at k0 - BK. The first has nothing to multiply, and what the last one fetches lies
    // past the end of K, so it brings zeros.
    for (int k0 = 0; k0 < K + BK; k0 += BK) {
        // 2. Fetch into registers. No instruction needs the data before step 4.
        __align__(16) float a[LOADS][4], b[LOADS][4];
        for (int i = 0; i < LOADS; ++i) {
            const int a_col = k0 + load_a_col + i * LOAD_STEP;
            const int b_row = k0 + load_b_row + i * LOAD_STEP;
            const int a_left = a_row < M ? K - a_col : 0;
            const int b_left = b_row < K ? N - b_col : 0;
            load4<ALIGNED>(a[i], &A[(size_t)a_row * K + a_col], a_left);
            load4<ALIGNED>(b[i], &B[(size_t)b_row * N + b_col], b_left);
        }

        // 3. Compute: pieces of a row of A_tile times pieces of a row of B_tile. Four
        //    reads of 16 bytes feed 64 products, and none of them waits for a bank.
        if (k0 > 0) {
#pragma unroll
            for (int k = 0; k < BK; ++k) {
                __align__(16) float a_frag[TM], b_frag[TN];
                for (int m = 0; m < TM; m += 4)
                    *(float4 *)&a_frag[m] =
                        *(const float4 *)&A_tile[now][k][thread_row + m / 4 * ROW_STEP];
                for (int n = 0; n < TN; n += 4)
                    *(float4 *)&b_frag[n] =
                        *(const float4 *)&B_tile[now][k][thread_col + n / 4 * COL_STEP];
                for (int m = 0; m < TM; ++m)
                    for (int n = 0; n < TN; ++n)
                        acc[m][n] += a_frag[m] * b_frag[n];
            }
        }

        // 4. Fill the other buffer. Who is still multiplying reads this one; all have
        //    left the other one since the last barrier.
        now ^= 1;
        for (int i = 0; i < LOADS; ++i) {
            for (int j = 0; j < 4; ++j)
                A_tile[now][load_a_col + i * LOAD_STEP + j][load_a_row] = a[i][j];
            *(float4 *)&B_tile[now][load_b_row + i * LOAD_STEP][load_b_col] =
                *(float4 *)b[i];
        }
        __syncthreads();
    }

    // 5. Store the results that lie inside C; beta == 0 must not read C.
    for (int m = 0; m < TM; ++m) {
        for (int n = 0; n < TN; n += 4) {
            const int c_row = row + m / 4 * ROW_STEP + m % 4;
            const int left = N - (col + n / 4 * COL_STEP);
            if (c_row >= M || left <= 0)
                continue;
            float *c = &C[(size_t)c_row * N + N - left];
            __align__(16) float v[4];
            load4<ALIGNED>(v, c, beta == 0.0f ? 0 : left);
            for (int i = 0; i < 4; ++i)
                v[i] = alpha * acc[m][n + i] + beta * v[i];
            store4<ALIGNED>(c, v, left);
        }
    }
}

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    // (M - 1) / BM + 1 rounds up, so the last, partly filled tile gets a block too. The
    // grid is a line and not a rectangle because only its x may pass 65,535.
    const unsigned blocks = ((M - 1) / BM + 1u) * ((N - 1) / BN + 1u);
    // Every row starts at a multiple of 16 bytes if the first one does and if rows are
    // whole float4s: K floats in A, N in B and C. Other shapes take the slower kernel.
    const bool aligned = K % 4 == 0 && N % 4 == 0 && (size_t)A % 16 == 0 &&
                         (size_t)B % 16 == 0 && (size_t)C % 16 == 0;
    if (aligned)
        matmul_kernel<true><<<blocks, THREADS>>>(M, N, K, alpha, A, B, beta, C);
    else
        matmul_kernel<false><<<blocks, THREADS>>>(M, N, K, alpha, A, B, beta, C);
}

// The thread that owns element (row, col) of a tile, for the report of a wrong result.
static int thread_of(int row, int col)
{
    return row % ROW_STEP / 4 * (BN / TN) + col % COL_STEP / 4;
}

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 8,
        .title = "prefetching: fetch the next while computing this one",
        .about = "copies",
        .launch = matmul,
        .BM = BM,
        .BN = BN,
        .TM = TM,
        .TN = TN,
        .blocks_go_down = true,
        .thread_of = thread_of,
        .flop_per_byte = 0.5 * BM * BN / (BM + BN),
        .kernel = KERNEL(matmul_kernel<true>),
        .threads = THREADS,
    };
    return chapter_main(argc, argv, &chapter);
}
