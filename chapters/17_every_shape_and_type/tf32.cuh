/* tf32: floats of which the tensor core takes 11 significant bits. It wants k along the
 * rows of both operands, and B's rows run along n. So the product is turned over,
 *
 *     C^T = B^T * A^T,
 *
 * and B^T is the operand that may come from registers: each thread reads its elements of B
 * from shared memory, and A is read by the tensor core as it lies.
 */
#ifndef TF32_CUH
#define TF32_CUH

#include "13_copy_engine/fp32.cuh"
#include "matmul.h"
#include "prepare.cuh"
#include "ring.cuh"
#include "shares.cuh"

// A block does BM rows of C and 128 columns; a warpgroup 64 of these columns. The blocks of
// a cluster lie side by side and share the rows of A.
const int TF32_BN = 128;
const int TF32_BK = 32;
const int TF32_SLAB = 32; // columns of B that lie together
const int TF32_CLUSTER = 2;
const int TF32_THREADS = (1 + TF32_BN / 64) * 128;

template <int BM_> struct tf32_tile {
    static const int BM = BM_;
    static const int STAGES = BM == 256 ? 4 : (BM == 128 ? 6 : 8);
    struct stage {
        float A[BM][TF32_BK];
        float B[TF32_BN / TF32_SLAB][TF32_BK][TF32_SLAB];
    };
    static_assert(sizeof(stage) % 1024 == 0,
                  "swizzled matrices begin at multiples of it");
    static_assert(STAGES * sizeof(stage) <= 226 * 1024, "a block has 227 KB");
};

struct tf32_work {
    int M, N;
    float alpha, beta;
    float *C;
    struct shares shares;
};

template <class T>
static __device__ void tf32_produce(const struct tf32_work *w, const CUtensorMap *A_map,
                                    const CUtensorMap *B_map, typename T::stage *stages,
                                    uint64_t *full, uint64_t *empty, struct position p)
{
    const int rows = T::BM / TF32_CLUSTER; // of A that this block brings, for both
    const int first = cluster_ctarank() * rows;
    struct turn t = {0, 0};
    for (; p.more; next_segment(&w->shares, gridDim.x / TF32_CLUSTER, &p)) {
        const int row = p.down * T::BM;
        const int col = (p.across * TF32_CLUSTER + (int)cluster_ctarank()) * TF32_BN;
        for (int step = p.segment.begin; step < p.segment.end; ++step) {
            typename T::stage *to = &stages[t.index];
            uint64_t *come = &full[t.index];
            mbarrier_wait_parity(&empty[t.index], t.parity ^ 1);
            mbarrier_arrive_expect_tx(come, sizeof *to);
            cp_async_bulk_tensor_2d_multicast(to->A[first], A_map, step * TF32_BK,
                                              row + first, come, (1 << TF32_CLUSTER) - 1);
            for (int slab = 0; slab < TF32_BN / TF32_SLAB; ++slab)
                cp_async_bulk_tensor_2d(to->B[slab], B_map, col + slab * TF32_SLAB,
                                        step * TF32_BK, come);
            next_turn<T::STAGES>(&t);
        }
    }
    finish_ring<T::STAGES>(&t, empty);
}

// One step: this thread's elements of B^T, then the products; then the stage of the step
// before, whose products are over, is released. Row g of a fragment is column g % 4 + 16 *
// (g / 4) of the warp's, and row g + 8 is four columns further. In this order the 32 lanes,
// four k and eight columns, read 32 banks, as the slab is swizzled.
template <class T>
static __device__ __forceinline__ void
tf32_step(float (&acc)[T::BM / 2], uint32_t (&fragments)[TF32_BK / 8][4],
          const typename T::stage *stages, struct turn *t, int warp, bool first,
          uint64_t *full, uint64_t *empty)
{
    const typename T::stage *now = &stages[t->index];
    const int lane = threadIdx.x % 32, g = lane / 4;
    mbarrier_wait_parity(&full[t->index], t->parity);
#pragma unroll
    for (int k8 = 0; k8 < TF32_BK / 8; ++k8)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int k = k8 * 8 + lane % 4 + i / 2 * 4;
            const int cell = warp % 2 * 2 + g / 4 * 4 + i % 2; // four columns each
            fragments[k8][i] =
                __float_as_uint(now->B[warp / 2][k][(cell ^ k % 8) * 4 + g % 4]);
        }
    const uint64_t a = wgmma_descriptor(now->A, 16, 8 * 128, WGMMA_SWIZZLE_128B);
    wgmma_fence();
