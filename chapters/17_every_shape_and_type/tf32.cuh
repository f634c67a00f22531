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
#include "tf32_split_k.cuh"

const int TF32_BK = 32;
const int TF32_SLAB = 32; // columns of B that lie together
const int TF32_WARPS = 8, TF32_THREADS = 128 + TF32_WARPS * 32;

// Tiles of BM x BN. A warpgroup does 64 columns, so where there are no more, each of the
// two does one of PARTS of the rows. A cluster's tiles lie one below the other, so many
// DOWN, and share the columns of B; or side by side, so many ACROSS, and share A's rows.
template <int BM_, int BN_, int DOWN_, int ACROSS_> struct tf32_tile {
    static const int BM = BM_, BN = BN_;
    static const int DOWN = DOWN_, ACROSS = ACROSS_, CLUSTER = DOWN * ACROSS;
    static const int PARTS = 128 / BN, PART = BM / PARTS;
    static const int SUMS = PART / 2; // of a thread
    // Rows of a slab of C that two warps bring out at a time, by so many WAYS in turns.
    static const int OUT_ROWS = PART % 32 ? 16 : 32, WAYS = PART % (2 * OUT_ROWS) ? 1 : 2;
    struct stage {
        float A[BM][TF32_BK];
        float B[BN / TF32_SLAB][TF32_BK][TF32_SLAB];
    };
    typedef float outs[TF32_WARPS / 2][WAYS][OUT_ROWS][TF32_SLAB];
    static const int ROOM = (226 * 1024 - sizeof(outs)) / sizeof(stage);
    static const int STAGES = ROOM < 8 ? ROOM : 8;
    struct shared {
        stage stages[STAGES];
        outs out; // results on their way
    };
    // Where four sums lie that a thread leaves of a part at `at`: see leave_part().
    typedef float number;
    static __device__ __forceinline__ void place(int at, int (&row)[4], int (&col)[4])
    {
        const int four = at / (TF32_WARPS * 32), warp = at / 32 % TF32_WARPS;
        const int g = at % 32 / 4, part = warp / (BN / 16), mate = warp % (BN / 16);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            row[i] = part * PART + four * 8 + at % 4 * 2 + i % 2;
            col[i] = mate / 2 * TF32_SLAB + mate % 2 * 8 + g % 4 + g / 4 * 16 + i / 2 * 4;
        }
    }
    static_assert(sizeof(stage) % 1024 == 0,
                  "swizzled matrices begin at multiples of it");
    static_assert(BN == 64 || BN == 128,
                  "two warpgroups have 64 columns each, or the same");
    static_assert(STAGES >= 2, "one is read while the next comes");
    static_assert(PART % OUT_ROWS == 0, "rows are brought out in whole pieces");
    static_assert(DOWN == 1 || ACROSS == 1, "a cluster's blocks share one matrix");
    static_assert(BM / ACROSS % 8 == 0 && TF32_BK / DOWN % 8 == 0 && PART % 8 == 0,
                  "each block brings whole groups of 8 rows of what is shared");
};

struct tf32_work {
    int M, N;
    float alpha, beta;
    float *C;
    bool through_engine; // C may be written by the copy engine, and need not be read
    struct shares shares;
};

