/* Chapter 10's pipeline, in blocks that stay for the whole product. The copies run ahead
 * of the arithmetic over the ends of tiles too: while a block stores one tile, the first
 * copies of its next are on their way.
 */
#ifndef FP32_TILES_CUH
#define FP32_TILES_CUH

#include "choose.cuh"
#include "scratch.cuh"
#include "shares.cuh"

#include <cuda_pipeline.h>

// Where a warp's lanes stand: four rows of eight, one after the other.
struct row_by_row {
    static __device__ __forceinline__ int row_of(int lane)
    {
        return lane / 8;
    }
    static __device__ __forceinline__ int col_of(int lane)
    {
        return lane % 8;
    }
};

// A tile of C: BM x BN results a block, TM x TN a thread, in squares of 4 x 4 as in
// chapter 9. An SM should hold BLOCKS of these blocks.
template <int BM_, int BN_, int BK_, int TM_, int TN_, int STAGES_, int BLOCKS_,
          class LANES_ = row_by_row>
struct tile {
    typedef LANES_ LANES;
    static const int BM = BM_, BN = BN_, BK = BK_, TM = TM_, TN = TN_;
    static const int STAGES = STAGES_, BLOCKS = BLOCKS_;
    static const int WM = 4 * TM, WN = 8 * TN; // a warp is 4 lanes down and 8 across
    static const int ROW_STEP = WM / (TM / 4), COL_STEP = WN / (TN / 4);
    static const int THREADS = BM * BN / (TM * TN), WARPS = THREADS / 32;
    static const int A_ROW = BM + 4; // padded: chapter 10
    static const int A_FLOATS = BK * A_ROW, FLOATS = A_FLOATS + BK * BN; // a stage
    static const int SHARED_BYTES = STAGES * FLOATS * sizeof(float);
    static const int PART = BM * BN; // floats of a part
    static const int A_COPIES = BM * BK / THREADS, A_STEP = THREADS / BK;
    static const int ROWS_TOGETHER = 2048 / BM;
    // A loop of its own, where copies need no condition, for all that lies inside the
    // matrices. Not for the largest tile: to its 1,024 multiply-adds come 6 copies, and
    // with two such loops it was slower (tried/two_loops.diff).
    static const bool TWO_LOOPS = TM * TN < 128;
    // Threads enough for a row of B, if each copies a single float.
    static const bool SINGLY = THREADS >= BN;
    static constexpr double FLOP_PER_BYTE = 0.5 * BM * BN / (BM + BN);
    static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles cover the block's tile");
    static_assert(TM % 4 == 0 && TN % 4 == 0, "TM and TN: whole float4s");
    static_assert(A_COPIES * A_STEP == BM, "the copies cover A's tile");
    static_assert(BK % 2 == 0, "fragments take turns, and a tile starts with the first");
    static_assert(STAGES >= 3, "one in use, one that must have come, one to copy into");
};

// The place of a thread's first result in the tile.
template <class T> static __device__ __forceinline__ int row_of(int thread)
{
    return thread / 32 / (T::BN / T::WN) * T::WM + T::LANES::row_of(thread % 32) * 4;
}

template <class T> static __device__ __forceinline__ int col_of(int thread)
{
    return thread / 32 % (T::BN / T::WN) * T::WN + T::LANES::col_of(thread % 32) * 4;
}

template <int COUNT>
static __device__ __forceinline__ void load_fragment(float *to, const float *from,
                                                     int step)
{
#pragma unroll
    for (int i = 0; i < COUNT; i += 4)
        *(float4 *)&to[i] = *(const float4 *)&from[i / 4 * step];
}

// c = alpha * sum + beta * c. beta == 0 must not read C.
static __device__ __forceinline__ void store_sum(float *c, float sum, float alpha,
                                                 float beta)
{
    *c = alpha * sum + (beta == 0.0f ? 0.0f : beta * *c);
}

