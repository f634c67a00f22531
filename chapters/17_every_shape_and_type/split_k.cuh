/* Products with few tiles of 64 x 64, whose rows begin at multiples of 16 bytes: the time
 * they take is that of the way from memory, and of a kernel's start. The blocks of a
 * cluster divide K among them (split-K), and send their sums to each other through shared
 * memory, so one kernel is enough. Ordinary asynchronous copies serve, 16 bytes a thread:
 * they need no description of a matrix, which would have to be fetched first, and rows
 * that do not exist cost nothing. */
#ifndef SPLIT_K_CUH
#define SPLIT_K_CUH

#include "mma_sync.h"
#include "prepare.cuh"
#include "results.cuh"
#include "shares.cuh"
#include "thin.cuh"

#include <cuda_pipeline.h>

const int SIDE = 64; // of a tile; and so many k in a step
const int SPLIT_THREADS = 128;
const int FEW_STAGES = 6, MANY_STAGES = 11; // for two blocks on an SM, and for one
static_assert(SIDE * sizeof(__nv_bfloat16) == 128, "a row of a stage is 128 bytes");
static_assert(SIDE == SLAB, "B's swizzled rows are as wide as a tile");

struct split_k {
    int M, N, K;
    int across;        // tiles in a row of them
    int blocks, share; // that divide K, and the steps of each
    float alpha, beta;
    const __nv_bfloat16 *A, *B;
    __nv_bfloat16 *C;
};

template <int STAGES> struct split_k_shared {
    struct stage {
        __nv_bfloat16 A[SIDE][SIDE], B[SIDE][SIDE];
    } stages[STAGES];
    // What came from each block of the cluster: its sums for my rows of the tile. Groups of
    // eight columns have changed places, as in a swizzle, so that banks are even.
    float sums[SIDE][SIDE];
    uint64_t all_here; // the sums
};

// Starts copying 64 rows of 128 bytes, of which this thread has its 16 bytes of every 16th.
// Only rows below `limit` are read; the others are zeros.
static __device__ __forceinline__ void bring_rows(uint32_t to, const char *from,
                                                  size_t row_bytes, int limit)
{
    const int ROWS = SPLIT_THREADS / 8;
#pragma unroll
    for (int row = 0; row < SIDE; row += ROWS) {
        cp_async<16>(to + row * 128, from, row < limit ? 16 : 0);
        from += ROWS * row_bytes;
    }
}

