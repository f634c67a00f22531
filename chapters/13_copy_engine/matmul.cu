/*
 * Chapter 13: beyond cuBLAS.
 *
 * What changes against chapter 11: everything that is not a multiply-add goes. The
 * GPU's copy engine (TMA) brings whole tiles, started by one thread with one instruction;
 * barriers in shared memory (mbarriers) say when a tile has come and when all have read
 * it, so that no warp waits for another that it needs nothing from; and as many blocks as
 * there are SMs stay for the whole product, each doing as many k-blocks as any other.
 *
 *     132 blocks, 512 tiles:  3 whole tiles each, then 116 are left for 132 blocks.
 *     their k-blocks, end to end:  |  tile 396  |  tile 397  |  tile 398  | ...
 *     cut into equal shares:       | block 0  | block 1  | block 2  | block 3 | ...
 *
 * A share may hold the end of one tile and the start of the next; whoever brings the last
 * part of a tile adds up all its parts. Problems with too few tiles for this, or too
 * little to do, go to small.cuh.
 *
 * Run it:  make chapter13 && ./chapter13        (needs a Hopper GPU, or none)
 */
#include "hopper.h"
#include "lanes.cuh"
#include "matmul.h"
#include "prepare.cuh"
#include "small.cuh"
#include <stdio.h>
#include <string.h>

const int WARPS = 8;
const int THREADS = 32 * WARPS;
// Thin stages cost: each ends in a wait. Two of 72 steps are what shared memory holds.
const int BK = 72;    // steps of k a stage
const int STAGES = 2; // one to multiply, one to fill
const int UNROLL = 8; // steps of k without a branch: more overflow the instruction cache

static_assert(STAGES >= 2, "the next stage is ordered before this one is read");
static_assert(BK % UNROLL == 0, "whole rounds make a stage");
static_assert(BK % 4 == 0, "the copy engine writes multiples of 16 bytes");

// What all blocks do together, and from which each finds out its part. It travels as a
// kernel argument: an instruction takes such an operand from constant memory directly.
struct work {
    int M, N, K;
    float alpha, beta;
    float *C;
    bool aligned;                 // rows of C start at multiples of 16 bytes
    int tiles_down, tiles_across; // tiles of C
    int blocks_k;                 // k-blocks a tile: stretches of BK along K
    int whole_tiles;              // tiles done by one block each; the rest are shared
    int share, longer_shares;     // k-blocks a share; the first longer_shares do one more
    float *parts;                 // two parts of tiles a block
    int *arrived;                 // for each shared tile and warp: parts brought so far
};

// A stretch of k-blocks of one tile: [begin, end). A whole tile is [0, blocks_k).
struct segment {
    int tile, begin, end;
};

// A block's way through its work. The copies go ahead of the arithmetic, so there are
// two.
struct position {
    struct segment segment;
    int whole;       // my next whole tile
    int shared, end; // my k-blocks in the row of shared ones: [shared, end)
};

// The first k-block of a block's share. Shares differ by one at most: the 6,612 k-blocks
// of 116 tiles at K = 4096 are 50.1 for each of 132 blocks, so 12 do 51 and 120 do 50.
static __device__ int first_of(const struct work *w, int block)
{
    return block * w->share + min(block, w->longer_shares);
}

// The block whose share holds k-block `at`: first_of backwards. Whoever adds up a tile
// must know who had the parts of it, and this way nobody has to keep a list.
static __device__ int owner_of(const struct work *w, int at)
{
    const int longer = w->longer_shares * (w->share + 1);
    return at < longer ? at / (w->share + 1)
                       : w->longer_shares + (at - longer) / w->share;
}

static __device__ struct position start_position(const struct work *w)
{
    const int block = blockIdx.x;
    const struct position p = {
        {0, 0, 0}, block, first_of(w, block), first_of(w, block + 1)};
    return p;
}

