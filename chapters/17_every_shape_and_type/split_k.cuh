/* Products with few tiles of 64 x 64, or few rows or columns. Where B is large, its rows
 * begin at multiples of 16 bytes. A small matrix' rows may begin anywhere, and are copied
 * then. So may a large A's: a tile is made of rows that lie so far apart that they all
 * begin at the same place in a cache line.
 *
 * Their time is that of the way from memory and of a kernel's start. The blocks of a
 * cluster divide K among them (split-K), and send their sums to each other through shared
 * memory, so one kernel is enough; where K is long, several clusters divide it, and the
 * last to come adds up what the others have left in memory. Ordinary asynchronous copies
 * serve, 16 bytes a thread: they need no description of a matrix, which would have to be
 * fetched first, and rows that do not exist cost nothing. */
#ifndef SPLIT_K_CUH
#define SPLIT_K_CUH

#include "mma_sync.h"
#include "prepare.cuh"
#include "results.cuh"
#include "shares.cuh"
#include "thin.cuh"

#include <cuda_pipeline.h>

const int SIDE = 64;         // of a tile; and so many k in a step
const int EIGHTS = SIDE / 8; // of columns in a tile: a thread has four sums in each
const int SPLIT_THREADS = 128;
const int MOST_BLOCKS = 8;                  // of a cluster: more are not portable
const int FEW_STAGES = 6, MANY_STAGES = 11; // for two blocks on an SM, and for one
static_assert(SIDE * sizeof(__nv_bfloat16) == 128, "a row of a stage is 128 bytes");
static_assert(SIDE == SLAB, "B's swizzled rows are as wide as a tile");
static_assert(EIGHTS % MOST_BLOCKS == 0, "each block of a cluster adds up whole eights");

template <class T> struct split_k {
    int M, N, K;
    int blocks, clusters; // that divide a tile's K: several clusters of 8 blocks only
    int share;            // steps of a block
    // Bytes from row to row; from column to column if B is handed over by its columns.
    size_t A_pitch, B_pitch;
    int apart;     // a tile's rows: every so many of A and C, a power of two
    size_t A_step; // bytes from one of them to the next
    bool pairs;    // C is written two results at a time
    float alpha, beta;
    const T *A, *B;
    T *C;
    float4 *parts; // of clusters, if there are several: [tile][cluster][eight][thread]
    int *arrived;  // [tile][eight][warp]: parts brought so far
};

// What comes from each block of a cluster: its sums for my eights of columns.
struct cluster_sums {
    float4 sums[EIGHTS][SPLIT_THREADS];
    uint64_t all_here;
};

template <int STAGES> struct split_k_shared {
    struct stage {
        __nv_bfloat16 A[SIDE][SIDE], B[SIDE][SIDE];
    } stages[STAGES];
    struct cluster_sums sums;
};

// Starts copying 64 rows of 128 bytes, of which this thread has 16 bytes of every 16th.
// Only the first `bytes` of these are read, and only of rows from `begin` to before
// `limit`; the rest are zeros.
static __device__ __forceinline__ void bring_rows(uint32_t to, const char *from,
                                                  size_t row_bytes, int limit,
                                                  int bytes = 16, int begin = 0)
{
    const int ROWS = SPLIT_THREADS / 8;
#pragma unroll
    for (int row = 0; row < SIDE; row += ROWS) {
        cp_async<16>(to + row * 128, from, row >= begin && row < limit ? bytes : 0);
        from += ROWS * row_bytes;
    }
}

// Leaves the cluster's sums for an eight of the tile's columns for the last cluster that
// comes. Returns true to that one, with the sum of all of them, in the order of k: so it
// does not depend on who came when.
template <class T>
static __device__ __forceinline__ bool add_clusters(const struct split_k<T> *w, int eight,
                                                    float4 *sum)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t tile = blockIdx.z * (size_t)gridDim.x + blockIdx.x;
    const size_t CLUSTER = EIGHTS * SPLIT_THREADS;
    float4 *parts =
        w->parts + tile * w->clusters * CLUSTER + eight * SPLIT_THREADS + threadIdx.x;
    parts[blockIdx.y / w->blocks * CLUSTER] = *sum;
    // All of the warp's are written, and visible to the GPU, before lane 0 says so.
    __syncwarp();
    __threadfence();
    int *arrived = &w->arrived[(tile * EIGHTS + eight) * (SPLIT_THREADS / 32) + warp];
    int before = 0;
    if (lane == 0)
        before = atomicAdd(arrived, 1);
    before = __shfl_sync(0xffffffffu, before, 0);
    if (before != w->clusters - 1)
        return false;
    // What the others wrote before they said so is read after lane 0 has heard it.
    __threadfence();
    __syncwarp();
    if (lane == 0)
        *arrived = 0; // ready for the next product
    *sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 8
    for (int i = 0; i < w->clusters; ++i)
        add(sum, __ldcg(&parts[i * CLUSTER]));
    return true;
}

