/*
 * Chapter 10: memory to shared memory without registers.
 *
 * What changes against chapter 9: tiles travel from global to shared memory by
 * themselves. A thread starts a copy (cp.async) and goes on; three stages of tiles are in
 * shared memory, one being multiplied while the other two are on their way, and a thread
 * waits only for the oldest copies it has started. No register holds what is on its way,
 * and no thread carries it the second half of the way.
 *
 *     stage 0   | copy 0 |  . . .  | multiply 0 | copy 3 | . . .   | multiply 3 |
 *     stage 1            | copy 1  |    . . .   | multiply 1 | copy 4 |  . . .
 *     stage 2                      | copy 2 |      . . .     | multiply 2 | copy 5 |
 *                                                                        time -->
 *
 * Run it:  make chapter10 && ./chapter10
 */
#include "matmul.h"

#include <cuda_pipeline.h>

// A block covers BM x BN elements of C and takes BK steps along K at a time.
const int BM = 128;
const int BN = 128;
const int BK = 8;
const int WM = 64; // a warp: WM x WN of the block's tile
const int WN = 64;
const int TM = 16;    // results a thread: TM rows
const int TN = 8;     // by TN columns of C, in squares of 4 x 4
const int STAGES = 3; // tiles in shared memory: one in use, the others on their way
const int THREADS = BM * BN / (TM * TN);
// A thread's squares lie this far apart, with those of the other lanes between them.
const int ROW_STEP = WM / (TM / 4);
const int COL_STEP = WN / (TN / 4);
// A copy cannot turn four floats around on its way. So A travels float by float, each to
// its place in the transposed tile; 8 lanes bring 8 steps of k of a row, 4 rows a warp,
// and 4 floats of padding put these 32 into 32 banks: k * 132 + row.
const int PADDING = 4;
const int A_COPIES = BM * BK / THREADS;
const int A_STEP = THREADS / BK; // rows between a thread's copies

static_assert(BM % WM == 0 && BN % WN == 0, "whole warp tiles cover the block's tile");
static_assert(WM == 4 * TM && WN == 8 * TN, "a warp is 4 lanes down and 8 across");
static_assert(TM % 4 == 0 && TN % 4 == 0, "TM and TN must be multiples of 4: float4s");
static_assert(A_COPIES * A_STEP == BM && A_COPIES <= BK, "one copy of A a step of k");
static_assert(BK * BN <= BK * THREADS, "at most one copy of B a step of k");
static_assert(BK % 2 == 0, "fragments take turns, and a tile must start with the first");
static_assert(STAGES >= 3, "one tile in use, one that has arrived, one to copy into");
static_assert(THREADS <= 1024, "a block has at most 1,024 threads: raise TM or TN");

// As in chapter 6, but only C comes this way now: A and B have copies of their own. Reads
// the four floats of C from `from` on, of which `left` lie inside the matrix, and puts
// zeros for the others: as one float4 where ALIGNED says that the address allows it.
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

// Starts the copies of step `step` of BK for the tile at k0; the last step ends the tile.
// A few copies a step: started in a row, they perhaps delay the reads of shared memory
// behind them (tried/copies_at_once.diff). Of B four floats go at once if its rows start at
// multiples of 16 bytes, else one. *a_from and *b_from, where the next copies come from,
// move on.
template <bool ALIGNED>
__device__ void start_copies(int step, int k0, const float **a_from, const float **b_from,
                             float (*A_tile)[BM + PADDING], float (*B_tile)[BN], int N,
                             int K)
{
    const int WIDTH = ALIGNED ? 4 : 1;
    const int B_STEP = THREADS * WIDTH / BN; // rows between a thread's copies

    // What lies past the end of K is not read: those copies bring zeros. The last
    // argument says how many of the bytes are to be zeros.
    if (step < A_COPIES) {
        const int k = threadIdx.x % BK, row = threadIdx.x / BK + step * A_STEP;
        __pipeline_memcpy_async(&A_tile[k][row], a_from[step], sizeof(float),
                                k0 + k < K ? 0 : sizeof(float));
        a_from[step] += BK;
    }
    if (step * B_STEP < BK) {
        const int k = threadIdx.x * WIDTH / BN + step * B_STEP;
        __pipeline_memcpy_async(&B_tile[k][threadIdx.x * WIDTH % BN], *b_from,
                                WIDTH * sizeof(float),
                                k0 + k < K ? 0 : WIDTH * sizeof(float));
        *b_from += (size_t)B_STEP * N;
    }
    // What was started since the last commit is a group, and groups are what one waits
    // for.
    if (step == BK - 1)
        __pipeline_commit();
}

// Reads what a thread needs for one step of k: TM floats of a row of A_tile and TN of a
// row of B_tile, in float4s, from where its first squares lie.
__device__ void load_fragments(float *a_frag, float *b_frag, const float *a_row,
                               const float *b_row)
{
    for (int m = 0; m < TM; m += 4)
        *(float4 *)&a_frag[m] = *(const float4 *)&a_row[m / 4 * ROW_STEP];
    for (int n = 0; n < TN; n += 4)
        *(float4 *)&b_frag[n] = *(const float4 *)&b_row[n / 4 * COL_STEP];
}