// Steps to the block's next segment; false when there is none. Whole tiles come first:
// the parts of shared tiles are then brought at about the same time, at the end, and the
// last to come finds the others in the L2.
static __device__ __forceinline__ bool next_segment(const struct work *w,
                                                    struct position *p)
{
    if (p->whole < w->whole_tiles) {
        p->segment.tile = p->whole;
        p->segment.begin = 0;
        p->segment.end = w->blocks_k;
        p->whole += gridDim.x;
        return true;
    }
    if (p->shared >= p->end)
        return false;
    const int tile = p->shared / w->blocks_k;
    const int start = tile * w->blocks_k;
    p->segment.tile = w->whole_tiles + tile;
    p->segment.begin = p->shared - start;
    p->segment.end = min(p->end - start, w->blocks_k);
    p->shared = start + p->segment.end;
    return true;
}

// Where a tile lies. Neighbours in number are neighbours in C, down and across: the
// blocks that run together read the same rows of A and columns of B, and find them in the
// L2.
static __device__ void place_tile(const struct work *w, int rows_together, int tile,
                                  int *tile_row, int *tile_col)
{
    const int band = tile / (rows_together * w->tiles_across);
    const int rows = min(rows_together, w->tiles_down - band * rows_together);
    const int in_band = tile % (rows_together * w->tiles_across);
    *tile_row = band * rows_together + in_band % rows;
    *tile_col = in_band / rows;
}

// The stages in shared memory, as one who fills them or one who reads them goes round.
// Both start at stage 0 and take the stages in turn, so nobody has to tell the other
// where he is.
struct stage {
    int index;
    unsigned parity; // of the round: barriers tell one round from the next by it
};

// After the last stage comes the first again, one round later.
static __device__ void next_stage(struct stage *s)
{
    if (++s->index == STAGES) {
        s->index = 0;
        s->parity ^= 1;
    }
}

// TM x TN results a thread, in squares of 4 x 4, ROW_STEP and COL_STEP apart as in
// chapter 9; WARPS_DOWN of the warps lie below each other, the others beside them. A
// stage holds A_FLOATS of A, then B_FLOATS of B.
template <int TM, int TN, int WARPS_DOWN> struct tile {
    static const int WM = 4 * TM, WN = 8 * TN; // a warp is 4 lanes down and 8 across
    static const int ROW_STEP = WM / (TM / 4), COL_STEP = WN / (TN / 4);
    static const int BM = WM * WARPS_DOWN, BN = WN * (WARPS / WARPS_DOWN);
    static constexpr double FLOP_PER_BYTE = 0.5 * BM * BN / (BM + BN);
    static const int A_FLOATS = BK * BM, B_FLOATS = BK * BN, FLOATS = A_FLOATS + B_FLOATS;
    static const int SHARED_BYTES = STAGES * FLOATS * sizeof(float);
    static const int ROWS_TOGETHER = 2048 / BM;
    static const enum lanes LANES = lanes_for(TM, TN);
    static_assert(WARPS % WARPS_DOWN == 0, "whole columns of warps");
    static_assert(BM <= 256 && BN <= 256, "the copy engine moves boxes of at most 256");
    static_assert(SHARED_BYTES <= 227 * 1024, "a block has at most 227 KB");
};

// How far the copies are. They run one k-block ahead of the arithmetic, over the ends of
// segments too, so they need a position of their own.
struct filler {
    struct position at;
    struct stage stage;
    int block_k, tile_row, tile_col; // the next k-block to copy
};

// Starts the copies of the next k-block into the stage that was read longest ago, as soon
// as the last warp has left it. All threads keep count, one gives the orders.
//
// A stage is filled for the r-th time (r = 0, 1, ...) when its round's parity is r & 1.
// `full` ends its phase r when the bytes of that filling have come, so a reader waits for
// parity r & 1. `empty` ends its phase r when that filling has been read, so whoever
// fills for the r-th time waits for phase r - 1, of parity (r & 1) ^ 1. For r = 0 there
// is no such phase, and the wait returns at once: the stage is free.
template <class T>
static __device__ __forceinline__ void
fill_stage(struct filler *f, const struct work *w, const CUtensorMap *A_map,
           const CUtensorMap *B_map, float *tiles, uint64_t *full, uint64_t *empty)
{
    if (f->block_k == f->at.segment.end) {
        if (!next_segment(w, &f->at))
            return;
        f->block_k = f->at.segment.begin;
        place_tile(w, T::ROWS_TOGETHER, f->at.segment.tile, &f->tile_row, &f->tile_col);
    }
    if (threadIdx.x == 0) {
        float *to = &tiles[f->stage.index * T::FLOATS];
        uint64_t *come = &full[f->stage.index];
        mbarrier_wait_parity(&empty[f->stage.index], f->stage.parity ^ 1);
        // One arrival, this one, and so many bytes: then the stage is full. A box that
        // reaches over the edge of the matrix brings as many as any other, some of them
        // zeros.
        mbarrier_arrive_expect_tx(come, T::FLOATS * sizeof(float));
        cp_async_bulk_tensor_2d(to, A_map, f->tile_row * T::BM, f->block_k * BK, come);
        cp_async_bulk_tensor_2d(to + T::A_FLOATS, B_map, f->tile_col * T::BN,
                                f->block_k * BK, come);
    }
    ++f->block_k;
    next_stage(&f->stage);
}

