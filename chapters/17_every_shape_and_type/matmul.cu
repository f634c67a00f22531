/*
 * Chapter 17: every shape and type.
 *
 * What changes against chapter 16: it is fast where the shape is not kind, too. Rows that
 * begin anywhere, which the copy engine refuses, are copied to rows that begin at cache
 * lines; tiles come in nineteen kinds, and two teams do most of them in turns; what is
 * left over when all blocks have done as many tiles is cut into equal shares, and a second
 * kernel adds up the parts; and products of few rows or columns have kernels that read
 * the large matrix and do little else: split_k.cuh where rows begin at multiples of 16
 * bytes, or lie apart in a tile, and for small C; thin.cuh for most others. tf32, which
 * the core takes only with k along the rows, has its own: tf32.cuh, tf32_split_k.cuh.
 *
 * Run it:  make chapter17 && ./chapter17                    (needs a Hopper GPU, or none)
 *          ./chapter17 4092 --precision tf32
 */
#include "matmul.h"
#include "prepare.cuh"
#include "products.cuh"
#include "results.cuh"
#include "ring.cuh"
#include "shares.cuh"
#include "split_k.cuh"
#include "tf32.cuh"
#include "thin.cuh"
#include "tiles.cuh"

struct work {
    struct results to;
    struct shares shares;
};

template <class T>
static __device__ __forceinline__ void
produce(const struct work *w, const CUtensorMap *A_map, const CUtensorMap *B_map,
        typename T::stage *stages, uint64_t *full, uint64_t *empty, struct position p)
{
    // What all blocks of the cluster need, B's slabs or A's rows, each brings a part of.
    const uint16_t all = (1 << T::CLUSTER) - 1;
    const int rank = cluster_ctarank();
    const int first = rank * (T::ACROSS > 1 ? T::BM : BK) / T::CLUSTER;
    struct turn t = {0, 0};
    griddepcontrol_wait(); // for the copies of A and B
    for (; p.more; next_segment(&w->shares, gridDim.x / T::CLUSTER, &p)) {
        const int row = (p.down * T::DOWN + rank % T::DOWN) * T::BM;
        const int col = (p.across * T::ACROSS + rank % T::ACROSS) * T::BN;
        for (int i = p.segment.begin; i < p.segment.end; ++i) {
            const int step = step_at(&p, i);
            typename T::stage *to = &stages[t.index];
            uint64_t *come = &full[t.index];
            mbarrier_wait_parity(&empty[t.index], t.parity ^ 1);
            mbarrier_arrive_expect_tx(come, sizeof *to);
            if (T::ACROSS > 1)
                cp_async_bulk_tensor_2d_multicast(to->A[first], A_map, step * BK,
                                                  row + first, come, all);
            else
                cp_async_bulk_tensor_2d(to->A, A_map, step * BK, row, come);
            for (int slab = 0; slab < T::BN / SLAB; ++slab)
                if (T::ACROSS > 1)
                    cp_async_bulk_tensor_2d(to->B[slab], B_map, col + slab * SLAB,
                                            step * BK, come);
                else
                    cp_async_bulk_tensor_2d_multicast(to->B[slab][first], B_map,
                                                      col + slab * SLAB,
                                                      step * BK + first, come, all);
            next_turn<T::STAGES>(&t);
        }
    }
    finish_ring<T::STAGES>(&t, empty);
}

// A half of the sums: of 64 rows of A and a slab of B, or TURNED, of 64 of B's columns and
// the rows of A. The half's operand begins so much further.
template <bool TURNED, int COUNT>
static __device__ __forceinline__ void multiply(float (&acc)[COUNT], uint64_t a,
                                                uint64_t b, int half, int add)
{
    if (TURNED)
        wgmma_mma_async_bf16<1, 0>(acc, b + half, a, add);
    else
        wgmma_mma_async_bf16<0, 1>(acc, a + half, b, add);
}