template <class T>
static __device__ void tf32_produce(const struct tf32_work *w, const CUtensorMap *A_map,
                                    const CUtensorMap *B_map, typename T::stage *stages,
                                    uint64_t *full, uint64_t *empty, struct position p)
{
    // Of what the cluster shares, a block brings so many rows, from `first` on, for all.
    const int rank = cluster_ctarank();
    const int rows = (T::ACROSS > 1 ? T::BM : TF32_BK) / T::CLUSTER, first = rank * rows;
    const uint16_t mates = (1u << T::CLUSTER) - 1;
    struct turn t = {0, 0};
    for (; p.more; next_segment(&w->shares, gridDim.x / T::CLUSTER, &p)) {
        const int col = (p.across * T::ACROSS + rank % T::ACROSS) * T::BN;
        const int row = (p.down * T::DOWN + rank % T::DOWN) * T::BM;
        for (int i = p.segment.begin; i < p.segment.end; ++i) {
            const int step = step_at(&p, i);
            typename T::stage *to = &stages[t.index];
            uint64_t *come = &full[t.index];
            mbarrier_wait_parity(&empty[t.index], t.parity ^ 1);
            mbarrier_arrive_expect_tx(come, sizeof *to);
            if (T::ACROSS == 1)
                cp_async_bulk_tensor_2d(to->A, A_map, step * TF32_BK, row, come);
            else
                cp_async_bulk_tensor_2d_multicast(to->A[first], A_map, step * TF32_BK,
                                                  row + first, come, mates);
            for (int slab = 0; slab < T::BN / TF32_SLAB; ++slab)
                if (T::DOWN == 1)
                    cp_async_bulk_tensor_2d(to->B[slab], B_map, col + slab * TF32_SLAB,
                                            step * TF32_BK, come);
                else
                    cp_async_bulk_tensor_2d_multicast(
                        to->B[slab][first], B_map, col + slab * TF32_SLAB,
                        step * TF32_BK + first, come, mates);
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
tf32_step(float (&acc)[T::SUMS], uint32_t (&fragments)[TF32_BK / 8][4],
          const typename T::stage *stages, struct turn *t, int part, int warp, bool first,
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
    const uint64_t a =
        wgmma_descriptor(now->A[part * T::PART], 16, 8 * 128, WGMMA_SWIZZLE_128B);
    wgmma_fence();
#pragma unroll
    for (int k8 = 0; k8 < TF32_BK / 8; ++k8)
        wgmma_mma_async_tf32(acc, fragments[k8], a + k8 * 32 / 16, !first || k8 > 0);
    wgmma_commit_group();
    wgmma_wait_group<1>();
    __syncwarp(); // each warp speaks for itself: all its lanes have read B
    if (!first)
        release<T::CLUSTER, 32>(&empty[(t->index + T::STAGES - 1) % T::STAGES]);
    next_turn<T::STAGES>(t);
}

// A warp holds rows of C and eight columns from `col` on, and the eight from col + 16
// on. Lanes with g < 4 have 0-3 and 4-7 of them, the others 16-19 and 20-23: they exchange
// one half, and eight lanes write eight columns, a whole sector.
template <class T>
static __device__ __forceinline__ void
tf32_store(const struct tf32_work *w, const float (&acc)[T::SUMS], int row, int col)
{
    const int lane = threadIdx.x % 32, g = lane / 4;
#pragma unroll
    for (int i = 0; i < T::SUMS; i += 4)
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

// The same through shared memory: two warps fill a slab, 128 bytes of each row, and the
// engine brings it to C while they go on. Lanes with g < 4 write one row of two first, the
// others the other: so the 32 lanes write to 32 banks.
template <class T>
static __device__ __forceinline__ void tf32_store_slab(
    const struct tf32_work *w, const CUtensorMap *C_map, const float (&acc)[T::SUMS],
    float (&out)[T::WAYS][T::OUT_ROWS][TF32_SLAB], int row, int col, int number)
{
    const int PIECES = T::PART / T::OUT_ROWS, lane = threadIdx.x % 32, g = lane / 4;
    const int pair = number / 2;
    const bool speaker = number % 2 == 0 && lane == 0;
    static_assert(PIECES % T::WAYS == 0,
                  "the next tile takes the ways in the same order");
#pragma unroll
    for (int piece = 0; piece < PIECES; ++piece, row += T::OUT_ROWS) {
        float(*part)[TF32_SLAB] = out[piece % T::WAYS];
        // What left from here before has been read.
        if (speaker)
            cp_async_bulk_wait_group_read<T::WAYS - 1>();
        bar_sync(1 + pair, 64);
#pragma unroll
        for (int i = 0; i < T::OUT_ROWS / 2; i += 2) {
            const float *two = &acc[piece * T::OUT_ROWS / 2 + i];
            const int cell = number % 2 * 2 + g / 4 * 4 + i / 2 % 2;
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const int r = i / 4 * 8 + lane % 4 * 2 + (j ^ g / 4);
                part[r][(cell ^ r % 8) * 4 + g % 4] =
                    w->alpha * (g < 4 ? two[j] : two[1 - j]);
            }
        }
        fence_proxy_async();
        bar_sync(1 + pair, 64);
        if (speaker) {
            cp_async_bulk_tensor_2d_store_evict_first(C_map, col, row, part);
            cp_async_bulk_commit_group();
        }
    }
}

template <class T>
static __device__ __forceinline__ void
tf32_consume(const struct tf32_work *w, const CUtensorMap *C_map,
             typename T::shared *memory, uint64_t *full, uint64_t *empty,
             struct position p)
{
    // Of the consumers' warps, so many lie side by side, with 16 columns each.
    const int number = threadIdx.x / 32 - 4;
    const int part = number / (T::BN / 16) % T::PARTS; // 0 if there is one: known here
    const int warp = number % (T::BN / 16);
    struct turn t = {0, 0};
    for (; p.more; next_segment(&w->shares, gridDim.x / T::CLUSTER, &p)) {
        const int rank = cluster_ctarank();
        float acc[T::SUMS];
        // Registers belong to the products that read them until those are over: one step
        // reads one set while the next fills the other.
        uint32_t even[TF32_BK / 8][4], odd[TF32_BK / 8][4];
        const int steps = p.segment.end - p.segment.begin;
        int step = 0;
        for (; step + 1 < steps; step += 2) {
            tf32_step<T>(acc, even, memory->stages, &t, part, warp, step == 0, full,
                         empty);
            tf32_step<T>(acc, odd, memory->stages, &t, part, warp, false, full, empty);
        }
        if (step < steps)
            tf32_step<T>(acc, even, memory->stages, &t, part, warp, step == 0, full,
                         empty);
        wgmma_wait_group<0>();
        release<T::CLUSTER, 32>(&empty[(t.index + T::STAGES - 1) % T::STAGES]);
        wgmma_touch(acc);

        const int row = (p.down * T::DOWN + rank % T::DOWN) * T::BM + part * T::PART;
        const int col =
            (p.across * T::ACROSS + rank % T::ACROSS) * T::BN + warp / 2 * TF32_SLAB;
        if (steps < w->shares.steps)
            leave_part<T::SUMS, TF32_WARPS * 32>(&w->shares, &p.segment, acc,
                                                 threadIdx.x - 128);
        else if (w->through_engine)
            tf32_store_slab<T>(w, C_map, acc, memory->out[number / 2], row, col, number);
        else
            tf32_store<T>(w, acc, row, col + warp % 2 * 8);
    }
    // Shared memory must stay until the last store has read it.
    if (threadIdx.x % 32 == 0)
        cp_async_bulk_wait_group_read<0>();
}

template <class T>
__global__ void CLUSTERS_OF(T::CLUSTER) __launch_bounds__(TF32_THREADS, 1)
    tf32_kernel(const __grid_constant__ CUtensorMap A_map,
                const __grid_constant__ CUtensorMap B_map,
                const __grid_constant__ CUtensorMap C_map,
                const __grid_constant__ struct tf32_work w)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    typename T::shared *const memory = (typename T::shared *)bytes;
    __shared__ uint64_t full[T::STAGES], empty[T::STAGES];
    start_ring<T::STAGES, T::CLUSTER>(full, empty, TF32_WARPS);
    const struct position p =
        start_position(&w.shares, blockIdx.x / T::CLUSTER, gridDim.x / T::CLUSTER);
    griddepcontrol_launch_dependents(); // parts are added up when I have ended
    barrier_cluster_wait();
    if (threadIdx.x < 128) {
        setmaxnreg_dec<40>();
        if (threadIdx.x == 0)
            tf32_produce<T>(&w, &A_map, &B_map, memory->stages, full, empty, p);
    } else {
        setmaxnreg_inc<232>();
        tf32_consume<T>(&w, &C_map, memory, full, empty, p);
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
                                               T::BM / T::ACROSS, TF32_BK, SWIZZLE);
    const CUtensorMap B_map = tensor_map_2d_of(TF32, B, K, N, B_stride / size,
                                               TF32_BK / T::DOWN, TF32_SLAB, SWIZZLE);
    make_ready(&plan, T::CLUSTER, T::BM * T::BN);
    const bool through_engine = beta == 0.0f && engine_can(C, N * size);
    const struct tf32_work w = {M, N, alpha, beta, C, through_engine, plan.shares};
    // Where C is not written through its map, any map will do.
    const CUtensorMap C_map =
        through_engine ? tensor_map_2d_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, C, M, N, N,
                                          T::OUT_ROWS, TF32_SLAB, SWIZZLE)
                       : A_map;
    const int bytes = sizeof(typename T::shared);
    CUDA_CHECK(cudaFuncSetAttribute(tf32_kernel<T>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    tf32_kernel<T>
        <<<plan.clusters * T::CLUSTER, TF32_THREADS, bytes>>>(A_map, B_map, C_map, w);
    launch_adders<T>(&plan.shares, M, N, alpha, beta, C);
}

// What tiles of this kind would make of the product: see plan_tiles(). All plans of 54
// kinds were measured for 121 products on an H200, and eight kinds kept. With their
// constants the chosen plan takes 1.3 % longer than the fastest, in the mean of 77 products,
// and 14 % at worst.
//
// A step takes the tensor core's clocks, of which the fit wants a seventh more, or shared
// memory's, which moves 128 bytes a clock, a row of A or 32 columns of B. Both warpgroups
// read all of A, and each its half of B; or, in two PARTS, half of A, and all of B.
template <class T> static struct plan tf32_plan(int M, int N, int K)
{
    const double size = sizeof(float);
    const int BM = T::BM, BN = T::BN;
    const double shared = 2.0 * T::PART + 128.0 + BM + BN;
    const struct cost cost = {
        .start = 10800.0 + 0.1 * BM * BN,
        .step = fmax(1.15 * BM * BN / 32.0, shared),
        .L2 = size * TF32_BK * (BM / T::ACROSS + BN / T::DOWN) / 40.0,
        .least = 280.0,
        .tile = 600.0,
        .memory = size * ((double)M * K + (K + 1.5 * M) * N) / 4800.0,
        .sharing = 2000.0,
        .part = size * BM * BN / 16.0,
        .adding = T::CLUSTER * size * BM * BN / (132 * 23.0),
        .uneven = 9000.0,
        .promise = 0.01,
    };
    return best_plan(divided_up(M, BM * T::DOWN), divided_up(N, BN * T::ACROSS),
                     divided_up(K, TF32_BK),
                     tile_columns ? 4 : number_of_clusters(T::CLUSTER), THE_REST, &cost);
}

// Whether chapter 13's kernels, which multiply in fp32, are faster than tiles that take so
// many clocks. Of a few rows or columns they are: a number that is multiplied a few times
// only costs what it takes to bring it, and they bring it better than tiles do. Else their
// own estimate decides, which is 2,000 clocks too short beside these, and what must be
// copied for tiles, at 1,400 bytes a clock and 6,000 clocks at first.
static bool fp32_is_faster(int M, int N, int K, const float *A, const float *B,
                           double clocks)
{
    const double CLOCKS_A_NANOSECOND = 1.98, size = sizeof(float);
    if (M <= 8 || N <= 8)
        return true;
    const double copied = (engine_can(A, K * size) ? 0.0 : size * 2 * M * K) +
                          (engine_can(B, N * size) ? 0.0 : size * 2 * K * N);
    if (copied > 0.0)
        clocks += 6000.0 + copied / 1400.0;
    return 2000.0 + fp32_nanoseconds(fp32::sms, M, N, K, B) * CLOCKS_A_NANOSECOND <
           clocks;
}

// The kinds. --tile asks for the last whose `name` is not above it: rows, of 128 columns,
// and 48 for 128 x 64.
static const struct tf32_kind {
    int name;
    struct plan (*plan)(int M, int N, int K);
    void (*launch)(struct plan plan, int M, int N, int K, float alpha, const float *A,
                   const float *B, float beta, float *C);
} tf32_kinds[] = {
#define KIND(NAME, ...)                                                                  \
    {NAME, tf32_plan<tf32_tile<__VA_ARGS__>>, tf32_launch_tiles<tf32_tile<__VA_ARGS__>>}
    KIND(16, 16, 128, 1, 1),   KIND(32, 32, 128, 2, 1),   KIND(48, 128, 64, 1, 1),
    KIND(64, 64, 128, 2, 1),   KIND(96, 96, 128, 2, 1),   KIND(128, 128, 128, 2, 1),
    KIND(192, 192, 128, 1, 2), KIND(256, 256, 128, 1, 2),
#undef KIND
};

static void tf32_launch(int M, int N, int K, float alpha, const float *A, const float *B,
                        float beta, float *C)
{
    if (tf32_launch_split_k(M, N, K, alpha, A, B, beta, C))
        return;
    const struct tf32_kind *best = NULL;
    struct plan plan = {};
    kind_asked_for();
    for (size_t i = 0; i < sizeof tf32_kinds / sizeof *tf32_kinds; ++i) {
        const struct tf32_kind *kind = &tf32_kinds[i];
        const struct plan other = kind->plan(M, N, K);
        if (i == 0 ||
            (tile_columns ? kind->name <= tile_columns : other.clocks < plan.clocks)) {
            best = kind;
            plan = other;
        }
    }
    fp32::sms = number_of_blocks();
    if (tile_columns ? tile_columns == FEW_COLUMNS
                     : fp32_is_faster(M, N, K, A, B, plan.clocks))
        fp32::matmul(M, N, K, alpha, A, B, beta, C);
    else
        best->launch(plan, M, N, K, alpha, A, B, beta, C);
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