// The same for four neighbours, from a multiple of 16 bytes on.
static __device__ __forceinline__ void store4(float *c, const float *sum, float alpha,
                                              float beta)
{
    float4 v =
        make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);
    if (beta != 0.0f) {
        const float4 old = *(const float4 *)c;
        v.x += beta * old.x;
        v.y += beta * old.y;
        v.z += beta * old.z;
        v.w += beta * old.w;
    }
    *(float4 *)c = v;
}

// Stores the results of a tile that lie inside C, whose rows start at multiples of 16
// bytes: a lane stores its four neighbours at once. The tile's first is C's (tile_row,
// tile_col), a thread's first is the tile's (thread_row, thread_col).
template <class T>
static __device__ __forceinline__ void
store_aligned(const struct work *w, float *C, int tile_row, int tile_col, int thread_row,
              int thread_col, const float (&acc)[T::TM][T::TN])
{
#pragma unroll
    for (int m = 0; m < T::TM; ++m) {
#pragma unroll
        for (int n = 0; n < T::TN; n += 4) {
            const int row = tile_row + thread_row + m / 4 * T::ROW_STEP + m % 4;
            const int col = tile_col + thread_col + n / 4 * T::COL_STEP;
            if (row < w->M && col < w->C_row)
                store4(&C[(size_t)row * w->C_row + col], &acc[m][n], w->alpha, w->beta);
        }
    }
}

// The same where rows start anywhere. Lanes that stored one of their four each would write
// a quarter of every sector, four times. So four rows of a warp's results go through
// shared memory, and then 32 lanes store 32 neighbours. The instructions stand here for
// four of a thread's rows only: for all of them they are many, for something that happens
// once a tile (tried/unrolled_store.diff). Registers have no index; so the rows that are
// left move up.
template <class T>
static __device__ __forceinline__ void
store_anywhere(const struct work *w, float *C, int tile_row, int tile_col, int thread_row,
               int thread_col, float (&acc)[T::TM][T::TN])
{
    // A row is one longer, so that four rows of eight lanes write to 32 banks.
    __shared__ float rows_of_warp[T::WARPS][4][32 + 1];
    float(*rows)[32 + 1] = rows_of_warp[threadIdx.x / 32];
    const int lane = threadIdx.x % 32;
    const int lane_row = T::LANES::row_of(lane), lane_col = T::LANES::col_of(lane);
    const int warp_row = tile_row + thread_row - 4 * lane_row;
    const int my_col = tile_col + thread_col - 4 * lane_col + lane;
#pragma unroll 1
    for (int square = 0; square < T::TM / 4; ++square) {
#pragma unroll
        for (int m = 0; m < 4; ++m) {
#pragma unroll
            for (int n = 0; n < T::TN; n += 4) {
                const int row = warp_row + square * T::ROW_STEP + m;
                const int col = my_col + n / 4 * T::COL_STEP;
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    rows[lane_row][4 * lane_col + i] = w->alpha * acc[m][n + i];
                __syncwarp();
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    if (row + 4 * i < w->M && col < w->N)
                        store_sum(&C[(size_t)(row + 4 * i) * w->N + col], rows[i][lane],
                                  1.0f, w->beta);
                __syncwarp();
            }
        }
#pragma unroll
        for (int m = 0; m + 4 < T::TM; ++m)
#pragma unroll
            for (int n = 0; n < T::TN; ++n)
                acc[m][n] = acc[m + 4][n];
    }
}

// ALIGNED: which of the two. What is in `acc` behind it is of no more use.
template <class T, bool ALIGNED>
static __device__ __forceinline__ void
store_tile(const struct work *w, float *C, int tile_row, int tile_col, int thread_row,
           int thread_col, float (&acc)[T::TM][T::TN])
{
    if (ALIGNED)
        store_aligned<T>(w, C, tile_row, tile_col, thread_row, thread_col, acc);
    else
        store_anywhere<T>(w, C, tile_row, tile_col, thread_row, thread_col, acc);
}