// One block an SM: 256 threads with up to 255 registers are all that an SM has. That is 8
// warps of 64, an occupancy of 12.5 %, and enough: a thread has 128 products to start
// between two reads, and nothing that takes long is waited for in the thread's own time.
template <int TM, int TN, int WARPS_DOWN>
__global__ void __launch_bounds__(THREADS, 1)
    matmul_kernel(const __grid_constant__ CUtensorMap A_map,
                  const __grid_constant__ CUtensorMap B_map,
                  const __grid_constant__ struct work w)
{
    typedef tile<TM, TN, WARPS_DOWN> T;
    // A_tile[k][m] and B_tile[k][n] of each stage: A comes transposed already.
    extern __shared__ __align__(1024) float tiles[];
    // full: the tiles of this stage have come. empty: all warps have read them.
    __shared__ uint64_t full[STAGES], empty[STAGES];

    // Who arrives at them: at `full` the thread that orders the copies, at `empty` one
    // lane of each warp. The __syncthreads() here is the kernel's only one.
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], WARPS);
        }
        fence_mbarrier_init();
    }
    __syncthreads();

    // 1. Find my place in the tile, the same in every tile: my warp's square, my lane's
    //    place in that. Which lane stands where matters more than one would think:
    //    lanes.cuh.
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int lane_row = lane_row_of<T::LANES>(lane);
    const int lane_col = lane_col_of<T::LANES>(lane);
    int thread_row = warp / (T::BN / T::WN) * T::WM + lane_row * 4;
    int thread_col = warp % (T::BN / T::WN) * T::WN + lane_col * 4;

    // Says that these two have changed, though they have not: or the compiler computes
    // them anew in every round, and lays out registers the worse for it.
    asm("" : "+r"(thread_row), "+r"(thread_col));

    // 2. Start the first copies. Arithmetic (`use`, `stage`) and copies (`filler`) walk
    //    through the same work, one behind the other.
    struct position use = start_position(&w);
    struct stage stage = {0, 0};
    struct filler filler = {use, stage, 0, 0, 0};
    fill_stage<T>(&filler, &w, &A_map, &B_map, tiles, full, empty);

    while (next_segment(&w, &use)) {
        // Set to zero one by one: `= {0}` makes the compiler keep the array in memory for
        // a moment, and that spoils its choice of registers.
        float acc[TM][TN];
#pragma unroll
        for (int m = 0; m < TM; ++m)
#pragma unroll
            for (int n = 0; n < TN; ++n)
                acc[m][n] = 0.0f;

        for (int block_k = use.segment.begin; block_k < use.segment.end; ++block_k) {
            // The order for the k-block after this one, which may belong to the next
            // tile: while a tile's results are stored, the copies of the next are on
            // their way.
            fill_stage<T>(&filler, &w, &A_map, &B_map, tiles, full, empty);

            // 3. Compute, as soon as this k-block has come. The last of a tile may be
            //    thin: what lies past the end of K came as zeros, and whole rounds of
            //    zeros are left out.
            mbarrier_wait_parity(&full[stage.index], stage.parity);
            const float *A_tile = &tiles[stage.index * T::FLOATS + thread_row];
            const float *B_tile =
                &tiles[stage.index * T::FLOATS + T::A_FLOATS + thread_col];
            const int depth = min(BK, w.K - block_k * BK);
            // 8 steps are 1,077 instructions, 17 KB. Instructions come through a cache
            // too: 18 steps, 39 KB, do not fit, and a tenth of the time goes into waiting
            // for code (tried/unroll_18.diff).
#pragma unroll 1
            for (int k0 = 0; k0 < depth; k0 += UNROLL) {
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    float a_frag[TM], b_frag[TN];
                    load_fragment<TM>(a_frag, A_tile + k * T::BM, T::ROW_STEP);
                    load_fragment<TN>(b_frag, B_tile + k * T::BN, T::COL_STEP);
                    // There and back again, as in chapter 9: 128 multiply-adds for 6
                    // reads.
#pragma unroll
                    for (int m = 0; m < TM; ++m)
#pragma unroll
                        for (int i = 0; i < TN; ++i) {
                            const int n = m % 2 ? i : TN - 1 - i;
                            acc[m][n] += a_frag[m] * b_frag[n];
                        }
                }
                A_tile += UNROLL * T::BM;
                B_tile += UNROLL * T::BN;
            }
            // Every lane has read what it wanted; one of them says so for all.
            __syncwarp();
            if (lane == 0)
                mbarrier_arrive(&empty[stage.index]);
            next_stage(&stage);
        }

        // 4. Part of a tile: leave it for whoever brings the last part. That warp adds
        //    them all in the order of k, so that the sum does not depend on who came
        //    when.
        if (use.segment.end - use.segment.begin < w.blocks_k) {
            const int tile_number = use.segment.tile - w.whole_tiles;
            const int start = tile_number * w.blocks_k;
            const int first = owner_of(&w, start);
            const int last = owner_of(&w, start + w.blocks_k - 1);
            const int PART = T::BM * T::BN;
            // A block has two parts at most: the start of a tile, and the end or middle
            // of another. The start of a tile is always its owner's second.
            float *part = &w.parts[threadIdx.x];
            const bool starts = use.segment.begin == 0;
            float *mine = part + (2 * (size_t)blockIdx.x + starts) * PART;
#pragma unroll
            for (int m = 0; m < TM; ++m)
#pragma unroll
                for (int n = 0; n < TN; ++n)
                    mine[(m * TN + n) * THREADS] = acc[m][n];
            // Neighbouring threads write neighbouring floats: element (m, n) of all
            // threads lies together. Mine must be visible to the whole GPU before I say
            // that it is there (the first fence), and theirs must be read after they have
            // said so (the second). The warp is the unit: it needs nothing of the block's
            // other warps.
            __threadfence();
            __syncwarp();
            int before = 0;
            int *arrived = &w.arrived[tile_number * WARPS + warp];
            if (lane == 0)
                before = atomicAdd(arrived, 1);
            before = __shfl_sync(0xffffffffu, before, 0);
            // Not the last to come: on to the next segment.
            if (before != last - first)
                continue;
            __threadfence();
            if (lane == 0)
                *arrived = 0; // ready for the next product
            // Four rows at a time, so that the loads of all parts need few registers.
            // __ldcg reads past the L1, which may hold an older state of these addresses.
#pragma unroll
            for (int m0 = 0; m0 < TM; m0 += 4) {
#pragma unroll
                for (int m = m0; m < m0 + 4; ++m)
#pragma unroll
                    for (int n = 0; n < TN; ++n)
                        acc[m][n] = 0.0f;
                for (int block = first; block <= last; ++block) {
                    const bool began = block == first;
                    const float *theirs = part + (2 * (size_t)block + began) * PART;
#pragma unroll
                    for (int m = m0; m < m0 + 4; ++m)
#pragma unroll
                        for (int n = 0; n < TN; ++n)
                            acc[m][n] += __ldcg(&theirs[(m * TN + n) * THREADS]);
                }
            }
        }

        // 5. Store the results that lie inside C. The other warps may be a stage behind,
        //    or in the next tile already: nobody waits for the store.
        int tile_row, tile_col;
        place_tile(&w, T::ROWS_TOGETHER, use.segment.tile, &tile_row, &tile_col);
