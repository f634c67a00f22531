/*
 * Chapter 10: load the next while computing this one.
 *
 * What changes against chapter 9: tiles travel from global to shared memory by
 * themselves. A thread starts a copy (cp.async) and goes on; three stages of tiles stand
 * in shared memory, one being multiplied while the other two are on their way, and a
 * thread waits only for the oldest copies it has started. No register holds what is
 * on its way, and no thread carries it the second half of the way.
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
static_assert(A_COPIES * A_STEP == BM, "the copies cover A_tile");
static_assert(A_COPIES <= BK && BK * BN / THREADS <= BK, "a copy of each per step of k");
static_assert(BK % 2 == 0, "fragments take turns, and a tile must start with the first");
static_assert(STAGES >= 3, "one tile in use, one that has arrived, one to copy into");

typedef float a_tile[BK][BM + PADDING]; // transposed, k first
typedef float b_tile[BK][BN];

// Where this thread's next copies come from: a float of A in each of A_COPIES rows, all
// at k = a_k, and the first WIDTH floats of B at k = b_k. They land in column b_col of
// B_tile.
struct source {
    const float *A[A_COPIES], *B;
    int a_k, b_k, b_col;
};

// Starts the copies of step `step` of BK for the next tile; the last step ends the tile.
// A few copies a step, because the unit that takes them has a short queue: all at once,
// and the warp stands before it. WIDTH floats of B go at once: 4 if its rows start at
// multiples of 16 bytes, else 1.
template <int WIDTH>
__device__ void start_copies(int step, struct source *from, a_tile *A_tile,
                             b_tile *B_tile, int N, int K)
{
    const int B_COPIES = BK * BN / (WIDTH * THREADS);
    const int B_STEP = BK / B_COPIES; // rows between a thread's copies
    static_assert(B_COPIES * WIDTH * THREADS == BK * BN, "the copies cover B_tile");
    static_assert(BN / WIDTH <= THREADS, "a row of B is copied by threads of one turn");

    // What lies past the end of K is not read: those copies bring zeros. The last
    // argument says how many of the bytes are to be zeros.
    if (step < A_COPIES) {
        const int row = threadIdx.x / BK + step * A_STEP;
        __pipeline_memcpy_async(&(*A_tile)[threadIdx.x % BK][row], from->A[step],
                                sizeof(float), from->a_k < K ? 0 : sizeof(float));
        from->A[step] += BK;
    }
    if (step < B_COPIES) {
        const int k = threadIdx.x / (BN / WIDTH) + step * B_STEP;
        const int left = K - (from->b_k + step * B_STEP);
        const float *b = from->B + (size_t)step * B_STEP * N;
        __pipeline_memcpy_async(&(*B_tile)[k][from->b_col], b, WIDTH * sizeof(float),
                                left > 0 ? 0 : WIDTH * sizeof(float));
    }
    // What was started since the last commit is a group, and groups are what one waits
    // for.
    if (step == BK - 1) {
        from->a_k += BK;
        from->b_k += BK;
        from->B += (size_t)BK * N;
        __pipeline_commit();
    }
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

// As in chapter 6, but only C comes this way now: A and B have copies of their own. Reads
// the four floats of C from `from` on, of which `left` lie inside the matrix, and puts
// zeros for the others: as one float4 where WIDTH says that the address allows it.
template <int WIDTH> __device__ void load4(float *to, const float *from, int left)
{
    if (WIDTH == 4 && left > 0)
        *(float4 *)to = *(const float4 *)from;
    else
        for (int i = 0; i < 4; ++i)
            to[i] = i < left ? from[i] : 0.0f;
}

// The way back, into the matrix: at least the first of the four has its place there.
template <int WIDTH> __device__ void store4(float *to, const float *from, int left)
{
    if (WIDTH == 4)
        *(float4 *)to = *(const float4 *)from;
    else
        for (int i = 0; i < 4 && i < left; ++i)
            to[i] = from[i];
}

template <int WIDTH>
__global__ void __launch_bounds__(THREADS, 2)
    matmul_kernel(int M, int N, int K, float alpha, const float *A, const float *B,
                  float beta, float *C)
{
    __shared__ __align__(16) a_tile A_tile[STAGES];
    __shared__ __align__(16) b_tile B_tile[STAGES];

    // 1. Find my results: the block's tile, my warp's square in it, my lane's place in
    //    that.
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
    //    last ones: somebody multiplies them, nobody stores the result.
    struct source from;
    from.a_k = threadIdx.x % BK;
    from.b_k = threadIdx.x / (BN / WIDTH);
    from.b_col = threadIdx.x % (BN / WIDTH) * WIDTH;
    for (int i = 0; i < A_COPIES; ++i) {
        const int a_row = tile_row * BM + threadIdx.x / BK + i * A_STEP;
        from.A[i] = &A[(size_t)min(a_row, M - 1) * K + from.a_k];
    }
    const int b_col = tile_col * BN + from.b_col;
    from.B = &B[(size_t)from.b_k * N + min(b_col, (N - 1) / WIDTH * WIDTH)];

    // 3. Send the first tiles on their way, and wait for the oldest: all but the newest
    //    STAGES - 2 groups of my copies must have arrived, and the barrier says the same
    //    of everybody's.
    for (int stage = 0; stage < STAGES - 1; ++stage)
        for (int step = 0; step < BK; ++step)
            start_copies<WIDTH>(step, &from, &A_tile[stage], &B_tile[stage], N, K);
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();

    float acc[TM][TN];
    for (int m = 0; m < TM; ++m)
        for (int n = 0; n < TN; ++n)
            acc[m][n] = 0.0f;
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
            //    copies have and the barrier says the same of everybody's; after it,
            //    nobody reads the stage before this one, and it may be copied into.
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
            start_copies<WIDTH>(k, &from, &A_tile[next], &B_tile[next], N, K);
            for (int m = 0; m < TM; ++m)
                for (int i = 0; i < TN; ++i) {
                    const int n = m % 2 ? i : TN - 1 - i;
                    acc[m][n] += a_frag[k % 2][m] * b_frag[k % 2][n];
                }
        }
        next = next + 1 < STAGES ? next + 1 : 0;
    }
    // The last copies brought zeros that nobody needs. They are still copies into this
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
            load4<WIDTH>(v, c, beta == 0.0f ? 0 : left);
            for (int i = 0; i < 4; ++i)
                v[i] = alpha * acc[m][n + i] + beta * v[i];
            store4<WIDTH>(c, v, left);
        }
    }
}

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    // (M - 1) / BM + 1 rounds up, so the last, partly filled tile gets a block too.
    const unsigned blocks = ((M - 1) / BM + 1u) * ((N - 1) / BN + 1u);
    // Rows of B and C have to be whole float4s. A travels float by float anyhow.
    const bool aligned = N % 4 == 0 && (size_t)B % 16 == 0 && (size_t)C % 16 == 0;
    if (aligned)
        matmul_kernel<4><<<blocks, THREADS>>>(M, N, K, alpha, A, B, beta, C);
    else
        matmul_kernel<1><<<blocks, THREADS>>>(M, N, K, alpha, A, B, beta, C);
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
        .title = "asynchronous pipeline: load the next",
        .about = "copies",
        .launch = matmul,
        .BM = BM,
        .BN = BN,
        .TM = TM,
        .TN = TN,
        .blocks_go_down = true,
        .thread_of = thread_of,
        .flop_per_byte = 0.5 * BM * BN / (BM + BN),
        .kernel = KERNEL(matmul_kernel<4>),
        .threads = THREADS,
    };
    return chapter_main(argc, argv, &chapter);
}