// How far the copies are: STAGES - 1 k-blocks ahead of the arithmetic, over the ends of
// segments too, so they need a position of their own.
struct filler {
    struct position at;
    int block_k;        // the next k-block to copy
    const float *A, *B; // where my copies of it begin
    int rows, cols;     // of the matrices from there to their ends; 0 when all is copied
    int a_left, b_left; // the same for steps of k
    bool whole_tile;    // the tile lies inside C
};

// Steps to the next k-block.
template <class T, int WIDTH>
static __device__ __forceinline__ void advance(struct filler *f, const struct work *w)
{
    if (++f->block_k < f->at.segment.end) {
        f->A += T::BK;
        f->B += (size_t)T::BK * w->B_row;
        f->a_left -= T::BK;
        f->b_left -= T::BK;
        return;
    }
    if (!next_segment(w, &f->at)) {
        f->block_k = -0x7fffffff; // no more segments, however often this is called
        f->rows = f->cols = 0;
        f->whole_tile = false;
        return;
    }
    int tile_row, tile_col;
    place_tile(w, f->at.segment.tile, &tile_row, &tile_col);
    f->block_k = f->at.segment.begin;
    const int row = tile_row * T::BM + threadIdx.x / T::BK;
    const int col = tile_col * T::BN + threadIdx.x % (T::BN / WIDTH) * WIDTH;
    const int a_k = f->block_k * T::BK + threadIdx.x % T::BK;
    const int b_k = f->block_k * T::BK + threadIdx.x / (T::BN / WIDTH);
    f->A = &w->A[(size_t)row * w->K + a_k];
    f->B = &w->B[(size_t)b_k * w->B_row + col];
    f->rows = w->M - row;
    f->cols = w->N - col;
    f->a_left = w->K - a_k;
    f->b_left = w->K - b_k;
    f->whole_tile = (tile_row + 1) * T::BM <= w->M && (tile_col + 1) * T::BN <= w->N;
}

// Starts the copies of step `step` of BK for the next k-block; the last step ends it. See
// chapter 10. INSIDE: all of it lies inside the matrices. Else what lies outside is not
// read, and those copies bring zeros: that costs two instructions a copy, one for either
// case.
template <class T, int WIDTH, bool INSIDE>
static __device__ __forceinline__ void start_copies(int step, const struct filler *f,
                                                    const struct work *w, float *stage)
{
    const int B_COPIES = T::BK * T::BN / (WIDTH * T::THREADS);
    const int B_STEP = T::BK / B_COPIES; // rows between a thread's copies
    static_assert(B_COPIES * WIDTH * T::THREADS == T::BK * T::BN, "B's tile is covered");
    static_assert(B_STEP * (T::BN / WIDTH) == T::THREADS, "all threads copy each time");
    // In each step as many of them; with more copies than steps, several.
    const int A_AT_ONCE = (T::A_COPIES - 1) / T::BK + 1;
    const int B_AT_ONCE = (B_COPIES - 1) / T::BK + 1;
    const int a_row = threadIdx.x / T::BK, a_k = threadIdx.x % T::BK;
    const int b_k = threadIdx.x / (T::BN / WIDTH);
    const int b_col = threadIdx.x % (T::BN / WIDTH) * WIDTH;
    const size_t a_bytes = sizeof(float), b_bytes = WIDTH * sizeof(float);
    const int rows = f->a_left > 0 ? f->rows : 0, steps = f->cols > 0 ? f->b_left : 0;
#pragma unroll
    for (int i = step * A_AT_ONCE; i < (step + 1) * A_AT_ONCE && i < T::A_COPIES; ++i)
        __pipeline_memcpy_async(&stage[a_k * T::A_ROW + a_row + i * T::A_STEP],
                                f->A + (size_t)i * T::A_STEP * w->K, a_bytes,
                                INSIDE || i * T::A_STEP < rows ? 0 : a_bytes);
#pragma unroll
    for (int i = step * B_AT_ONCE; i < (step + 1) * B_AT_ONCE && i < B_COPIES; ++i)
        __pipeline_memcpy_async(&stage[T::A_FLOATS + (b_k + i * B_STEP) * T::BN + b_col],
                                f->B + (size_t)i * B_STEP * w->B_row, b_bytes,
                                INSIDE || i * B_STEP < steps ? 0 : b_bytes);
    if (step == T::BK - 1)
        __pipeline_commit();
}

