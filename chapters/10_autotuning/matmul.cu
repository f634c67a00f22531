/*
 * Chapter 10: let the machine choose.
 *
 * What changes against chapter 9: the constants are parameters of a template, so the same
 * kernel is there in several variants at once. Which variants, and for which GPU and shape,
 * stands in winners.txt, and a program wrote that: `./chapter10 --tune` compiles hundreds,
 * checks them, times them against each other and notes the fastest (tune.c).
 *
 *     winners.txt                                      4096 x 4096 x 4096 ?
 *     "NVIDIA H200"   4096, 4096, 4096,  128, 256 ...  <----- the row most like it
 *     "NVIDIA H200"    512,  512,  512,   32,  64 ...
 *     "any"           4096, 4096, 4096,  128, 128 ...   for GPUs that have no rows yet
 *
 * Run it:  make chapter10 && ./chapter10
 * Tune it: ./chapter10 --tune
 */
#include "matmul.h"
#include "tune.h"

#include <cuda_pipeline.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

template <class V> __global__ void __launch_bounds__(V::THREADS, V::BLOCKS_PER_SM)
matmul_kernel(int M, int N, int K, float alpha, const float *A, const float *B,
              float beta, float *C);

// Chapter 9's kernel with its constants left open. A block covers BM x BN elements of C and
// takes BK steps along K at a time, a thread has TM x TN results in squares of 4 x 4, a warp
// is LANES threads down and 32 / LANES across. STAGES tiles stand in shared memory. The
// compiler must leave registers for BLOCKS blocks an SM. Blocks that follow each other go
// GROUP tiles down, then one to the right. TURN, 0 or 1, says whether a thread's odd or its
// even rows of products run to the left. WIDTH floats of B and C move at once, 4 or 1.
template <int WIDTH, int BM, int BN, int BK, int TM, int TN, int STAGES, int LANES,
          int BLOCKS, int GROUP, int TURN>
struct variant {
    static const int THREADS = BM * BN / (TM * TN);
    static const int BLOCKS_PER_SM = BLOCKS;
    static const int WM = LANES * TM; // a warp: WM x WN of the block's tile
    static const int WN = 32 / LANES * TN;
    static const int ROW_STEP = WM / (TM / 4); // between a thread's squares
    static const int COL_STEP = WN / (TN / 4);
    static const int PADDING = 4;
    static const int A_COPIES = BM * BK / THREADS;
    static const int A_STEP = THREADS / BK; // rows between a thread's copies
    static const int B_COPIES = BK * BN / (WIDTH * THREADS);
    static const int B_STEP = BK / B_COPIES;
    static const int SHARED_BYTES = STAGES * BK * (BM + PADDING + BN) * sizeof(float);

    // tune.c rejects a candidate for these same reasons, before it gets here.
    static_assert(BM % WM == 0 && BN % WN == 0, "whole warp tiles cover the block's tile");
    static_assert(TM % 4 == 0 && TN % 4 == 0, "TM and TN must be multiples of 4: float4s");
    static_assert(A_COPIES * A_STEP == BM, "the copies cover A_tile");
    static_assert(B_COPIES * WIDTH * THREADS == BK * BN, "the copies cover B_tile");
    static_assert(A_COPIES <= BK && B_COPIES <= BK, "a copy of each per step of k");
    static_assert(BN / WIDTH <= THREADS, "a row of B is copied by threads of one turn");
    static_assert(BK % 2 == 0, "fragments take turns: the last step of k uses the second");
    static_assert(STAGES >= 3, "one tile in use, one that has arrived, one to copy into");
    static_assert(THREADS <= 1024, "a block has at most 1,024 threads: raise TM or TN");

    typedef float a_tile[BK][BM + PADDING]; // transposed, k first
    typedef float b_tile[BK][BN];

    // Where this thread's copies come from: its floats of A and B at k = k0, and the k of
    // each.
    struct source {
        const float *A[A_COPIES], *B;
        int a_k, b_k, b_col;
    };