template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS, 2)
    matmul_kernel(int M, int N, int K, float alpha, const float *A, const float *B,
                  float beta, float *C)
{
    // Aligned, because float4s are read from them. A_tile lies transposed, k first.
    __shared__ __align__(16) float A_tile[STAGES][BK][BM + PADDING];
    __shared__ __align__(16) float B_tile[STAGES][BK][BN];

    // 1. Find my results: the block's tile, my warp's square in it, my lane's place in
    //    that. The 8 lanes of a row want the same float4 of A: one answer serves them.
    //    The 4 of a column want the same of B, but are never served together.
    const int tiles_down = (M - 1) / BM + 1;
    const int tile_row = blockIdx.x % tiles_down;
    const int tile_col = blockIdx.x / tiles_down;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int lane_row = lane / 8, lane_col = lane % 8;
    const int thread_row = warp / (BN / WN) * WM + lane_row * 4;
    const int thread_col = warp % (BN / WN) * WN + lane_col * 4;
    const int row = tile_row * BM + thread_row;
    const int col = tile_col * BN + thread_col;

    // 2. Find my copies. Rows and columns past the end of the matrix are copied from the
    //    last ones: they are multiplied, and no result is stored.
    const int WIDTH = ALIGNED ? 4 : 1;
    const float *a_from[A_COPIES];
    for (int i = 0; i < A_COPIES; ++i) {
        const int a_row = tile_row * BM + threadIdx.x / BK + i * A_STEP;
        a_from[i] = &A[(size_t)min(a_row, M - 1) * K + threadIdx.x % BK];
    }
    const int b_row = threadIdx.x * WIDTH / BN;
    const int b_col = tile_col * BN + threadIdx.x * WIDTH % BN;
    const float *b_from = &B[(size_t)b_row * N + min(b_col, (N - 1) / WIDTH * WIDTH)];

    float acc[TM][TN] = {{0.0f}};
    // 3. Send the first tiles on their way, and wait for the oldest: all but the newest
    //    STAGES - 2 groups of my copies must have arrived, and the barrier says the same
    //    of all others'.
    for (int stage = 0; stage < STAGES - 1; ++stage)
        for (int step = 0; step < BK; ++step)
            start_copies<ALIGNED>(step, stage * BK, a_from, &b_from, A_tile[stage],
                                  B_tile[stage], N, K);
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();

    // Two of each: one to multiply, one to read the next step's operands into.
    __align__(16) float a_frag[2][TM], b_frag[2][TN];
    load_fragments(a_frag[0], b_frag[0], &A_tile[0][0][thread_row],
                   &B_tile[0][0][thread_col]);
    // The stage in use, and the one to copy into: the one that was in use before it.
    int now = 0, next = STAGES - 1;
    for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            // 4. The last step reads ahead into the next tile. It has arrived when my own
            //    copies have and the barrier says the same of all others'; after it, no
            //    warp reads the stage before this one, and it may be copied into.
            if (k == BK - 1) {
                __pipeline_wait_prior(STAGES - 3);
                __syncthreads();
                now = now + 1 < STAGES ? now + 1 : 0;
            }
            // 5. Read for the next step, start a few copies, compute this step: three
            //    things that do not wait for each other.
            load_fragments(a_frag[(k + 1) % 2], b_frag[(k + 1) % 2],
                           &A_tile[now][(k + 1) % BK][thread_row],
                           &B_tile[now][(k + 1) % BK][thread_col]);
            start_copies<ALIGNED>(k, k0 + (STAGES - 1) * BK, a_from, &b_from,
                                  A_tile[next], B_tile[next], N, K);
            for (int m = 0; m < TM; ++m)
                for (int i = 0; i < TN; ++i) {
                    const int n = m % 2 ? TN - 1 - i : i;
                    acc[m][n] += a_frag[k % 2][m] * b_frag[k % 2][n];
                }
        }
        next = next + 1 < STAGES ? next + 1 : 0;
    }
    // The last copies brought zeros that are not needed. They are still copies into this
    // block's memory, which goes to another block when this one ends.
    __pipeline_wait_prior(0);

    // 6. Store the results that lie inside C; beta == 0 must not read C. Unrolled,
    //    because registers have no addresses: an acc[m] with an m that varies would move
    //    to memory.
#pragma unroll
    for (int m = 0; m < TM; ++m) {
#pragma unroll
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
    // Rows of B and C have to be whole float4s. A travels float by float anyhow.
    const bool aligned = N % 4 == 0 && (size_t)B % 16 == 0 && (size_t)C % 16 == 0;
    if (aligned)
        matmul_kernel<true><<<blocks, THREADS>>>(M, N, K, alpha, A, B, beta, C);
    else
        matmul_kernel<false><<<blocks, THREADS>>>(M, N, K, alpha, A, B, beta, C);
}

// The thread that owns element (row, col) of a tile, for the report of a wrong result.
static int thread_of(int row, int col)
{
    const int warp = row / WM * (BN / WN) + col / WN;
    const int lane_row = row % ROW_STEP / 4, lane_col = col % COL_STEP / 4;
    return warp * 32 + lane_row * 8 + lane_col;
}

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 10,
        .title = "asynchronous copies: past the registers",
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