// The steps of a k-block: chapter 10's loop, which multiplies stage `now`, and starts the
// copies that fill stage `next`. In the last step it reads ahead, in what may belong to
// the next tile already.
template <class T, int WIDTH, bool INSIDE>
static __device__ __forceinline__ void
multiply(float *tiles, int *now, int next, int thread_row, int thread_col,
         const struct filler *filler, const struct work *w, float a_frag[2][T::TM],
         float b_frag[2][T::TN], float (&acc)[T::TM][T::TN])
{
#pragma unroll
    for (int k = 0; k < T::BK; ++k) {
        if (k == T::BK - 1) {
            __pipeline_wait_prior(T::STAGES - 3);
            __syncthreads();
            *now = *now + 1 < T::STAGES ? *now + 1 : 0;
        }
        const float *stage = &tiles[*now * T::FLOATS];
        const int ahead = (k + 1) % T::BK;
        load_fragment<T::TM>(a_frag[(k + 1) % 2], &stage[ahead * T::A_ROW + thread_row],
                             T::ROW_STEP);
        load_fragment<T::TN>(b_frag[(k + 1) % 2],
                             &stage[T::A_FLOATS + ahead * T::BN + thread_col],
                             T::COL_STEP);
        start_copies<T, WIDTH, INSIDE>(k, filler, w, &tiles[next * T::FLOATS]);
#pragma unroll
        for (int m = 0; m < T::TM; ++m)
#pragma unroll
            for (int i = 0; i < T::TN; ++i) {
                const int n = m % 2 ? T::TN - 1 - i : i;
                acc[m][n] += a_frag[k % 2][m] * b_frag[k % 2][n];
            }
    }
}

template <class T, int WIDTH, bool ALIGNED>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS)
    persistent_kernel(const __grid_constant__ struct work w)
{
    // A_tile[k][m], padded, and B_tile[k][n] of each stage.
    extern __shared__ __align__(16) float tiles[];

    // 1. Find my place in the tile, the same in every tile.
    const int thread_row = row_of<T>(threadIdx.x), thread_col = col_of<T>(threadIdx.x);

    // 2. Send the first k-blocks on their way. Arithmetic (`use`) and copies (`filler`)
    //    walk through the same work, one behind the other.
    struct position use = start_position(&w);
    struct filler filler = {use, 0, NULL, NULL, 0, 0, 0, 0, false};
    advance<T, WIDTH>(&filler, &w);
#pragma unroll 1
    for (int stage = 0; stage < T::STAGES - 1; ++stage) {
#pragma unroll
        for (int step = 0; step < T::BK; ++step)
            start_copies<T, WIDTH, false>(step, &filler, &w, &tiles[stage * T::FLOATS]);
        advance<T, WIDTH>(&filler, &w);
    }
    __pipeline_wait_prior(T::STAGES - 2);
    __syncthreads();

    float a_frag[2][T::TM], b_frag[2][T::TN];
    load_fragment<T::TM>(a_frag[0], &tiles[thread_row], T::ROW_STEP);
    load_fragment<T::TN>(b_frag[0], &tiles[T::A_FLOATS + thread_col], T::COL_STEP);
    int now = 0, next = T::STAGES - 1;
    while (next_segment(&w, &use)) {
        float acc[T::TM][T::TN];
#pragma unroll
        for (int m = 0; m < T::TM; ++m)
#pragma unroll
            for (int n = 0; n < T::TN; ++n)
                acc[m][n] = 0.0f;

        // 3. Multiply, k-block by k-block.
#pragma unroll 1
        for (int block_k = use.segment.begin; block_k < use.segment.end; ++block_k) {
            if (T::TWO_LOOPS && filler.whole_tile && (filler.block_k + 1) * T::BK <= w.K)
                multiply<T, WIDTH, true>(tiles, &now, next, thread_row, thread_col,
                                         &filler, &w, a_frag, b_frag, acc);
            else
                multiply<T, WIDTH, false>(tiles, &now, next, thread_row, thread_col,
                                          &filler, &w, a_frag, b_frag, acc);
            next = next + 1 < T::STAGES ? next + 1 : 0;
            advance<T, WIDTH>(&filler, &w);
        }

        // 4. Part of a tile, or all of it? The warp with the last part stores the sums.
        if (bring_part<T>(&w, &use.segment, acc)) {
            int tile_row, tile_col;
            place_tile(&w, use.segment.tile, &tile_row, &tile_col);
            store_tile<T, ALIGNED>(&w, w.C, tile_row * T::BM, tile_col * T::BN,
                                   thread_row, thread_col, acc);
        }
    }
    // The last copies brought zeros that nothing needs. They are still copies into this
    // block's memory, which goes to another block when this one ends.
    __pipeline_wait_prior(0);
}

