/*
 * Chapter 16: beyond cuBLAS in bf16, or level.
 *
 * What changes against chapter 15: the tensor cores hardly wait between tiles. Blocks stay
 * for the whole product, and one thread of each does nothing but order copies, tile after
 * tile, as far ahead as there are stages; registers that it does not need go to the warps
 * that multiply. Two blocks on neighbouring SMs, a cluster, do tiles that lie below each
 * other and bring the columns of B that both need only once. Results leave through shared
 * memory and the copy engine, while the next tile is multiplied already.
 *
 *     producer     | copies of tile 0        | of tile 1             | of tile 2   ...
 *     consumer 0      | multiplies rows 0-63 of tile 0   |st| tile 1          |st| ...
 *     consumer 1      | multiplies rows 64-127 of tile 0  |st| tile 1          |st| ...
 *
 * Run it:  make chapter16 && ./chapter16        (needs a Hopper GPU, or none)
 */
#include "matmul.h"
#include "results.cuh"
#include "ring.cuh"

const int BM = 128;
const int BN = 256;
const int BK = 64;
const int GROUP = 8; // pairs of tiles that clusters go down together
const int CONSUMERS = BM / 64, THREADS = (1 + CONSUMERS) * 128;
// 65,536 registers are 168 a thread, until the warpgroups divide them in another way.
const int PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232;

struct stage {
    __nv_bfloat16 A[BM][BK];
    __nv_bfloat16 B[BN / SLAB][BK][SLAB];
};
struct shared {
    stage stages[STAGES];
    __nv_bfloat16 out[CONSUMERS * 4][2][16][SLAB]; // a warp's results on their way out
};
static_assert(sizeof(stage) % 1024 == 0, "swizzled matrices begin at multiples of 1,024");
static_assert(BN / SLAB % CLUSTER == 0, "each block of a cluster brings as many slabs");
static_assert(sizeof(shared) <= 226 * 1024, "a block has 227 KB; the barriers need some");

struct work {
    struct results to;
    int pairs_down, tiles_across; // pairs of tiles: what a cluster does at a time
    int steps;                    // of BK along K
};

// Where this block's tile of a pair begins: in the order of chapter 15, pairs for tiles.
static __device__ __forceinline__ void place_tile(const struct work *w, int pair,
                                                  int *row, int *col)
{
    const int group = pair / (GROUP * w->tiles_across) * GROUP;
    const int place = pair % (GROUP * w->tiles_across);
    const int height = min(GROUP, w->pairs_down - group);
    *row = ((group + place % height) * CLUSTER + (int)cluster_ctarank()) * BM;
    *col = place / height * BN;
}

// One thread orders all copies, one stage after the other, over the ends of tiles too.
static __device__ void produce(const struct work *w, const CUtensorMap *A_map,
                               const CUtensorMap *B_map, stage *stages, uint64_t *full,
                               uint64_t *empty)
{
    const int pairs = w->pairs_down * w->tiles_across;
    const int share = BN / SLAB / CLUSTER; // slabs of B that this block brings, for both
    const int first = cluster_ctarank() * share;
    struct turn t = {0, 0};
    for (int pair = blockIdx.x / CLUSTER; pair < pairs; pair += gridDim.x / CLUSTER) {
        int row, col;
        place_tile(w, pair, &row, &col);
        for (int step = 0; step < w->steps; ++step) {
            stage *to = &stages[t.index];
            uint64_t *come = &full[t.index];
            // The copies go into the other block's stage too: `empty` counts the consumers
            // of both blocks.
            mbarrier_wait_parity(&empty[t.index], t.parity ^ 1);
            // All that comes into this block's stage, whichever block has ordered it.
            mbarrier_arrive_expect_tx(come, sizeof(stage));
            cp_async_bulk_tensor_2d(to->A, A_map, step * BK, row, come);
            for (int slab = first; slab < first + share; ++slab)
                cp_async_bulk_tensor_2d_multicast(to->B[slab], B_map, col + slab * SLAB,
                                                  step * BK, come, (1 << CLUSTER) - 1);
            next_turn(&t);
        }
    }
    finish_ring(&t, empty);
}