// B_ALONG_K: B is handed over by its columns, as A by its rows.
//
// The code is short on purpose, loops that could be unrolled are not: a kernel that runs
// for 6 us meets each of its instructions for the first time, and they come from memory.
template <int STAGES, bool B_ALONG_K>
__global__ void __launch_bounds__(SPLIT_THREADS, STAGES <= FEW_STAGES ? 2 : 1)
    split_k_kernel(const __grid_constant__ struct split_k w)
{
    typedef split_k_shared<STAGES> shared;
    static_assert(sizeof(shared) <= (STAGES <= FEW_STAGES ? 113 : 227) * 1024,
                  "shared memory holds two blocks of few stages, or one of many");
    extern __shared__ __align__(1024) unsigned char split_bytes[];
    shared *const memory = (shared *)split_bytes;
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    const int rank = blockIdx.x % w.blocks, tile = blockIdx.x / w.blocks;
    const int row = tile / w.across * SIDE, col = tile % w.across * SIDE;
    // My rows of the tile's sums, which all blocks send to me, in eights that exist.
    const int slice = SIDE / w.blocks, rows = (min(SIDE, w.M - row) + 7) / 8 * 8;
    if (w.blocks > 1) {
        if (thread == 0) {
            mbarrier_init(&memory->all_here, 1);
            fence_mbarrier_init();
            const int mine = max(0, min(slice, rows - rank * slice));
            mbarrier_arrive_expect_tx(&memory->all_here,
                                      mine * SIDE * w.blocks * sizeof(float));
        }
        __syncwarp();
        barrier_cluster_arrive_relaxed();
    }

    // What this thread copies: of rows `first`, `first` + 16, ... of a stage the 16 bytes
    // from element `cell` on, to where the swizzle of 128 bytes puts them.
    const int all = divided_up(w.K, SIDE), begin = min(all, rank * w.share);
    const int steps = min(w.share, all - begin);
    const int first = thread / 8, cell = thread % 8 * 8;
    const uint32_t place =
        shared_address(memory) + first * 128 + (thread % 8 ^ first % 8) * 16;
    const size_t K_bytes = w.K * sizeof *w.A, N_bytes = w.N * sizeof *w.B;
    const size_t k_first = (size_t)begin * SIDE;
    const char *A = (const char *)&w.A[(row + first) * (size_t)w.K + k_first + cell];
    const char *B =
        (const char *)(B_ALONG_K ? &w.B[(col + first) * (size_t)w.K + k_first + cell]
                                 : &w.B[(k_first + first) * w.N + col + cell]);
    const int A_rows = w.M - row - first;
    const int B_rows = w.N - col - (B_ALONG_K ? first : cell);
    int k_left = (int)(w.K - (long long)k_first);

    float acc[SIDE / 2];
#pragma unroll
    for (int i = 0; i < SIDE / 2; ++i)
        acc[i] = 0.0f;
    int fill = 0, next = 0; // stages
#pragma unroll 1
    for (int step = 1 - STAGES; step < steps; ++step) {
        if (step >= 0) {
            __pipeline_wait_prior(STAGES - 2);
            wgmma_wait_group<0>();
            // The stage is here for all threads, and the one before has been read.
            fence_proxy_async();
            __syncthreads();
            const typename shared::stage *now = &memory->stages[next];
            const uint64_t a = wgmma_descriptor(now->A, 16, 8 * 128, WGMMA_SWIZZLE_128B);
            const uint64_t b = wgmma_descriptor(now->B, 16, 8 * 128, WGMMA_SWIZZLE_128B);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < SIDE / 16; ++k)
                wgmma_mma_async_bf16<0, !B_ALONG_K>(
                    acc, a + k * 32 / 16, b + k * (B_ALONG_K ? 32 : 16 * 128) / 16, 1);
            wgmma_commit_group();
            next = next + 1 == STAGES ? 0 : next + 1;
        }
        if (step + STAGES - 1 < steps) {
            const uint32_t to = place + fill * (uint32_t)sizeof(typename shared::stage);
            bring_rows(to, A, K_bytes, cell < k_left ? A_rows : 0);
            if (B_ALONG_K)
                bring_rows(to + SIDE * 128, B, K_bytes, cell < k_left ? B_rows : 0);
            else
                bring_rows(to + SIDE * 128, B, N_bytes, B_rows > 0 ? k_left - first : 0);
            A += SIDE * sizeof *w.A;
            B += SIDE * (B_ALONG_K ? sizeof *w.B : N_bytes);
            k_left -= SIDE;
            fill = fill + 1 == STAGES ? 0 : fill + 1;
        }
        __pipeline_commit(); // perhaps of nothing, so that the count stays right
    }
    wgmma_wait_group<0>();
    wgmma_touch(acc);

    // A warp has 16 rows of the tile; eight of them go to one block.
    if (w.blocks > 1)
        barrier_cluster_wait();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int eight = warp * 16 + half * 8;
        if (eight >= rows)
            break;
        float *at = memory->sums[rank * slice + eight % slice + lane / 4];
        const int to = eight / slice;
        const uint32_t there = mapa(at, to), barrier = mapa(&memory->all_here, to);
#pragma unroll
        for (int i = 0; i < SIDE / 8; ++i) {
            const int c = (i ^ lane / 4) * 8 + lane % 4 * 2;
            const float2 two =
                make_float2(acc[i * 4 + half * 2], acc[i * 4 + half * 2 + 1]);
            if (w.blocks > 1)
                st_async(there + c * (int)sizeof(float), two, barrier);
            else
                *(float2 *)&at[c] = two;
        }
    }
    if (w.blocks > 1)
        mbarrier_wait_parity(&memory->all_here, 0);
    else
        __syncthreads();

    // Eight results at a time, the parts always in the order of k.
    const int top = row + rank * slice, count = min(slice, w.M - top) * (SIDE / 8);