/* ---- the host's side ---- */

template <class T, int WIDTH, bool ALIGNED>
static void launch_tiles_of(int sms, struct work w)
{
    void (*const kernel)(struct work) = persistent_kernel<T, WIDTH, ALIGNED>;
    static struct scratch parts, arrived;
    static int blocks_on_sm[GPUS];
    int *blocks_per_sm = &blocks_on_sm[this_gpu()];
    if (!*blocks_per_sm) {
        CUDA_CHECK(cudaFuncSetAttribute(
            kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, T::SHARED_BYTES));
        CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            blocks_per_sm, kernel, T::THREADS, T::SHARED_BYTES));
        if (*blocks_per_sm > T::BLOCKS)
            *blocks_per_sm = T::BLOCKS;
    }
    w.tiles_down = (w.M - 1) / T::BM + 1;
    w.tiles_across = (w.N - 1) / T::BN + 1;
    w.rows_together = T::ROWS_TOGETHER;
    w.blocks_k = (w.K - 1) / T::BK + 1;
    // As many blocks as the tile asks for and the GPU holds; but no share shorter than 32
    // steps of k: it would cost more to add up than to compute.
    const long long tiles = (long long)w.tiles_down * w.tiles_across;
    const long long most = tiles * ((w.K - 1) / 32 + 1);
    const int all = sms * *blocks_per_sm;
    const int blocks = deal(&w, most < all ? (int)most : all);
    const int shared_tiles = (int)(tiles - w.whole_tiles);
    if (shared_tiles) {
        w.parts = scratch(&parts, 2 * (size_t)blocks * T::PART * sizeof(float));
        w.arrived =
            (int *)scratch(&arrived, (size_t)shared_tiles * T::WARPS * sizeof(int));
    }
    kernel<<<blocks, T::THREADS, T::SHARED_BYTES>>>(w);
}

// C = alpha * A * B + beta * C in tiles of T, dealt to `sms` SMs. The caller fills in
// the matrices, what they are multiplied by, and `aligned`; if the rows of B are not wide,
// T must be SINGLY.
template <class T> static void launch_tiles(int sms, const struct work *w)
{
    if (!wide_rows(w))
        launch_tiles_of<T, T::SINGLY ? 1 : 4, false>(sms, *w);
    else if (w->aligned)
        launch_tiles_of<T, 4, true>(sms, *w);
    else
        launch_tiles_of<T, 4, false>(sms, *w);
}

#define TILES(T, start, speed, singly, dividing)                                         \
    {launch_tiles<T>, staying, T::BM,  T::BN,    T::BK, T::BLOCKS,                       \
     start,           speed,   singly, dividing, false}

#endif