static __device__ __forceinline__ void store_two(__nv_bfloat16 *to, const float *two)
{
    *(uint32_t *)to = two_bf16(two[0], two[1]);
}

static __device__ __forceinline__ void store_two(float *to, const float *two)
{
    *(float2 *)to = make_float2(two[0], two[1]);
}

// Stores a thread's sums: of `count` eights of columns, from `col` on, two neighbours in
// `row` and two in the tile's eighth row below. alpha and beta, in fp32, before anything
// is rounded; beta == 0 must not read C.
template <class T>
static __device__ __forceinline__ void store_eights(const struct split_k<T> *w,
                                                    float4 (&sums)[EIGHTS], int count,
                                                    int row, int apart, int col)
{
#pragma unroll
    for (int half = 0; half < 2; ++half, row += 8 * apart) {
        if (row >= w->M)
            return;
        T *C = &w->C[(size_t)row * w->N + col];
        float two[EIGHTS][2];
#pragma unroll
        for (int i = 0; i < EIGHTS; ++i) {
            two[i][0] = w->alpha * (half ? sums[i].z : sums[i].x);
            two[i][1] = w->alpha * (half ? sums[i].w : sums[i].y);
        }
        if (w->beta != 0.0f)
#pragma unroll
            for (int i = 0; i < EIGHTS; ++i)
                for (int j = 0; j < 2; ++j)
                    if (i < count && col + i * 8 + j < w->N)
                        two[i][j] += w->beta * as_float(C[i * 8 + j]);
        if (w->pairs)
#pragma unroll
            for (int i = 0; i < EIGHTS; ++i) {
                if (i < count && col + i * 8 < w->N)
                    store_two(&C[i * 8], two[i]);
            }
        else
#pragma unroll
            for (int i = 0; i < EIGHTS; ++i)
                for (int j = 0; j < 2; ++j)
                    if (i < count && col + i * 8 + j < w->N)
                        store_one(&C[i * 8 + j], two[i][j]);
    }
}

// A block's part in adding up a tile. The sums of the tile's columns go to the blocks in
// eights, as many to each; from a thread four numbers of each eight. Warps whose rows do
// not exist send nothing.
struct adding {
    int rank, mine;        // eights for each block
    int eights, my_eights; // that exist
    int warps;
};

// Makes ready for what the other blocks send, of a tile of so many rows and columns.
template <class T>
static __device__ __forceinline__ struct adding
expect_sums(const struct split_k<T> *w, struct cluster_sums *room, int rows, int columns)
{
    struct adding a;
    a.rank = w->blocks > 1 ? cluster_ctarank() : 0;
    a.mine = EIGHTS / w->blocks;
    a.eights = (min(SIDE, columns) + 7) / 8;
    a.my_eights = max(0, min(a.mine, a.eights - a.rank * a.mine));
    a.warps = (min(SIDE, rows) + 15) / 16;
    if (w->blocks > 1) {
        if (threadIdx.x == 0) {
            mbarrier_init(&room->all_here, 1);
            fence_mbarrier_init();
            mbarrier_arrive_expect_tx(&room->all_here, a.my_eights * (w->blocks - 1) *
                                                           a.warps * 32 *
                                                           (int)sizeof(float4));
        }
        __syncwarp();
        barrier_cluster_arrive_relaxed();
    }
    return a;
}