    // Starts the copies of step `step` of BK for the next tile; the last step ends the tile.
    static __device__ void start_copies(int step, struct source *from, a_tile *A_tile,
                                        b_tile *B_tile, int N, int K)
    {
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
            __pipeline_memcpy_async(&(*B_tile)[k][from->b_col],
                                    from->B + (size_t)step * B_STEP * N,
                                    WIDTH * sizeof(float),
                                    left > 0 ? 0 : WIDTH * sizeof(float));
        }
        if (step == BK - 1) {
            from->a_k += BK;
            from->b_k += BK;
            from->B += (size_t)BK * N;
            __pipeline_commit();
        }
    }

    // Reads what a thread needs for one step of k: TM floats of A_tile, TN of B_tile.
    static __device__ void load_fragments(float *a_frag, float *b_frag, const float *a_row,
                                          const float *b_row)
    {
        for (int m = 0; m < TM; m += 4)
            *(float4 *)&a_frag[m] = *(const float4 *)&a_row[m / 4 * ROW_STEP];
        for (int n = 0; n < TN; n += 4)
            *(float4 *)&b_frag[n] = *(const float4 *)&b_row[n / 4 * COL_STEP];
    }

    // Reads the four floats of C from `from` on, of which `left` lie inside the matrix, and
    // puts zeros for the others: as one float4 where WIDTH says that the address allows it.
    static __device__ void load4(float *to, const float *from, int left)
    {
        if (WIDTH == 4 && left > 0)
            *(float4 *)to = *(const float4 *)from;
        else
            for (int i = 0; i < 4; ++i)
                to[i] = i < left ? from[i] : 0.0f;
    }

    // The way back, into the matrix: at least the first of the four has its place there.
    static __device__ void store4(float *to, const float *from, int left)
    {
        if (WIDTH == 4)
            *(float4 *)to = *(const float4 *)from;
        else
            for (int i = 0; i < 4 && i < left; ++i)
                to[i] = from[i];
    }

    static __device__ void multiply(int M, int N, int K, float alpha, const float *A,
                                    const float *B, float beta, float *C)
    {
        // Shared memory beyond 48 KB is not declared in the kernel but asked for at launch.
        extern __shared__ float4 shared[];
        a_tile *A_tile = (a_tile *)shared;
        b_tile *B_tile = (b_tile *)(A_tile + STAGES);

        // 1. Find my results: the block's tile, my warp's part of it, my lane's place in
        //    that. GROUP rows of tiles are walked column by column, so that the blocks that
        //    run at the same time want a few rows of A and a few columns of B.
        const int tiles_down = (M - 1) / BM + 1;
        const int tiles_across = (N - 1) / BN + 1;
        const int group = blockIdx.x / (GROUP * tiles_across);
        const int in_group = blockIdx.x % (GROUP * tiles_across);
        const int group_rows = min(GROUP, tiles_down - group * GROUP);
        const int tile_row = group * GROUP + in_group % group_rows;
        const int tile_col = in_group / group_rows;
        const int warp = threadIdx.x / 32;
        const int lane = threadIdx.x % 32;
        const int lane_row = lane / 2 % 4 + lane / (128 / LANES) * 4;
        const int lane_col = lane / 8 % (16 / LANES) * 2 + lane % 2;
        const int thread_row = warp / (BN / WN) * WM + lane_row * 4;
        const int thread_col = warp % (BN / WN) * WN + lane_col * 4;
        const int row = tile_row * BM + thread_row;
        const int col = tile_col * BN + thread_col;

        // 2. Find my copies. Rows and columns past the end of the matrix are copied from
        //    the last ones: somebody multiplies them, nobody stores the result.
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
        for (int stage = 0; stage < STAGES - 1; ++stage)
#pragma unroll
            for (int step = 0; step < BK; ++step)
                start_copies(step, &from, &A_tile[stage], &B_tile[stage], N, K);
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();

        float acc[TM][TN];
        for (int m = 0; m < TM; ++m)
            for (int n = 0; n < TN; ++n)
                acc[m][n] = 0.0f;
        __align__(16) float a_frag[2][TM], b_frag[2][TN];
        load_fragments(a_frag[0], b_frag[0], &A_tile[0][0][thread_row],
                       &B_tile[0][0][thread_col]);
        int now = 0, next = STAGES - 1; // the stage in use, and the one to copy into
        for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
            for (int k = 0; k < BK; ++k) {
                // 4. The last step reads ahead into the next tile. It has arrived when my
                //    own copies have and the barrier says the same of everybody's; after
                //    it, nobody reads the stage before this one, and it may be copied into.
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
        // Copies that nobody needs any more are still copies into this block's memory.
        __pipeline_wait_prior(0);

        // 6. Store the results that lie inside C; beta == 0 must not read C. Unrolled,
        //    because registers have no addresses: an acc[m] with an m that varies would
        //    move to memory.
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
                load4(v, c, beta == 0.0f ? 0 : left);
                for (int i = 0; i < 4; ++i)
                    v[i] = alpha * acc[m][n + i] + beta * v[i];
                store4(c, v, left);
            }
        }
    }

    static void launch(int M, int N, int K, float alpha, const float *A, const float *B,
                       float beta, float *C)
    {
        const unsigned blocks = ((M - 1) / BM + 1u) * ((N - 1) / BN + 1u);
        // A failure of this call is found where the launch's own is.
        cudaFuncSetAttribute(matmul_kernel<variant>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
        matmul_kernel<variant><<<blocks, THREADS, SHARED_BYTES>>>(M, N, K, alpha, A, B,
                                                                  beta, C);
    }
};