#pragma unroll
        for (int m = 0; m < TM; ++m) {
#pragma unroll
            for (int n = 0; n < TN; n += 4) {
                const int in_tile = thread_row + m / 4 * T::ROW_STEP + m % 4;
                const int row = tile_row * T::BM + in_tile;
                const int col = tile_col * T::BN + thread_col + n / 4 * T::COL_STEP;
                if (row < w.M && col < w.N)
                    store4(&w.C[(size_t)row * w.N + col], &acc[m][n], w.N - col,
                           w.aligned, w.alpha, w.beta);
            }
        }
    }
}

/* ---- the host's side ---- */

// Deals the tiles to `blocks` blocks: whole tiles as long as all get the same number, and
// then what is left in equal shares. Where sharing gains less than a tenth of the last
// wave of tiles, or the k-blocks of what is left are more than an int can count, it is
// not done.
static void deal(struct work *w, int blocks)
{
    const long long tiles = (long long)w->tiles_down * w->tiles_across;
    long long left = tiles % blocks;
    if (left * 10 >= blocks * 9LL || left * w->blocks_k > 0x7fffffff)
        left = 0;
    w->whole_tiles = (int)(tiles - left);
    w->share = (int)(left * w->blocks_k / blocks);
    w->longer_shares = (int)(left * w->blocks_k % blocks);
}