// Adds up the sums of a tile's blocks, and of its clusters, and stores them: acc are those
// of the tile's row `row`, this warp's first, and of the columns from `col` on.
template <class T>
static __device__ __forceinline__ void
bring_out(const struct split_k<T> *w, struct cluster_sums *room, const struct adding *a,
          const float (&acc)[SIDE / 2], int row, int apart, int col)
{
    const int thread = threadIdx.x, lane = thread % 32;
    const int rank = a->rank, mine = a->mine;
    if (thread / 32 >= a->warps)
        return;

    float4 sums[EIGHTS]; // of my eights, at last
#pragma unroll
    for (int i = 0; i < EIGHTS; ++i)
        sums[i] = make_float4(acc[i * 4], acc[i * 4 + 1], acc[i * 4 + 2], acc[i * 4 + 3]);
    if (w->blocks > 1) {
        barrier_cluster_wait();
#pragma unroll
        for (int i = 0; i < EIGHTS; ++i) {
            const int to = i / mine;
            float4 *at = &room->sums[rank * mine + i % mine][thread];
            if (to == rank)
                *at = sums[i];
            else if (i < a->eights)
                st_async(mapa(at, to), sums[i], mapa(&room->all_here, to));
        }
        mbarrier_wait_parity(&room->all_here, 0);
#pragma unroll
        for (int i = 0; i < EIGHTS; ++i)
            if (i % mine < a->my_eights)
                sums[i] = room->sums[i][thread];
        // Two and two, in the same order always.
#pragma unroll
        for (int half = EIGHTS / 2; half > 0; half /= 2)
#pragma unroll
            for (int i = 0; i < half && half >= mine; ++i)
                add(&sums[i], sums[i + half]);
    }
    if (w->clusters > 1 && !(a->my_eights && add_clusters(w, rank, &sums[0])))
        return;
    store_eights(w, sums, a->my_eights, row + lane / 4 * apart, apart,
                 col + rank * mine * 8 + lane % 4 * 2);
}

// How the matrices lie: A and B by rows that begin at multiples of 16 bytes; or B by its
// columns, as A by its rows; or A's rows begin anywhere, and those of a tile lie apart.
enum lies { BY_ROWS, BY_COLUMNS, APART };