#pragma unroll 1
    for (int i = thread; i < count; i += SPLIT_THREADS) {
        const int r = i / (SIDE / 8), c = i % (SIDE / 8) * 8;
        if (col + c >= w.N)
            continue;
        float sum[8] = {};
#pragma unroll 1
        for (int from = 0; from < w.blocks; ++from) {
            const float *part = &memory->sums[from * slice + r][c ^ r % 8 * 8];
#pragma unroll
            for (int j = 0; j < 8; ++j)
                sum[j] += part[j];
        }
        __nv_bfloat16 *C = &w.C[(size_t)(top + r) * w.N + col + c];
        __align__(16) __nv_bfloat16 old[8], results[8];
        if (w.beta != 0.0f)
            *(uint4 *)old = *(const uint4 *)C;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const float before =
                w.beta == 0.0f ? 0.0f : w.beta * __bfloat162float(old[j]);
            results[j] = __float2bfloat16_rn(w.alpha * sum[j] + before);
        }
        *(uint4 *)C = *(const uint4 *)results;
    }
}

/* ---- the host's side ---- */

template <int STAGES, bool B_ALONG_K>
static void launch_split_k_of(const struct split_k *w, int tiles)
{
    const int bytes = sizeof(split_k_shared<STAGES>);
    CUDA_CHECK(cudaFuncSetAttribute(split_k_kernel<STAGES, B_ALONG_K>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = w->blocks;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = tiles * w->blocks;
    config.blockDim = SPLIT_THREADS;
    config.dynamicSmemBytes = bytes;
    config.attrs = &cluster;
    config.numAttrs = 1;
    CUDA_CHECK(cudaLaunchKernelEx(&config, split_k_kernel<STAGES, B_ALONG_K>, *w));
}

// How many blocks should divide K, for so many tiles and steps: a power of two, up to 8, as
// long as SMs are free and three steps are left for each.
static int blocks_of_cluster(int tiles, int steps, int sms)
{
    int blocks = 1;
    while (blocks < 8 && 2LL * blocks * tiles <= sms && steps / (2 * blocks) >= 3)
        blocks *= 2;
    return blocks;
}

// Returns whether the product is one for this kernel, and has been launched. Measured on an
// H200, it is the fastest for up to 64 rows, and for up to 64 columns if each tile has an
// SM; but where clusters would leave most SMs idle on a long way along K, thin.cuh has more
// blocks. Products with less than a tile for each SM, and K small, gain a little.
static bool launch_split_k(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                           const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    const size_t size = sizeof *A;
    const int SHORT = 2048; // steps of k that a block may have to itself
    struct split_k w = {M, N, K};
    w.alpha = alpha, w.beta = beta;
    w.A = A, w.B = B, w.C = C;
    // A product with one column is one with one row: B lies in memory as a row does, and A,
    // transposed, is handed over by its columns.
    const bool one_column = N == 1 && engine_can(B, K * size);
    if (one_column) {
        w.M = 1, w.N = M;
        w.A = B, w.B = A;
    }
    const long long tiles = (long long)divided_up(w.M, SIDE) * divided_up(w.N, SIDE);
    const int sms = number_of_blocks(), steps = divided_up(K, SIDE);
    const bool few = tiles <= sms;
    w.across = divided_up(w.N, SIDE);
    w.blocks = few ? blocks_of_cluster((int)tiles, steps, sms) : 1;
    w.share = divided_up(steps, w.blocks);
    const bool thin = (w.M <= SIDE || (w.N <= SIDE && few)) &&
                      (2 * w.blocks * tiles > sms || w.share * SIDE <= SHORT);
    if ((tile_columns && tile_columns != FEW_COLUMNS) || K > 1 << 30 || tiles > 1 << 30 ||
        !engine_can(A, K * size) || !(one_column || engine_can(B, N * size)) ||
        !engine_can(C, w.N * size) || !(thin || (few && K <= 768)))
        return false;
    if (few)
        (one_column ? launch_split_k_of<MANY_STAGES, true>
                    : launch_split_k_of<MANY_STAGES, false>)(&w, (int)tiles);
    else
        (one_column ? launch_split_k_of<FEW_STAGES, true>
                    : launch_split_k_of<FEW_STAGES, false>)(&w, (int)tiles);
    return true;
}

#endif
