/*
 * Chapter 11: let the machine choose.
 *
 * What changes against chapter 10: the constants are parameters of a template, so the
 * kernel is here in several variants at once. Which ones, and for which GPU and shape,
 * stands in winners.txt, and a program wrote that: `./chapter11 --tune` compiles
 * hundreds, checks them, times them against each other and notes the fastest (tune.c).
 *
 *     winners.txt                                      4096 x 4096 x 4096 ?
 *     "NVIDIA H200"   4096, 4096, 4096,  128, 256 ...  <----- the row most like it
 *     "any"           4096, 4096, 4096,  128, 256 ...  for GPUs that have no rows yet
 *
 * Run it:  make chapter11 && ./chapter11
 */
#include "matmul.h"
#include "tune.h"
#include <cuda_pipeline.h>
#include <string.h>

// What the GPU starts. A kernel cannot be a member of a struct, so it only calls the
// variant's own function, and the compiler makes one of the two. V's bounds are what the
// compiler divides the registers by.
template <class V>
__global__ void __launch_bounds__(V::THREADS, V::BLOCKS_PER_SM)
    matmul_kernel(int M, int N, int K, float alpha, const float *A, const float *B,
                  float beta, float *C)
{
    V::multiply(M, N, K, alpha, A, B, beta, C);
}

// Chapter 10's kernel with its constants left open: for every combination of them that is
// used somewhere, the compiler makes a struct with functions of its own, and can unroll
// and assign registers as if they were written there. Besides chapter 10's constants there
// are some that it took for granted:
//   WIDTH   floats of B and C that move at once: 4 where addresses allow it, else 1
//   LANES   a warp is LANES threads down and 32 / LANES across
//   BLOCKS  the compiler must leave registers for so many blocks on an SM
//   GROUP   blocks that follow each other go so many tiles down, then one to the right
//   TURN    0 or 1: whether a thread's odd or its even rows of products run backwards.
//           No theory says which; the compiler's choice of registers depends on it
template <int WIDTH, int BM, int BN, int BK, int TM, int TN, int STAGES, int LANES,
          int BLOCKS, int GROUP, int TURN>
struct variant {
    static const int THREADS = BM * BN / (TM * TN), BLOCKS_PER_SM = BLOCKS;
    static const int WM = LANES * TM, WN = 32 / LANES * TN; // the warp's tile
    static const int ROW_STEP = WM / (TM / 4), COL_STEP = WN / (TN / 4);
    static const int PADDING = 4; // floats more a row of A_tile: chapter 7
    static const int A_COPIES = BM * BK / THREADS, A_STEP = THREADS / BK;
    static const int B_COPIES = BK * BN / (WIDTH * THREADS);
    static const int B_STEP = THREADS / (BN / WIDTH); // rows between a thread's copies
    static const int SHARED_BYTES = STAGES * BK * (BM + PADDING + BN) * sizeof(float);

    // What every variant must keep to. The tuner asks the same of a candidate before it
    // troubles the compiler; this is for lines written by hand.
    static_assert(BM % WM == 0 && BN % WN == 0, "whole warp tiles cover the block's");
    static_assert(A_COPIES * A_STEP == BM, "the copies cover A_tile");
    static_assert(B_COPIES * B_STEP == BK, "the copies cover B_tile");
    static_assert(A_COPIES <= BK && B_COPIES <= BK, "a copy of each per step of k");
    static_assert(BK % 2 == 0, "fragments take turns: a tile starts with the first");
    static_assert(STAGES >= 3, "one tile in use, one arrived, one to copy into");
    // A's tile lies transposed, k first, as in every chapter since the sixth.
    typedef float a_tile[BK][BM + PADDING];
    typedef float b_tile[BK][BN];

    // Where this thread's next copies come from: a float of A in each of A_COPIES rows
    // at k = a_k, and the first WIDTH floats of B at k = b_k, for column b_col of B_tile.
    struct source {
        const float *A[A_COPIES], *B;
        int a_k, b_k, b_col;
    };

    // Starts the copies of step `step` of BK for the next tile; the last step ends it.
    // What lies past the end of K is not read: those copies bring zeros, and the last
    // argument says how many bytes of them.
    static __device__ void start_copies(int step, struct source *from, a_tile *A_tile,
                                        b_tile *B_tile, int N, int K)
    {
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
        if (step == BK - 1) {
            from->a_k += BK;
            from->b_k += BK;
            from->B += (size_t)BK * N;
            __pipeline_commit();
        }
    }

    // Reads what a thread needs for one step of k, from where its first squares lie.
    static __device__ void load_fragments(float *a_frag, float *b_frag,
                                          const float *a_row, const float *b_row)
    {
        for (int m = 0; m < TM; m += 4)
            *(float4 *)&a_frag[m] = *(const float4 *)&a_row[m / 4 * ROW_STEP];
        for (int n = 0; n < TN; n += 4)
            *(float4 *)&b_frag[n] = *(const float4 *)&b_row[n / 4 * COL_STEP];
    }