// The small kernel, for tiles that are dealt once, a block each: split-K into as many
// parts as there is room for blocks, of at least 32 steps each.
template <class T>
static void launch_small(int sms, struct work w, const float *A, const float *B)
{
    const int M = w.M, N = w.N, K = w.K;
    // No part shorter than 32 steps: it would cost more to add up than to compute.
    const unsigned tiles = ((M - 1) / T::BM + 1u) * ((N - 1) / T::BN + 1u);
    unsigned parts = sms * T::BLOCKS / tiles, most = (K - 1) / 32 + 1;
    parts = parts < 1 ? 1 : parts < most ? parts : most;
    const int k_share = ((K - 1) / parts / T::BK + 1) * T::BK;
    parts = (K - 1) / k_share + 1;

    const size_t size = (size_t)M * N;
    float *sum = parts > 1 ? scratch(PARTS, parts * size * sizeof(float)) : w.C;
    const float a = parts > 1 ? 1.0f : w.alpha, b = parts > 1 ? 0.0f : w.beta;
    CUDA_CHECK(cudaFuncSetAttribute(
        small_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, T::SHARED_BYTES));
    small_kernel<T><<<dim3(tiles, parts), T::THREADS, T::SHARED_BYTES>>>(
        M, N, K, k_share, a, A, readable_B(K, N, B), round_up_to_4(N), b, sum, w.aligned);
    if (parts == 1)
        return;
    const unsigned adders = (unsigned)((size / (w.aligned ? 4 : 1) - 1) / 128 + 1);
    if (w.aligned)
        add_parts<4><<<adders, 128>>>(size, parts, w.alpha, sum, w.beta, w.C);
    else
        add_parts<1><<<adders, 128>>>(size, parts, w.alpha, sum, w.beta, w.C);
}

// The large kernel, with tiles of TM * 4 * WARPS_DOWN x TN * 8 * (WARPS / WARPS_DOWN).
template <int TM, int TN, int WARPS_DOWN>
static void launch(int sms, struct work w, const float *A, const float *B)
{
    typedef tile<TM, TN, WARPS_DOWN> T;
    const CUtensorMap A_map =
        tensor_map_2d(transposed_A(w.M, w.K, A), w.K, w.M, round_up_to_4(w.M), BK, T::BM);
    const CUtensorMap B_map =
        tensor_map_2d(readable_B(w.K, w.N, B), w.K, w.N, round_up_to_4(w.N), BK, T::BN);
    w.tiles_down = (w.M - 1) / T::BM + 1;
    w.tiles_across = (w.N - 1) / T::BN + 1;
    w.blocks_k = (w.K - 1) / BK + 1;
    const long long pieces = (long long)w.tiles_down * w.tiles_across * w.blocks_k;
    const int blocks = pieces < sms ? (int)pieces : sms;
    deal(&w, blocks);
    // Two parts a block, see step 4 of the kernel; and fewer tiles are shared than there
    // are blocks, so that each has counters of its own for its warps.
    w.parts = scratch(PARTS, 2 * (size_t)sms * T::BM * T::BN * sizeof(float));
    w.arrived = (int *)scratch(ARRIVED, (size_t)sms * WARPS * sizeof(int));
    CUDA_CHECK(cudaFuncSetAttribute(matmul_kernel<TM, TN, WARPS_DOWN>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    T::SHARED_BYTES));
    matmul_kernel<TM, TN, WARPS_DOWN>
        <<<blocks, THREADS, T::SHARED_BYTES>>>(A_map, B_map, w);
}