// The two loops over k are not unrolled: a kernel that runs for 5 us meets each of its
// instructions for the first time, and longer code was no faster (tried/unrolled.diff).
template <int STAGES, enum lies LIES>
__global__ void __launch_bounds__(SPLIT_THREADS, STAGES <= FEW_STAGES ? 2 : 1)
    split_k_kernel(const __grid_constant__ struct split_k<__nv_bfloat16> w)
{
    typedef split_k_shared<STAGES> shared;
    static_assert(sizeof(shared) <= (STAGES <= FEW_STAGES ? 113 : 227) * 1024,
                  "shared memory holds two blocks of few stages, or one of many");
    extern __shared__ __align__(1024) unsigned char split_bytes[];
    shared *const memory = (shared *)split_bytes;
    const int thread = threadIdx.x, warp = thread / 32;
    const bool B_ALONG_K = LIES == BY_COLUMNS, MOVED = LIES == APART;
    const int apart = MOVED ? w.apart : 1;
    const int down = blockIdx.z, row = (down & -apart) * SIDE + (down & (apart - 1));
    const int col = blockIdx.x * SIDE;
    if (MOVED && row >= w.M)
        return; // with the whole cluster: there are not as many rows of each kind
    const int rows = MOVED ? divided_up(w.M - row, apart) : w.M - row; // from here on
    // 8 rows are a multiple of 16 bytes whatever K is, 64 rows one of 128 bytes. So all
    // rows of a tile begin equally far behind such a multiple. That is where the first
    // step begins: k is negative until the rows do, and B has no rows there.
    const char *A = (const char *)w.A + row * w.A_pitch;
    const int moved = MOVED ? ((int)(uintptr_t)A & (2 * apart - 1)) / 2 : 0;

    // What this thread copies: of rows `first`, `first` + 16, ... of a stage the 16 bytes
    // from element `cell` on, to where the swizzle of 128 bytes puts them.
    const int all = divided_up(w.K + moved, SIDE);
    const int begin = min(all, (int)blockIdx.y * w.share);
    const int steps = min(w.share, all - begin);
    const int first = thread / 8, cell = thread % 8 * 8;
    const uint32_t place =
        shared_address(memory) + first * 128 + (thread % 8 ^ first % 8) * 16;
    const long long k_first = (long long)begin * SIDE - moved;
    A += (k_first + cell) * (int)sizeof *w.A + first * w.A_step;
    const char *B =
        B_ALONG_K ? (const char *)(w.B + k_first + cell) + (col + first) * w.B_pitch
                  : (const char *)(w.B + col + cell) + (k_first + first) * w.B_pitch;
    const int A_rows = rows - first;
    const int B_rows = w.N - col - (B_ALONG_K ? first : cell);
    const int k_all = (int)(w.K - k_first); // that are left at first
    int fill = STAGES - 1, next = 0;        // stages
    const uint32_t STAGE = sizeof(typename shared::stage);
    const auto bring_A = [&](int step, int stage) {
        const int k_left = k_all - step * SIDE;
        const int bytes = MOVED ? 2 * min(8, k_left - cell) : 16;
        if (step < steps)
            bring_rows(place + stage * STAGE, A, w.A_step, cell < k_left ? A_rows : 0,
                       bytes);
        A += SIDE * sizeof *w.A;
    };
    const auto bring_B = [&](int step, int stage) {
        const int k_left = k_all - step * SIDE;
        const uint32_t to = place + stage * STAGE + SIDE * 128;
        if (step < steps && B_ALONG_K)
            bring_rows(to, B, w.B_pitch, cell < k_left ? B_rows : 0);
        else if (step < steps)
            bring_rows(to, B, w.B_pitch, B_rows > 0 ? k_left - first : 0, 16,
                       MOVED ? k_left - first - w.K : 0);
        B += SIDE * (B_ALONG_K ? sizeof *w.B : w.B_pitch);
    };
    // What is read where it lies is asked for before B's copy is there. Not more of it, for
    // the first step waits for all of that.
    const int EARLY = MOVED ? 4 : 0;
#pragma unroll 1
    for (int step = 0; step < EARLY; ++step)
        bring_A(step, step);
    griddepcontrol_wait(); // for the copy of A or B
#pragma unroll 1
    for (int step = 0; step < STAGES - 1; ++step) {
        if (step >= EARLY)
            bring_A(step, step);
        bring_B(step, step);
        __pipeline_commit(); // perhaps of nothing, so that the count stays right
    }

    const struct adding adding = expect_sums(&w, &memory->sums, rows, w.N - col);

    float acc[SIDE / 2];
#pragma unroll
    for (int i = 0; i < SIDE / 2; ++i)
        acc[i] = 0.0f;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        __pipeline_wait_prior(STAGES - 2);
        wgmma_wait_group<0>();
        typename shared::stage *now = &memory->stages[next];
        // Before a row of A lies another's end: perhaps no number, and zero times that
        // would not be zero.
        if (MOVED && begin + step == 0 && cell < moved)
            for (int i = first; i < SIDE; i += SPLIT_THREADS / 8) {
                uint4 *word = (uint4 *)&now->A[i][(cell / 8 ^ i % 8) * 8];
                *word = only(*word, moved - cell, 8);
            }
        // The stage is here for all threads, and the one before has been read.
        fence_proxy_async();
        __syncthreads();
        const uint64_t a = wgmma_descriptor(now->A, 16, 8 * 128, WGMMA_SWIZZLE_128B);
        const uint64_t b = wgmma_descriptor(now->B, 16, 8 * 128, WGMMA_SWIZZLE_128B);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < SIDE / 16; ++k)
            wgmma_mma_async_bf16<0, !B_ALONG_K>(
                acc, a + k * 32 / 16, b + k * (B_ALONG_K ? 32 : 16 * 128) / 16, 1);
        wgmma_commit_group();
        next = next + 1 == STAGES ? 0 : next + 1;
        bring_A(step + STAGES - 1, fill);
        bring_B(step + STAGES - 1, fill);
        __pipeline_commit();
        fill = fill + 1 == STAGES ? 0 : fill + 1;
    }
    wgmma_wait_group<0>();
    wgmma_touch(acc);

    bring_out(&w, &memory->sums, &adding, acc, row + warp * 16 * apart, apart, col);
}

/* ---- the host's side ---- */