    static __device__ void multiply(int M, int N, int K, float alpha, const float *A,
                                    const float *B, float beta, float *C)
    {
        // Shared memory of a size that the launch says. What a kernel declares by itself
        // may not be more than 48 KB, and some variants are larger.
        extern __shared__ float4 shared[];
        a_tile *A_tile = (a_tile *)shared;
        b_tile *B_tile = (b_tile *)(A_tile + STAGES);

        // 1. Find my results. GROUP rows of tiles are walked column by column, so that
        //    blocks that run at the same time want few rows of A and few columns of B,
        //    and L2 has them. The last group may have fewer rows.
        const int tiles_down = (M - 1) / BM + 1, tiles_across = (N - 1) / BN + 1;
        const int group = blockIdx.x / (GROUP * tiles_across);
        const int in_group = blockIdx.x % (GROUP * tiles_across);
        const int group_rows = min(GROUP, tiles_down - group * GROUP);
        const int tile_row = group * GROUP + in_group % group_rows;
        const int tile_col = in_group / group_rows;
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        const int lane_row = lane / (32 / LANES), lane_col = lane % (32 / LANES);
        const int thread_row = warp / (BN / WN) * WM + lane_row * 4;
        const int thread_col = warp % (BN / WN) * WN + lane_col * 4;
        const int row = tile_row * BM + thread_row, col = tile_col * BN + thread_col;

        // 2. Find my copies. Rows and columns past the end of the matrix are copied from
        //    the last ones: they are multiplied, and the result is not stored.
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

        // 3. Send the first tiles on their way, and wait for the oldest.
#pragma unroll
        for (int i = 0; i < (STAGES - 1) * BK; ++i)
            start_copies(i % BK, &from, &A_tile[i / BK], &B_tile[i / BK], N, K);
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();

        float acc[TM][TN];
        for (int m = 0; m < TM; ++m)
            for (int n = 0; n < TN; ++n)
                acc[m][n] = 0.0f;
        __align__(16) float a_frag[2][TM], b_frag[2][TN];
        load_fragments(a_frag[0], b_frag[0], &A_tile[0][0][thread_row],
                       &B_tile[0][0][thread_col]);
        // The stage in use, and the one to copy into: the one in use before it.
        int now = 0, next = STAGES - 1;
        for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
            for (int k = 0; k < BK; ++k) {
                // 4. The last step reads ahead into the next tile. It has arrived when my
                //    own copies have and the barrier says the same of all others; after
                //    it, no thread reads the stage before this one: it may be copied into.
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
                start_copies(k, &from, &A_tile[next], &B_tile[next], N, K);
                for (int m = 0; m < TM; ++m)
                    for (int i = 0; i < TN; ++i) {
                        const int n = (m + TURN) % 2 ? TN - 1 - i : i;
                        acc[m][n] += a_frag[k % 2][m] * b_frag[k % 2][n];
                    }
            }
            next = next + 1 < STAGES ? next + 1 : 0;
        }
        // The last copies brought zeros that are not needed. They are still copies into
        // this block's memory, which goes to another block when this one ends.
        __pipeline_wait_prior(0);

        // 6. Store the results that lie inside C; beta == 0 must not read C. Unrolled
        //    like step 3, because registers have no addresses.
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
                for (int i = 0; i < 4; ++i) {
                    const float old = beta != 0.0f && i < left ? c[i] : 0.0f;
                    v[i] = alpha * acc[m][n + i] + beta * old;
                }
                if (WIDTH == 4)
                    *(float4 *)c = *(const float4 *)v;
                else
                    for (int i = 0; i < 4 && i < left; ++i)
                        c[i] = v[i];
            }
        }
    }

    static void launch(int M, int N, int K, float alpha, const float *A, const float *B,
                       float beta, float *C)
    {
        const unsigned blocks = ((M - 1) / BM + 1u) * ((N - 1) / BN + 1u);
        auto kernel = matmul_kernel<variant>;
        // Beyond 48 KB a kernel must be allowed to, once; if it cannot be, the launch
        // fails too, and that is looked at.
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             SHARED_BYTES);
        kernel<<<blocks, THREADS, SHARED_BYTES>>>(M, N, K, alpha, A, B, beta, C);
    }
};

// A line of winners.txt becomes a row of a table, its last ten numbers two kernels: for B
// and C whose rows start at multiples of 16 bytes, and for all others. While tuning, each
// candidate is compiled by itself, with a table that has no other row.
// clang-format off
#define WINNER(gpu, M, N, K, ...)                                                        \
    {gpu, M, N, K, {__VA_ARGS__}, variant<4, __VA_ARGS__>::SHARED_BYTES,                 \
     variant<4, __VA_ARGS__>::launch, variant<1, __VA_ARGS__>::launch},
// clang-format on

const struct winner WINNERS[] = {
#ifdef CANDIDATE
    WINNER("any", 1, 1, 1, CANDIDATE)
#else
#include "winners.txt"
#endif
};
const int WINNER_COUNT = sizeof WINNERS / sizeof *WINNERS;

static matmul_launcher matmul; // below: it asks pick(), which fills in the chapter

// pick() adds the tile of the variant it takes, so this one is not const.
static struct chapter chapter = {
    .number = 11,
    .title = "autotuning: let the machine choose",
    .launch = matmul,
    .own_option = "--for",
    .own_value = &pick_for,
    .more_help = "    --for N        take the variant for N x N x N\n"
                 "    --tune         find the fastest variants: --tune --help\n",
};

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    const struct winner *winner = pick(M, N, K, &chapter);
    // A travels float by float and has no say in this.
    const bool aligned = N % 4 == 0 && (size_t)B % 16 == 0 && (size_t)C % 16 == 0;
    (aligned ? winner->wide : winner->narrow)(M, N, K, alpha, A, B, beta, C);
}

int main(int argc, char **argv)
{
    const bool tuning = argc > 1 && strcmp(argv[1], "--tune") == 0;
    return (tuning ? tune : chapter_main)(argc, argv, &chapter);
}