static int sms; // that the product is dealt to

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
// Not for two host threads or streams at once: they would share the scratch memory.
static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    if (!sms)
        CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    // Which kernel: measured on an H200 with its 132 SMs, see the README. What decides is
    // how many tiles there are for the SMs, and whether a tile's rows and columns would
    // be used.
    const double products = (double)M * N * K / sms;
    const long long wide_tiles = ((M - 1) / 128 + 1LL) * ((N - 1) / 256 + 1LL);
    const bool aligned = N % 4 == 0 && (size_t)C % 16 == 0;
    // What the tiles and the shares are, launch() fills in: it knows the tile.
    const struct work w = {M, N, K, alpha, beta, C, aligned};
    if (products <= 1.6e8 / 132 || (M < 64 && N < 64))
        launch_small<small_tile<32, 64, 4, 4, 8, 1>>(sms, w, A, B);
    else if (M <= 64)
        launch<8, 8, 2>(sms, w, A, B);
    else if (N <= 128)
        launch_small<small_tile<128, 128, 16, 8, 3, 2>>(sms, w, A, B);
    else if (wide_tiles <= sms / 4 || (wide_tiles <= sms && wide_tiles * 10 >= sms * 9LL))
        launch_small<small_tile<128, 256, 16, 8, 4, 1>>(sms, w, A, B);
    else
        launch<16, 8, 4>(sms, w, A, B);
}

// What a large product does on all SMs, a small one does on three: stages are filled again
// and again, and tiles are shared. So checking it takes no time.
static void matmul_on_3(int M, int N, int K, float alpha, const float *A, const float *B,
                        float beta, float *C)
{
    const int all = sms;
    sms = 3;
    matmul(M, N, K, alpha, A, B, beta, C);
    sms = all;
}

static const struct product PRODUCTS[] = {
    {60, 500, 150, 1.5f, -0.5f, matmul_on_3, "--sms 3"},  // launch<8, 8, 2>
    {400, 200, 80, 1.5f, -0.5f, matmul_on_3, "--sms 3"},  // launch<16, 8, 4>
    {100, 127, 300, 1.5f, -0.5f, matmul_on_3, "--sms 3"}, // small_tile<128, 128, ...>
    {300, 200, 64, -0.5f, 0.0f, matmul_on_3, "--sms 3"},  // small_tile<128, 256, ...>
    {2049, 129, 12, 1.5f, -0.5f, matmul_on_3, "--sms 3"}, // a second band of tiles
};

// Step 3 alone, for main to measure: what is the most that this kernel could reach?
#include "ceiling.cuh"

// Tiles depend on the problem, so a report of a wrong result cannot name block and
// thread.
int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 13,
        .title = "beyond cuBLAS: nothing but multiply-adds",
        .about = "copies",
        .launch = matmul,
        .flop_per_byte = tile<16, 8, 4>::FLOP_PER_BYTE,
        .min_capability = 90,
        .kernel = KERNEL(matmul_kernel<16, 8, 4>),
        .threads = THREADS,
        .dynamic_shared = tile<16, 8, 4>::SHARED_BYTES,
        .products = PRODUCTS,
        .product_count = sizeof PRODUCTS / sizeof *PRODUCTS,
        .measure_more = measure_ceilings,
        .own_option = "--sms",
        .own_value = &sms,
        .more_help = "    --sms N        deal the product to N SMs\n",
    };
    return chapter_main(argc, argv, &chapter);
}