#pragma unroll
    for (int k8 = 0; k8 < TF32_BK / 8; ++k8)
        wgmma_mma_async_tf32(acc, fragments[k8], a + k8 * 32 / 16, !first || k8 > 0);
    wgmma_commit_group();
    wgmma_wait_group<1>();
    __syncwarp(); // each warp speaks for itself: all its lanes have read B
    if (!first)
        release<TF32_CLUSTER, 32>(&empty[(t->index + T::STAGES - 1) % T::STAGES]);
    next_turn<T::STAGES>(t);
}

// A warp holds BM rows of C and eight columns from `col` on, and the eight from col + 16
// on. Lanes with g < 4 have 0-3 and 4-7 of them, the others 16-19 and 20-23: they exchange
// one half, and eight lanes write eight columns, a whole sector.
template <class T>
static __device__ __forceinline__ void
tf32_store(const struct tf32_work *w, const float (&acc)[T::BM / 2], int row, int col)
{
    const int lane = threadIdx.x % 32, g = lane / 4;
#pragma unroll
    for (int i = 0; i < T::BM / 2; i += 4)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const float mine = acc[i + j], four_on = acc[i + j + 2];
            const float other = __shfl_xor_sync(0xffffffffu, g < 4 ? four_on : mine, 16);
            const float low = g < 4 ? mine : other, high = g < 4 ? other : four_on;
            const int r = row + i / 4 * 8 + lane % 4 * 2 + j;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int c = col + g + half * 16;
                if (r < w->M && c < w->N) {
                    float *to = &w->C[(size_t)r * w->N + c];
                    const float x = w->alpha * (half ? high : low);
                    *to = w->beta == 0.0f ? x : x + w->beta * *to;
                }
            }
        }
}

template <class T>
static __device__ __forceinline__ void
tf32_consume(const struct tf32_work *w, typename T::stage *stages, uint64_t *full,
             uint64_t *empty, struct position p)
{
    const int warp = threadIdx.x / 32 - 4; // of the consumers'
    struct turn t = {0, 0};
    for (; p.more; next_segment(&w->shares, gridDim.x / TF32_CLUSTER, &p)) {
        float acc[T::BM / 2];
        // Registers belong to the products that read them until those are over: one step
        // reads one set while the next fills the other.
        uint32_t even[TF32_BK / 8][4], odd[TF32_BK / 8][4];
        const int steps = p.segment.end - p.segment.begin;
        int step = 0;
        for (; step + 1 < steps; step += 2) {
            tf32_step<T>(acc, even, stages, &t, warp, step == 0, full, empty);
            tf32_step<T>(acc, odd, stages, &t, warp, false, full, empty);
        }
        if (step < steps)
            tf32_step<T>(acc, even, stages, &t, warp, step == 0, full, empty);
        wgmma_wait_group<0>();
        release<TF32_CLUSTER, 32>(&empty[(t.index + T::STAGES - 1) % T::STAGES]);
        wgmma_touch(acc);

        if (steps < w->shares.steps &&
            !add_parts<T::BM / 2, TF32_CLUSTER, TF32_BN / 16>(&w->shares, &p.segment, acc,
                                                              cluster_ctarank(), warp))
            continue;
        const int row = p.down * T::BM;
        const int col = (p.across * TF32_CLUSTER + (int)cluster_ctarank()) * TF32_BN;
        tf32_store<T>(w, acc, row, col + warp / 2 * TF32_SLAB + warp % 2 * 8);
    }
}

template <class T>
__global__ void CLUSTERS_OF(TF32_CLUSTER) __launch_bounds__(TF32_THREADS, 1)
    tf32_kernel(const __grid_constant__ CUtensorMap A_map,
                const __grid_constant__ CUtensorMap B_map,
                const __grid_constant__ struct tf32_work w)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    typename T::stage *const stages = (typename T::stage *)bytes;
    __shared__ uint64_t full[T::STAGES], empty[T::STAGES];
    const struct position p =
        start_position(&w.shares, blockIdx.x / TF32_CLUSTER, gridDim.x / TF32_CLUSTER);
    start_ring<T::STAGES, TF32_CLUSTER>(full, empty, TF32_BN / 16);
    if (threadIdx.x < 128) {
        setmaxnreg_dec<40>();
        if (threadIdx.x == 0)
            tf32_produce<T>(&w, &A_map, &B_map, stages, full, empty, p);
    } else {
        setmaxnreg_inc<232>();
        tf32_consume<T>(&w, stages, full, empty, p);
    }
}

