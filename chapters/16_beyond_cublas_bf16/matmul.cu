/*
 * Chapter 16: past cuBLAS in bf16.
 *
 * What changes against chapter 15: the tensor cores never wait between tiles. Blocks stay
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
#include "wgmma.h"

#include <cuda_bf16.h>

const int BM = 128, BN = 256, BK = 64; // a tile of C, and a step along K
const int STAGES = 4;
const int GROUP = 128;   // threads of a warpgroup
const int CONSUMERS = 2; // warpgroups that multiply, 64 rows of the tile each
const int THREADS = (1 + CONSUMERS) * GROUP;
const int CLUSTER = 2;       // blocks, one tile below the other
const int ROWS_TOGETHER = 8; // pairs of tiles that follow each other downwards
// 65,536 registers: 168 a thread until the warpgroups divide them among themselves.
const int PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232;

// A row of 128 bytes is as wide as the swizzle: 64 elements. So A's part of a stage is one
// slab of 128 rows along k, and B's is four slabs, each 64 columns wide, of 64 rows.
const int SLAB = 64, ROW_BYTES = 128, CORE_BYTES = 8 * ROW_BYTES;
const int A_BYTES = BM * ROW_BYTES, B_SLAB_BYTES = BK * ROW_BYTES;
const int B_BYTES = BN / SLAB * B_SLAB_BYTES, STAGE_BYTES = A_BYTES + B_BYTES;
// Results on their way out: 16 rows of 64 columns, and for each warp two of these.
const int OUT_ROWS = 16, OUT_BYTES = OUT_ROWS * ROW_BYTES;
const int SHARED_BYTES = STAGES * STAGE_BYTES + CONSUMERS * GROUP / 32 * 2 * OUT_BYTES;

static_assert(BK == SLAB, "a row of A's slab is a step along K");
static_assert(BM == CONSUMERS * 64, "a consumer multiplies 64 rows");
static_assert(BN / SLAB % CLUSTER == 0, "each block of the cluster brings as many slabs");
static_assert(SHARED_BYTES <= 226 * 1024, "a block has 227 KB; the barriers need some");

struct work {
    int M, N, K;
    float alpha, beta;
    __nv_bfloat16 *C;
    bool through_engine;          // C may leave through the copy engine
    int pairs_down, tiles_across; // pairs of tiles: what a cluster does at a time
    int steps;                    // of BK along K
};

// The stages as one who fills them or one who reads them goes round. A stage is filled for
// the r-th time (r = 0, 1, ...) when `parity` is r & 1: `full` ends its phase r when that
// filling has come, `empty` when it has been read. So a reader waits for parity r & 1, and
// who fills for the end of phase r - 1: the other parity. For r = 0 that returns at once.
struct stage {
    int index;
    unsigned parity;
};

static __device__ __forceinline__ void next_stage(struct stage *s)
{
    if (++s->index == STAGES) {
        s->index = 0;
        s->parity ^= 1;
    }
}

// Where this block's tile of a pair begins. The clusters that run together read the same
// rows of A and columns of B, and find them in the L2.
static __device__ __forceinline__ void place_tile(const struct work *w, int pair,
                                                  int *row, int *col)
{
    const int band = pair / (ROWS_TOGETHER * w->tiles_across);
    const int rows = min(ROWS_TOGETHER, w->pairs_down - band * ROWS_TOGETHER);
    const int in_band = pair % (ROWS_TOGETHER * w->tiles_across);
    const int pair_row = band * ROWS_TOGETHER + in_band % rows;
    *row = (pair_row * CLUSTER + (int)cluster_ctarank()) * BM;
    *col = in_band / rows * BN;
}

static __device__ __forceinline__ int pairs_of(const struct work *w)
{
    return w->pairs_down * w->tiles_across;
}

// One thread orders all copies, one stage after the other, over the ends of tiles too.
static __device__ void produce(const struct work *w, const CUtensorMap *A_map,
                               const CUtensorMap *B_map, unsigned char *stages,
                               uint64_t *full, uint64_t *empty)
{
    const int rank = cluster_ctarank();
    const int slabs = BN / SLAB / CLUSTER; // of B that this block brings, for both
    struct stage s = {0, 0};
    for (int pair = blockIdx.x / CLUSTER; pair < pairs_of(w);
         pair += gridDim.x / CLUSTER) {
        int row, col;
        place_tile(w, pair, &row, &col);
        for (int step = 0; step < w->steps; ++step) {
            unsigned char *A_tile = stages + s.index * STAGE_BYTES;
            unsigned char *B_tile = A_tile + A_BYTES;
            uint64_t *come = &full[s.index];
            // The copies write into the other block's shared memory as well, so `empty`
            // counts the consumers of both.
            mbarrier_wait_parity_cluster(&empty[s.index], s.parity ^ 1);
            // What comes here, whoever has ordered it.
            mbarrier_arrive_expect_tx(come, STAGE_BYTES);
            cp_async_bulk_tensor_2d(A_tile, A_map, step * BK, row, come);
            for (int i = rank * slabs; i < (rank + 1) * slabs; ++i)
                cp_async_bulk_tensor_2d_multicast(B_tile + i * B_SLAB_BYTES, B_map,
                                                  col + i * SLAB, step * BK, come,
                                                  (1 << CLUSTER) - 1);
            next_stage(&s);
        }
    }
    // The other block's consumers arrive at barriers of this one, which must not be gone
    // by then: wait until every stage has been read for the last time.
    for (int i = 0; i < STAGES; ++i) {
        mbarrier_wait_parity_cluster(&empty[s.index], s.parity ^ 1);
        next_stage(&s);
    }
}

// A consumer has read a stage: one of its threads says so to each block of the cluster.
static __device__ __forceinline__ void release(uint64_t *empty)
{
    if (threadIdx.x % GROUP < CLUSTER)
        mbarrier_arrive_cluster(empty, threadIdx.x % GROUP);
}

static __device__ __forceinline__ uint32_t two_bf16(float low, float high)
{
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}

// Element by element, for a C that the copy engine cannot write or that must be read.
static __device__ __forceinline__ void
store_directly(const struct work *w, const float (&acc)[BN / 2], int row, int col)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < BN / 2; ++i) {
        const int r = row + lane / 4 + i / 2 % 2 * 8;
        const int c = col + lane % 4 * 2 + i / 4 * 8 + i % 2;
        if (r < w->M && c < w->N) {
            __nv_bfloat16 *to = &w->C[(size_t)r * w->N + c];
            const float before = w->beta == 0.0f ? 0.0f : __bfloat162float(*to);
            *to = __float2bfloat16(w->alpha * acc[i] + w->beta * before);
        }
    }
}

// A warp's 16 rows, 64 columns at a time: into shared memory, swizzled as the map says, and
// from there with the copy engine, which writes whole rows of 128 bytes and leaves out what
// lies outside C. There are two places, so that one part is made while the other leaves;
// and while all leave, the warp is at its next tile.
static __device__ __forceinline__ void
store_through_engine(const struct work *w, const CUtensorMap *C_map,
                     const float (&acc)[BN / 2], unsigned char *out, int row, int col)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int part = 0; part < BN / SLAB; ++part) {
        unsigned char *to = out + part % 2 * OUT_BYTES;
        // The store before the last has been read.
        if (lane == 0)
            cp_async_bulk_wait_group_read<1>();
        __syncwarp();
        // Four 8 x 8 matrices at a time: rows 0-7 and 8-15, columns 0-7 and 8-15.
#pragma unroll
        for (int j = 0; j < SLAB / 16; ++j) {
            uint32_t matrices[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float *two = &acc[part * SLAB / 2 + j * 8 + i * 2];
                matrices[i] = two_bf16(w->alpha * two[0], w->alpha * two[1]);
            }
            const int out_row = lane % 16, piece = j * 2 + lane / 16; // of 16 bytes
            stmatrix_x4(to + out_row * ROW_BYTES + (piece ^ out_row % 8) * 16, matrices);
        }
        fence_proxy_async();
        __syncwarp();
        if (lane == 0) {
            cp_async_bulk_tensor_2d_store(C_map, col + part * SLAB, row, to);
            cp_async_bulk_commit_group();
        }
    }
}

// A warpgroup multiplies its 64 rows of each tile.
static __device__ __forceinline__ void
consume(const struct work *w, const CUtensorMap *C_map, unsigned char *stages,
        unsigned char *out, uint64_t *full, uint64_t *empty, int consumer)
{
    struct stage s = {0, 0};
    for (int pair = blockIdx.x / CLUSTER; pair < pairs_of(w);
         pair += gridDim.x / CLUSTER) {
        float acc[BN / 2];
        int before = 0; // the stage that is being read
        for (int step = 0; step < w->steps; ++step) {
            const unsigned char *A_tile = stages + s.index * STAGE_BYTES;
            const unsigned char *B_tile = A_tile + A_BYTES;
            mbarrier_wait_parity(&full[s.index], s.parity);
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK; k += 16) {
                // 16 k further: 32 bytes along A's rows, 16 rows down in B's slabs.
                const uint64_t a =
                    wgmma_descriptor(A_tile + consumer * 64 * ROW_BYTES + k * 2, 16,
                                     CORE_BYTES, WGMMA_SWIZZLE_128B);
                const uint64_t b = wgmma_descriptor(B_tile + k * ROW_BYTES, B_SLAB_BYTES,
                                                    CORE_BYTES, WGMMA_SWIZZLE_128B);
                wgmma_mma_async_bf16<0, 1>(acc, a, b, step > 0 || k > 0);
            }
            wgmma_commit_group();
            // This step's products are under way, the tensor cores have something to do:
            // the step before is what must be over now.
            wgmma_wait_group<1>();
            if (step > 0)
                release(&empty[before]);
            before = s.index;
            next_stage(&s);
        }
        wgmma_wait_group<0>();
        release(&empty[before]);
        wgmma_touch(acc);

        int row, col;
        place_tile(w, pair, &row, &col);
        row += (threadIdx.x - GROUP) / 32 * OUT_ROWS;
        if (w->through_engine)
            store_through_engine(w, C_map, acc, out, row, col);
        else
            store_directly(w, acc, row, col);
    }
    // Shared memory must stay until the last store has been read from it.
    if (threadIdx.x % 32 == 0)
        cp_async_bulk_wait_group<0>();
}

__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
    matmul_kernel(const __grid_constant__ CUtensorMap A_map,
                  const __grid_constant__ CUtensorMap B_map,
                  const __grid_constant__ CUtensorMap C_map,
                  const __grid_constant__ struct work w)
{
    extern __shared__ __align__(1024) unsigned char stages[];
    __shared__ uint64_t full[STAGES], empty[STAGES];

    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(&full[i], 1);
            mbarrier_init(&empty[i], CONSUMERS * CLUSTER);
        }
        fence_mbarrier_init();
    }
    // The other block's barriers must be there too before anything is sent to it.
    barrier_cluster_arrive();
    barrier_cluster_wait();

    const int group = threadIdx.x / GROUP;
    if (group == 0) {
        setmaxnreg_dec<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0)
            produce(&w, &A_map, &B_map, stages, full, empty);
    } else {
        setmaxnreg_inc<CONSUMER_REGISTERS>();
        const int warp = (threadIdx.x - GROUP) / 32;
        unsigned char *out = stages + STAGES * STAGE_BYTES + warp * 2 * OUT_BYTES;
        consume(&w, &C_map, stages, out, full, empty, group - 1);
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

static void launch(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                   const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    void *A_copy, *B_copy, *no_copy;
    const CUtensorMap A_map = readable(A, M, K, BM, &A_copy);
    const CUtensorMap B_map = readable(B, K, N, BK, &B_copy);
    struct work w = {M, N, K, alpha, beta, C};
    w.through_engine = beta == 0.0f && engine_can(C, N);
    w.pairs_down = divided_up(M, CLUSTER * BM);
    w.tiles_across = divided_up(N, BN);
    w.steps = divided_up(K, BK);
    // Where C is not written through its map, any map will do.
    const CUtensorMap C_map =
        w.through_engine ? readable(C, M, N, OUT_ROWS, &no_copy) : A_map;

    int sms;
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(cudaFuncSetAttribute(
        matmul_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    const long long pairs = (long long)w.pairs_down * w.tiles_across;
    const int clusters = pairs < sms / CLUSTER ? (int)pairs : sms / CLUSTER;
    matmul_kernel<<<clusters * CLUSTER, THREADS, SHARED_BYTES>>>(A_map, B_map, C_map, w);
    if (A_copy)
        CUDA_CHECK(cudaFreeAsync(A_copy, 0));
    if (B_copy)
        CUDA_CHECK(cudaFreeAsync(B_copy, 0));
}

static int thread_of(int row, int col)
{
    return GROUP + row / 64 * GROUP + row % 64 / 16 * 32 + row % 8 * 4 + col % 8 / 2;
}

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 16,
        .title = "past cuBLAS in bf16: tensor cores without a pause",
        .about = "tensor cores",
        .launch_bf16 = launch,
        .BM = BM,
        .BN = BN,
        .thread_of = thread_of,
        // a block fetches A's part and its share of B's
        .flop_per_byte = 2.0 * BM * BN * BK / (A_BYTES + B_BYTES / CLUSTER),
        .min_capability = 90,
        .kernel = KERNEL(matmul_kernel),
        .threads = THREADS,
        .dynamic_shared = SHARED_BYTES};
    return chapter_main(argc, argv, &chapter);
}