template <class V> __global__ void __launch_bounds__(V::THREADS, V::BLOCKS_PER_SM)
matmul_kernel(int M, int N, int K, float alpha, const float *A, const float *B,
              float beta, float *C)
{
    V::multiply(M, N, K, alpha, A, B, beta, C);
}

// A line of winners.txt becomes a row of this table, and its last ten numbers two kernels:
// one for B and C whose rows start at multiples of 16 bytes, one for all others. While
// tuning, the table of each small program is the one candidate that it tries.
#define WINNER(gpu, M, N, K, ...)                                                          \
    {gpu, M, N, K, {__VA_ARGS__}, variant<4, __VA_ARGS__>::SHARED_BYTES,                   \
     variant<4, __VA_ARGS__>::launch, variant<1, __VA_ARGS__>::launch},

static const struct winner WINNERS[] = {
#ifdef CANDIDATE
    WINNER("any", 1, 1, 1, CANDIDATE)
#else
#include "winners.txt"
#endif
};
static const int WINNER_COUNT = sizeof WINNERS / sizeof *WINNERS;

// Whether a row is for the GPU of this name. An emulated GPU takes the real one's rows.
static bool is_for(const struct winner *w, const char *gpu_name)
{
    const size_t length = strlen(w->gpu);
    return strncmp(gpu_name, w->gpu, length) == 0 &&
           (gpu_name[length] == '\0' || strcmp(gpu_name + length, " (emulated)") == 0);
}

// The row for this GPU, or else for any, whose shape is most like M, N, K: a side of twice
// the length is as far away as one of half the length. K counts half of what M and N do, for
// it makes the work of a tile longer, and not more of them.
static const struct winner *pick(int M, int N, int K)
{
    static struct cudaDeviceProp gpu;
    if (gpu.major == 0)
        cudaGetDeviceProperties(&gpu, 0);
    const struct winner *best = NULL;
    double least = HUGE_VAL;
    for (const struct winner *w = WINNERS; w < WINNERS + WINNER_COUNT; ++w) {
        const bool tuned_here = is_for(w, gpu.name);
        if (!tuned_here && strcmp(w->gpu, "any") != 0)
            continue;
        if ((size_t)w->shared_bytes > gpu.sharedMemPerBlockOptin)
            continue;
        // Any row of this GPU's is nearer than all of the others.
        const double distance = fabs(log2((double)M / w->M)) + fabs(log2((double)N / w->N)) +
                                fabs(log2((double)K / w->K)) / 2 + (tuned_here ? 0 : 1000);
        if (distance < least) {
            least = distance;
            best = w;
        }
    }
    return best;
}

static const struct winner *picked;
static struct chapter chapter;

// The thread that owns element (row, col) of a tile, for the report of a wrong result.
static int thread_of(int row, int col)
{
    const struct config *c = &picked->config;
    const int WM = c->LANES * c->TM, WN = 32 / c->LANES * c->TN;
    const int warp = row / WM * (c->BN / WN) + col / WN;
    const int lane_row = row % (c->LANES * 4) / 4, lane_col = col % (128 / c->LANES) / 4;
    return warp * 32 + lane_row / 4 * (128 / c->LANES) + lane_col / 2 * 8 +
           lane_row % 4 * 2 + lane_col % 2;
}

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
extern "C" void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                       float beta, float *C)
{
    picked = pick(M, N, K);
    const struct config *c = &picked->config;
    // The report says which variant it was. It numbers blocks down the columns of tiles,
    // so where there are several groups it cannot say which block owned an element.
    static char title[100];
    snprintf(title, sizeof title, "autotuning: %dx%dx%d, %dx%d a thread, %d stages (%s)",
             c->BM, c->BN, c->BK, c->TM, c->TN, c->STAGES, picked->gpu);
    chapter.title = title;
    chapter.BM = (M - 1) / c->BM < c->GROUP ? c->BM : 0;
    chapter.BN = c->BN;
    const bool aligned = N % 4 == 0 && (size_t)B % 16 == 0 && (size_t)C % 16 == 0;
    (aligned ? picked->wide : picked->narrow)(M, N, K, alpha, A, B, beta, C);
}

int main(int argc, char **argv)
{
    chapter.number = 10;
    chapter.title = "autotuning: let the machine choose";
    chapter.launch = matmul;
    chapter.blocks_go_down = 1;
    chapter.thread_of = thread_of;
    chapter.more_help = "    --tune         find the fastest variants for this GPU; see --tune --help\n";
    if (argc > 1 && strcmp(argv[1], "--tune") == 0)
        return tune(argc, argv, &chapter, WINNERS, WINNER_COUNT);
    return chapter_main(argc, argv, &chapter);
}