template <class T>
static void tf32_launch_tiles(struct plan plan, int M, int N, int K, float alpha,
                              const float *A, const float *B, float beta, float *C)
{
    // The engine rounds to tf32 on the way; the core would cut.
    const CUtensorMapDataType TF32 = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    const CUtensorMapSwizzle SWIZZLE = CU_TENSOR_MAP_SWIZZLE_128B;
    const size_t size = sizeof(float);
    size_t A_stride, B_stride;
    make_readable((const void **)&A, M, K * size, &A_stride, (const void **)&B, K,
                  N * size, &B_stride);
    const CUtensorMap A_map = tensor_map_2d_of(TF32, A, M, K, A_stride / size,
                                               T::BM / TF32_CLUSTER, TF32_BK, SWIZZLE);
    const CUtensorMap B_map =
        tensor_map_2d_of(TF32, B, K, N, B_stride / size, TF32_BK, TF32_SLAB, SWIZZLE);
    make_room(&plan, TF32_CLUSTER, T::BM * TF32_BN, TF32_BN / 16);
    const struct tf32_work w = {M, N, alpha, beta, C, plan.shares};
    const int bytes = T::STAGES * sizeof(typename T::stage);
    CUDA_CHECK(cudaFuncSetAttribute(tf32_kernel<T>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    tf32_kernel<T>
        <<<plan.clusters * TF32_CLUSTER, TF32_THREADS, bytes>>>(A_map, B_map, w);
}

// What tiles of BM rows would make of the product: see plan_tiles(), whose constants these
// are for another kernel, found in the same way.
static struct plan tf32_plan(int M, int N, int K, int BM)
{
    const double size = sizeof(float);
    const struct cost cost = {
        .start = 11500.0,
        .step = BM * TF32_BN / 32.0,
        .L2 = size * TF32_BK * (BM / 2 + TF32_BN) / 40.0,
        .tile = 3000.0,
        .memory = size * ((double)M * (K + N) + (double)K * N) / 4000.0,
        .sharing = 8000.0,
        .part = size * BM * TF32_BN / 30.0,
    };
    return best_plan(
        divided_up(M, BM), divided_up(N, TF32_BN * TF32_CLUSTER), divided_up(K, TF32_BK),
        tile_columns ? 4 : number_of_blocks() / TF32_CLUSTER, THE_REST, &cost);
}

// Whether chapter 13's kernels, which multiply in fp32, are faster than tiles that take so
// many clocks: a number that is multiplied a few times only costs what it takes to bring
// it, and they bring it better than tiles do. Else their own estimate decides, beside what
// must be copied for tiles, at 2,000 bytes a clock.
static bool fp32_is_faster(int M, int N, int K, const float *A, const float *B,
                           double clocks)
{
    const double CLOCKS_A_NANOSECOND = 1.755, size = sizeof(float);
    if (M <= 8 || N <= 32 || K <= 8)
        return true;
    const double copied = (engine_can(A, K * size) ? 0.0 : size * 2 * M * K) +
                          (engine_can(B, N * size) ? 0.0 : size * 2 * K * N);
    if (copied > 0.0)
        clocks += 5000.0 + copied / 2000.0;
    return fp32_nanoseconds(fp32::sms, M, N, K, B) * CLOCKS_A_NANOSECOND < clocks;
}

static void tf32_launch(int M, int N, int K, float alpha, const float *A, const float *B,
                        float beta, float *C)
{
    const int HEIGHTS = 3, rows[HEIGHTS] = {64, 128, 256};
    struct plan plans[HEIGHTS];
    int best = 0;
    kind_asked_for();
    for (int i = 0; i < HEIGHTS; ++i) {
        plans[i] = tf32_plan(M, N, K, rows[i]);
        if (tile_columns ? rows[i] <= tile_columns : plans[i].clocks < plans[best].clocks)
            best = i;
    }
    fp32::sms = number_of_blocks();
    if (tile_columns ? tile_columns == FEW_COLUMNS
                     : fp32_is_faster(M, N, K, A, B, plans[best].clocks))
        fp32::matmul(M, N, K, alpha, A, B, beta, C);
    else if (best == 0)
        tf32_launch_tiles<tf32_tile<64>>(plans[0], M, N, K, alpha, A, B, beta, C);
    else if (best == 1)
        tf32_launch_tiles<tf32_tile<128>>(plans[1], M, N, K, alpha, A, B, beta, C);
    else
        tf32_launch_tiles<tf32_tile<256>>(plans[2], M, N, K, alpha, A, B, beta, C);
}

template <int COLUMNS>
static void tf32_few(int M, int N, int K, float alpha, const float *A, const float *B,
                     float beta, float *C)
{
    const int before = tile_columns;
    tile_columns = COLUMNS;
    tf32_launch(M, N, K, alpha, A, B, beta, C);
    tile_columns = before;
}

#endif