template <int STAGES, enum lies LIES>
static void launch_split_k_of(const struct split_k<__nv_bfloat16> *w, dim3 grid,
                              bool copied)
{
    const int bytes = sizeof(split_k_shared<STAGES>);
    CUDA_CHECK(cudaFuncSetAttribute(split_k_kernel<STAGES, LIES>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    cudaLaunchAttribute how[2] = {};
    how[0].id = cudaLaunchAttributeClusterDimension;
    how[0].val.clusterDim.x = how[0].val.clusterDim.z = 1;
    how[0].val.clusterDim.y = w->blocks;
    how[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    how[1].val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = SPLIT_THREADS;
    config.dynamicSmemBytes = bytes;
    config.attrs = how;
    config.numAttrs = copied ? 2 : 1;
    CUDA_CHECK(cudaLaunchKernelEx(&config, split_k_kernel<STAGES, LIES>, *w));
}

template <int STAGES>
static void launch_split_k_with(enum lies lies, const struct split_k<__nv_bfloat16> *w,
                                dim3 grid, bool copied)
{
    switch (lies) {
    case BY_ROWS: launch_split_k_of<STAGES, BY_ROWS>(w, grid, copied); break;
    case BY_COLUMNS: launch_split_k_of<STAGES, BY_COLUMNS>(w, grid, copied); break;
    case APART: launch_split_k_of<STAGES, APART>(w, grid, copied); break;
    }
}

// How many blocks should divide K, for so many tiles and steps: a power of two, up to 8, as
// long as SMs are free and two steps are left for each. On an H200 up to six steps are no
// slower undivided.
static int blocks_of_cluster(int tiles, int steps, int sms)
{
    const int FEW = 6;
    int blocks = 1;
    while (blocks < MOST_BLOCKS && steps > FEW && steps / (2 * blocks) >= 2) {
        const int more = 2 * blocks;
        const bool alone = divided_up(steps, more) > FEW_STAGES; // a block on its SM
        if (more * (long long)tiles > (alone && more > 2 ? sms_for_clusters(sms) : sms))
            break;
        blocks = more;
    }
    // Eight that fill the GPU do not fit with an SM for each, but two on an SM do.
    if (2 * blocks == MOST_BLOCKS && steps / MOST_BLOCKS >= FEW_STAGES &&
        MOST_BLOCKS * (long long)tiles <= sms)
        blocks = MOST_BLOCKS;
    return blocks;
}

// How many tiles the rows fill, if each has every `apart`-th of them: M % apart kinds have a
// row more than the others.
static int tiles_of_rows(int M, int apart)
{
    const int more = M % apart;
    return more * divided_up(M / apart + 1, SIDE) +
           (apart - more) * divided_up(M / apart, SIDE);
}

// How a product is done: all but the scales, the copies and the room for parts.
struct split_k_plan {
    struct split_k<__nv_bfloat16> w;
    dim3 grid;
    enum lies lies;
    bool copy_A, copy_B, many_stages;
};

// Returns whether the product is one for this kernel, and how it is done. Measured on
// an H200, it is the fastest for up to 64 rows; for up to 64 columns, but if there are more
// tiles than SMs, for up to 32 if A's rows begin with cache lines, and for eight at most
// otherwise; where a cluster for each tile would leave most SMs idle on a long way along K,
// if several divide it; and for products with no more than a tile for each SM, if a block's
// part of K is not too long: then wider tiles, which need fewer bytes, are faster. Of the
// matrices it only asks where they lie.
static bool plan_split_k(int M, int N, int K, const __nv_bfloat16 *A,
                         const __nv_bfloat16 *B, const __nv_bfloat16 *C,
                         struct split_k_plan *plan)
{
    if (K > 1 << 30) // steps beyond K are counted in 32 bits
        return false;
    const size_t size = sizeof *A;
    const int LONG = 16; // steps of SIDE that are worth a cluster more
    // So long a part of K is worth wider tiles: of one block, of each in a cluster, and of
    // each where a cluster for each tile has the most blocks: many wider tiles share such a K.
    const int FAR = 384, FAR_TOGETHER = 4096, FAR_OF_MOST = 960;
    struct split_k<__nv_bfloat16> w = {
        M, N, K
    };
    // A product with one column is one with one row: B lies in memory as a row does, and A,
    // transposed, is handed over by its columns.
    const bool one_column = N == 1 && engine_can(B, K * size);
    if (one_column)
        w.M = 1, w.N = M;
    const int across = divided_up(w.N, SIDE);
    const bool A_can = engine_can(A, K * size);
    const bool B_can = one_column || engine_can(B, N * size);
    // A matrix that is small, because C has few rows or columns, may begin its rows anywhere:
    // it is copied, to rows of 128 bytes at least, which are not to be too many.
    const bool copy_A = !A_can && B_can && !one_column && M <= SIDE && M <= N;
    // So may a large A. Every 8th row begins at the same place in 16 bytes, every 64th in a
    // cache line. The latter are faster if there are enough of them for half a tile.
    const bool apart = !A_can && !copy_A && (uintptr_t)A % 16 == 0 && N <= SIDE &&
                       (B_can || M >= 4 * SIDE);
    const bool lines = (uintptr_t)A % 128 == 0 && divided_up(M, 64) >= SIDE / 2;
    w.apart = !apart ? 1 : lines ? 64 : 8;
    const int down = divided_up(divided_up(w.M, w.apart), SIDE) * w.apart;
    const long long tiles = (long long)across * tiles_of_rows(w.M, w.apart);
    const int sms = number_of_blocks(), steps = divided_up(K + w.apart - 1, SIDE);
    const bool few = tiles <= sms;
    const bool columns =
        N <= SIDE && (few || apart || N <= FEW_COLUMNS ||
                      (N <= SIDE / 2 && ((uintptr_t)A | K * size) % 128 == 0));
    const bool copy_B = !B_can && (A_can || apart) && columns && N < M && K <= 1 << 20;
    w.blocks = few ? blocks_of_cluster((int)tiles, steps, sms) : 1;
    w.clusters = 1;
    if (w.blocks == MOST_BLOCKS)
        w.clusters =
            max(1, min(sms / (MOST_BLOCKS * (int)tiles), steps / (MOST_BLOCKS * LONG)));
    w.share = divided_up(steps, w.blocks * w.clusters);
    w.pairs = w.N % 2 == 0 && (uintptr_t)C % 4 == 0;
    const bool most = w.blocks == MOST_BLOCKS && tiles > MOST_BLOCKS;
    const bool far = w.share * SIDE > (w.blocks == 1 ? FAR
                                       : most        ? FAR_OF_MOST
                                                     : FAR_TOGETHER);
    const bool thin = w.M <= SIDE || columns || w.clusters > 1;
    const bool busy = 2 * w.blocks * tiles > sms_for_clusters(sms); // more than half
    if ((tile_columns && tile_columns != FEW_COLUMNS) || down > 65535 ||
        !(A_can || copy_A || apart) || !(B_can || copy_B) ||
        !((thin && busy) || (few && !far)))
        return false;
    // Two blocks on an SM: where one would have no use for its stages, and so that all of
    // many clusters run at a time.
    const bool fit = w.blocks <= 2 || w.blocks * tiles <= sms_for_clusters(sms);
    plan->w = w;
    plan->grid = dim3(across, w.blocks * w.clusters, down);
    plan->lies = one_column ? BY_COLUMNS : apart ? APART : BY_ROWS;
    plan->copy_A = copy_A, plan->copy_B = copy_B;
    plan->many_stages = few && fit && w.clusters == 1 && w.share > FEW_STAGES;
    return true;
}

// Launches the product, if it is one for this kernel, and returns whether it is.
static bool launch_split_k(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                           const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    struct split_k_plan plan;
    if (!plan_split_k(M, N, K, A, B, C, &plan))
        return false;
    struct split_k<__nv_bfloat16> w = plan.w;
    const bool one_column = plan.lies == BY_COLUMNS, apart = plan.lies == APART;
    const size_t size = sizeof *A;
    bool copied = false;
    w.alpha = alpha, w.beta = beta;
    w.C = C;
    w.A_pitch = K * size;
    w.B_pitch = (one_column ? K : N) * size;
    if (plan.copy_A || plan.copy_B)
        copied = make_readable((const void **)&A, apart ? 0 : M, K * size, &w.A_pitch,
                               (const void **)&B, K, N * size, &w.B_pitch);
    if (apart)
        w.A_pitch = K * size; // where it is
    w.A_step = w.A_pitch * w.apart;
    w.A = one_column ? B : A;
    w.B = one_column ? A : B;
    if (w.clusters > 1) {
        const size_t eights = (size_t)plan.grid.x * plan.grid.z * EIGHTS;
        w.parts = (float4 *)scratch(PARTS, eights * w.clusters * SPLIT_THREADS *
                                               sizeof *w.parts);
        w.arrived = (int *)scratch(ARRIVED, eights * (SPLIT_THREADS / 32) * sizeof(int));
    }
    if (plan.many_stages)
        launch_split_k_with<MANY_STAGES>(plan.lies, &w, plan.grid, copied);
    else
        launch_split_k_with<FEW_STAGES>(plan.lies, &w, plan.grid, copied);
    return true;
}

#endif