template <class T>
static __device__ __forceinline__ void
consume(const struct work *w, const CUtensorMap *C_map, typename T::shared *memory,
        uint64_t *full, uint64_t *empty, struct position p)
{
    const int HALVES = T::HALVES, clusters = gridDim.x / T::CLUSTER;
    const int warp = threadIdx.x / 32 - 4; // of the consumers'
    const int team = warp / T::WARPS, mate = warp % T::WARPS;
    struct turn t = {0, 0};
    if (team > 0) {
        bar_arrive(1, CONSUMERS * 128); // the other team has the first turn
        pass_over<T::STAGES>(&w->shares, clusters, &p, &t);
    }
    while (p.more) {
        const int rank = cluster_ctarank();
        const int row =
            (p.down * T::DOWN + rank % T::DOWN) * T::BM + (T::TURNED ? 0 : mate * 16);
        const int col = (p.across * T::ACROSS + rank % T::ACROSS) * T::BN;
        const int steps = p.segment.end - p.segment.begin;
        float acc[HALVES][T::SUMS];
        int before = 0; // the stage of the step before
        // A barrier's parity tells one round of the ring from the next, no more. So a team
        // looks at a stage only after the other has seen all of its own.
        if (T::TEAMS > 1)
            bar_sync(1 + team, CONSUMERS * 128);
        for (int step = 0; step < steps; ++step) {
            typename T::stage *now = &memory->stages[t.index];
            mbarrier_wait_parity(&full[t.index], t.parity);
            const uint64_t a = wgmma_descriptor(now->A[T::TURNED ? 0 : mate / 4 * 64], 16,
                                                8 * 128, WGMMA_SWIZZLE_128B);
            const uint64_t b =
                wgmma_descriptor(now->B[T::TURNED ? mate / 4 : 0], sizeof now->B[0],
                                 8 * 128, WGMMA_SWIZZLE_128B);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK / 16; ++k)
#pragma unroll
                for (int half = 0; half < HALVES; ++half)
                    multiply<T::TURNED>(acc[half], a + k * 32 / 16, b + k * 16 * 128 / 16,
                                        half * 64 * 128 / 16, step > 0 || k > 0);
            wgmma_commit_group();
            wgmma_wait_group<1>();
            if (step > 0)
                release<T::CLUSTER, 128>(&empty[before]);
            before = t.index;
            next_turn<T::STAGES>(&t);
        }
        if (T::TEAMS > 1)
            bar_arrive(2 - team, CONSUMERS * 128); // the other team's turn, if it has one
        wgmma_wait_group<0>();
        release<T::CLUSTER, 128>(&empty[before]);
#pragma unroll
        for (int half = 0; half < HALVES; ++half)
            wgmma_touch(acc[half]);

        if (__builtin_expect(steps < w->shares.steps, 0))
            leave_part<HALVES * T::SUMS, T::WARPS * 32>(&w->shares, &p.segment,
                                                        (float(&)[HALVES * T::SUMS]) acc,
                                                        mate * 32 + threadIdx.x % 32);
        else
#pragma unroll
            for (int half = 0; half < HALVES; ++half)
                if constexpr (T::TURNED)
                    store_turned(&w->to, C_map, acc[half], memory->out[team], row,
                                 col + half * 64);
                else
                    store(&w->to, C_map, acc[half], memory->out[warp], row + half * 64,
                          col);
        // Only now, since it takes registers: until here there are none to spare.
        next_segment(&w->shares, clusters, &p);
        if (T::TEAMS > 1 && p.more)
            pass_over<T::STAGES>(&w->shares, clusters, &p, &t);
    }
    // Shared memory must stay until the last store has read it.
    if (threadIdx.x % 32 == 0)
        cp_async_bulk_wait_group_read<0>();
}

template <class T>
__global__ void CLUSTERS_OF(T::CLUSTER) __launch_bounds__(THREADS, 1)
    matmul_kernel(const __grid_constant__ CUtensorMap A_map,
                  const __grid_constant__ CUtensorMap B_map,
                  const __grid_constant__ CUtensorMap C_map,
                  const __grid_constant__ struct work w)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    typename T::shared *const memory = (typename T::shared *)bytes;
    __shared__ uint64_t full[T::STAGES], empty[T::STAGES];
    if (threadIdx.x == 0) {
        prefetch_tensormap(&A_map);
        prefetch_tensormap(&B_map);
    }
    start_ring<T::STAGES, T::CLUSTER>(full, empty, CONSUMERS / T::TEAMS);
    const struct position p =
        start_position(&w.shares, blockIdx.x / T::CLUSTER, gridDim.x / T::CLUSTER);
    griddepcontrol_launch_dependents(); // parts are added up when I have ended
    barrier_cluster_wait();
    if (threadIdx.x < 128) {
        setmaxnreg_dec<40>();
        if (threadIdx.x == 0)
            produce<T>(&w, &A_map, &B_map, memory->stages, full, empty, p);
    } else {
        setmaxnreg_inc<232>();
        consume<T>(&w, &C_map, memory, full, empty, p);
    }
}