// A warpgroup multiplies 64 rows of each of the block's tiles.
static __device__ __forceinline__ void consume(const struct work *w,
                                               const CUtensorMap *C_map, shared *memory,
                                               uint64_t *full, uint64_t *empty)
{
    const int pairs = w->pairs_down * w->tiles_across;
    const int warp = threadIdx.x / 32 - 4; // of the consumers'
    struct turn t = {0, 0};
    for (int pair = blockIdx.x / CLUSTER; pair < pairs; pair += gridDim.x / CLUSTER) {
        float acc[BN / 2];
        int before = 0; // the stage of the step before
        for (int step = 0; step < w->steps; ++step) {
            stage *now = &memory->stages[t.index];
            mbarrier_wait_parity(&full[t.index], t.parity);
            const uint64_t a =
                wgmma_descriptor(now->A[warp / 4 * 64], 16, 8 * 128, WGMMA_SWIZZLE_128B);
            const uint64_t b =
                wgmma_descriptor(now->B, sizeof now->B[0], 8 * 128, WGMMA_SWIZZLE_128B);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK / 16; ++k) // a tile's first drops what acc held
                wgmma_mma_async_bf16<0, 1>(acc, a + k * 32 / 16, b + k * 16 * 128 / 16,
                                           step > 0 || k > 0);
            wgmma_commit_group();
            // These products are under way, so the tensor core has something to do; those
            // of the step before must be over.
            wgmma_wait_group<1>();
            if (step > 0)
                release(&empty[before]);
            before = t.index;
            next_turn(&t);
        }
        wgmma_wait_group<0>();
        release(&empty[before]);
        wgmma_touch(acc);

        int row, col;
        place_tile(w, pair, &row, &col);
        row += warp * 16;
        finish(&w->to, acc, row, col);
        store(&w->to, C_map, acc, memory->out[warp], row, col);
    }
    // Shared memory must stay until the last store has read it.
    if (threadIdx.x % 32 == 0)
        cp_async_bulk_wait_group<0>();
}

__global__ void CLUSTERS_OF(CLUSTER) __launch_bounds__(THREADS, 1)
    matmul_kernel(const __grid_constant__ CUtensorMap A_map,
                  const __grid_constant__ CUtensorMap B_map,
                  const __grid_constant__ CUtensorMap C_map,
                  const __grid_constant__ struct work w)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    shared *const memory = (shared *)bytes;
    __shared__ uint64_t full[STAGES], empty[STAGES];
    start_ring(full, empty, CONSUMERS);
    if (threadIdx.x < 128) {
        setmaxnreg_dec<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0)
            produce(&w, &A_map, &B_map, memory->stages, full, empty);
    } else {
        setmaxnreg_inc<CONSUMER_REGISTERS>();
        consume(&w, &C_map, memory, full, empty);
    }
}

/* ---- the host's side ---- */

static int divided_up(int a, int b)
{
    return (a - 1) / b + 1;
}

static bool engine_can(const void *matrix, int cols)
{
    return (uintptr_t)matrix % 16 == 0 && cols % 8 == 0;
}

// The matrix as the copy engine can read it: as it is, or a copy whose rows begin at
// multiples of 16 bytes. The copy is `*copied`, to be freed; it costs a pass over memory.
static CUtensorMap readable(const __nv_bfloat16 *matrix, int rows, int cols, int box_rows,
                            void **copied)
{
    size_t stride = cols;
    *copied = NULL;
    if (!engine_can(matrix, cols)) {
        stride = (size_t)divided_up(cols, 8) * 8;
        const size_t width = cols * sizeof *matrix, pitch = stride * sizeof *matrix;
        CUDA_CHECK(cudaMallocAsync(copied, rows * pitch, 0));
        CUDA_CHECK(cudaMemcpy2DAsync(*copied, pitch, matrix, width, width, rows,
                                     cudaMemcpyDeviceToDevice));
        matrix = (const __nv_bfloat16 *)*copied;
    }
    return tensor_map_2d_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, matrix, rows, cols, stride,
                            box_rows, SLAB, CU_TENSOR_MAP_SWIZZLE_128B);
}

static int most_clusters; // --clusters; 0: as many as the GPU has room for

static void launch(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                   const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    void *A_copy, *B_copy, *no_copy;
    const CUtensorMap A_map = readable(A, M, K, BM, &A_copy);
    const CUtensorMap B_map = readable(B, K, N, BK, &B_copy);
    const struct work w = {{M, N, alpha, beta, C, engine_can(C, N)},
                           divided_up(M, CLUSTER * BM),
                           divided_up(N, BN),
                           divided_up(K, BK)};
    // Where C is not written through its map, any map will do.
    const CUtensorMap C_map =
        w.to.through_engine ? readable(C, M, N, 16, &no_copy) : A_map;

    int clusters;
    CUDA_CHECK(cudaDeviceGetAttribute(&clusters, cudaDevAttrMultiProcessorCount, 0));
    clusters /= CLUSTER;
    if (most_clusters && most_clusters < clusters)
        clusters = most_clusters;
    if ((long long)w.pairs_down * w.tiles_across < clusters)
        clusters = w.pairs_down * w.tiles_across;
    const int bytes = sizeof(shared);
    CUDA_CHECK(cudaFuncSetAttribute(matmul_kernel,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    matmul_kernel<<<clusters * CLUSTER, THREADS, bytes>>>(A_map, B_map, C_map, w);
    if (A_copy)
        CUDA_CHECK(cudaFreeAsync(A_copy, 0));
    if (B_copy)
        CUDA_CHECK(cudaFreeAsync(B_copy, 0));
}

// Two clusters: each goes through several tiles, and round the ring more than once.
static void launch_two(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                       const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    const int before = most_clusters;
    most_clusters = 2;
    launch(M, N, K, alpha, A, B, beta, C);
    most_clusters = before;
}

// The thread that owns element (row, col) of a tile, for the report of a wrong result.
static int thread_of(int row, int col)
{
    return 128 + row / 16 * 32 + row % 8 * 4 + col % 8 / 2;
}

int main(int argc, char **argv)
{
    static const struct product products[] = {
        {.M = 700,
         .N = 520,
         .K = 200,
         .alpha = 1.5f,
         .option = "--clusters 2",
         .launch_bf16 = launch_two},
        // Three steps a tile: the next does not begin where the ring does.
        {520, 203, 136, 1.5f, -0.5f, NULL, "--clusters 2", USUAL, launch_two},
        {.M = 200, .N = 296, .K = 456, .alpha = 1.5f, .beta = -0.5f},
        {.M = 2100, .N = 264, .K = 8, .alpha = 1.5f, .beta = -0.5f}, // a second GROUP
    };
    const struct chapter chapter = {
        .number = 16,
        .title = "beyond cuBLAS in bf16, or level: the tensor core hardly waits",
        .about = "copies",
        .launch_bf16 = launch,
        .BM = BM,
        .BN = BN,
        .TM = 2,
        .TN = BN / 4,
        .blocks_go_down = true,
        .thread_of = thread_of,
        // A block asks for a tile of A, and for its share of B's.
        .flop_per_byte = 1.0 * BM * BN / (BM + BN / CLUSTER),
        .min_capability = 90,
        .max_capability = 90,
        .kernel = KERNEL(matmul_kernel),
        .threads = THREADS,
        .dynamic_shared = sizeof(shared),
        .products = products,
        .product_count = sizeof products / sizeof *products,
        .own_option = "--clusters",
        .own_value = &most_clusters,
        .more_help = "    --clusters N   at most N clusters of two blocks\n",
    };
    return chapter_main(argc, argv, &chapter);
}