/* ---- the host's side ---- */

template <class T>
static void launch_tiles(struct plan plan, int M, int N, int K, float alpha,
                         const __nv_bfloat16 *A, const __nv_bfloat16 *B, float beta,
                         __nv_bfloat16 *C)
{
    const CUtensorMapDataType BF16 = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    const CUtensorMapSwizzle SWIZZLE = CU_TENSOR_MAP_SWIZZLE_128B;
    const size_t size = sizeof *A;
    size_t A_stride, B_stride;
    const bool copied = make_readable((const void **)&A, M, K * size, &A_stride,
                                      (const void **)&B, K, N * size, &B_stride);
    make_ready(&plan, T::CLUSTER, T::BM * T::BN);
    const struct work w = {{M, N, alpha, beta, C, engine_can(C, N * size)}, plan.shares};
    const CUtensorMap A_map =
        tensor_map_2d_of(BF16, A, M, K, A_stride / size, T::BM / T::ACROSS, BK, SWIZZLE);
    const CUtensorMap B_map =
        tensor_map_2d_of(BF16, B, K, N, B_stride / size, BK / T::DOWN, SLAB, SWIZZLE);
    // Where C is not written through its map, any map will do.
    const CUtensorMap C_map =
        w.to.through_engine
            ? tensor_map_2d_of(BF16, C, M, N, N, T::OUT_ROWS, SLAB, SWIZZLE)
            : A_map;
    const int bytes = sizeof(typename T::shared);
    CUDA_CHECK(cudaFuncSetAttribute(matmul_kernel<T>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = plan.clusters * T::CLUSTER;
    config.blockDim = THREADS;
    config.dynamicSmemBytes = bytes;
    config.attrs = &early;
    config.numAttrs = copied;
    CUDA_CHECK(cudaLaunchKernelEx(&config, matmul_kernel<T>, A_map, B_map, C_map, w));
    launch_adders<T>(&plan.shares, M, N, alpha, beta, C);
}

static void launch(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                   const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    if (launch_split_k(M, N, K, alpha, A, B, beta, C) ||
        launch_thin(M, N, K, alpha, A, B, beta, C))
        return;
    const bool turned = beta == 0.0f && engine_can(C, N * sizeof *C);
    const size_t A_stride = stride_of(A, K * sizeof *A);
    const size_t B_stride = stride_of(B, N * sizeof *B);
    struct plan plan;
    const struct kind *kind =
        &kinds[best_kind(M, N, K, A_stride, B_stride, turned, &plan)];
    kind->launch(plan, M, N, K, alpha, A, B, beta, C);
}

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 17,
        .title = "every shape and type: copies, nineteen tiles, equal shares, tf32",
        .about = "copies",
        .launch_bf16 = launch,
        .launch_tf32 = tf32_launch,
        // A block of the widest tiles asks for a tile of A, and for its share of B's.
        .flop_per_byte = 1.0 * 128 * 256 / (128 + 256 / 2),
        .min_capability = 90,
        .max_capability = 90,
        .kernel = KERNEL(matmul_kernel<tile<128, 256, 1, 2, 1, false>>),
        .threads = THREADS,
        .dynamic_shared = sizeof(widest_tile::shared),
        .products = products,
        .product_count = sizeof products / sizeof *products,
        .own_option = "--tile",
        .own_value = &tile_columns,
        .more_help =
            "    --tile N       one kind of tiles. 64, 128, 192, 256: 128 x N; 32: 64 x\n"
            "                   128; if beta is 0 and the engine can write C, 16, 48,\n"
            "                   72, 80, 88: 64, 96, 128, 160, 192 x 64; 40, 104, 112,\n"
            "                   144, 152, 160, 224: 64, 96, 112, 128, 144, 160, 192 x\n"
            "                   128; 96, 176: as 88, 160, in clusters of four. tf32: "
            "the\n"
            "                   most rows up to N of 16, 32, 64, 96, 128, 192 and 256, "
            "x\n"
            "                   128; 48: 128 x 64. 8: for few rows or columns, in tf32\n"
            "                   chapter 13's kernels\n",
    };
    return chapter_main(argc, argv, &chapter);
}
