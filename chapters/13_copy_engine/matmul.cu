/*
 * Chapter 13: the copy engine.
 *
 * What changes against chapter 12: no warp copies any more, and none waits for a warp
 * that it needs nothing from. The GPU's copy engine (TMA) brings whole tiles, started by
 * one thread with one instruction; barriers in shared memory (mbarriers) say when a tile
 * has come and when all warps have read it. A kernel of its own turns A before
 * (prepare.cuh), and a warp's lanes stand on diagonals (lanes.cuh).
 *
 * The blocks stay, and their shares are chapter 12's. So are the kernels for products
 * that are too small for this one; between the two is that of slices.cuh.
 *
 * Run it:  make chapter13 && ./chapter13        (needs a Hopper GPU, or none)
 */
#include "12_persistent_blocks/thin.cuh"
#include "12_persistent_blocks/tiles.cuh"
#include "lanes.cuh"
#include "matmul.h"
#include "prepare.cuh"
#include "stages.cuh"

const int UNROLL = 8; // steps of k without a branch

// TM x TN results a thread, in squares of 4 x 4, ROW_STEP and COL_STEP apart as in
// chapter 9; DOWN of the warps lie below each other, the others beside them. A stage
// holds A_FLOATS of A, then B_FLOATS of B.
template <int TM_, int TN_, int DOWN, int BK_, int STAGES_> struct bulk_tile {
    static const int BK = BK_, STAGES = STAGES_;
    typedef on_diagonals LANES;
    static const int TM = TM_, TN = TN_, WARPS = 8, THREADS = 32 * WARPS;
    static const int WM = 4 * TM, WN = 8 * TN; // a warp is 4 lanes down and 8 across
    static const int ROW_STEP = WM / (TM / 4), COL_STEP = WN / (TN / 4);
    static const int BM = WM * DOWN, BN = WN * (WARPS / DOWN), PART = BM * BN;
    static constexpr double FLOP_PER_BYTE = 0.5 * BM * BN / (BM + BN);
    static const int A_FLOATS = BK * BM, B_FLOATS = BK * BN, FLOATS = A_FLOATS + B_FLOATS;
    static const int SHARED_BYTES = STAGES * FLOATS * sizeof(float);
    static const int ROWS_TOGETHER = 2048 / BM;
    static_assert(STAGES >= 2, "the next stage is ordered before this one is read");
    static_assert(BK % UNROLL == 0, "whole rounds make a stage");
    static_assert(BK % 4 == 0, "the copy engine writes multiples of 16 bytes");
    static_assert(WARPS % DOWN == 0, "whole columns of warps");
    static_assert(BM <= 256 && BN <= 256, "the copy engine moves boxes of at most 256");
    static_assert(TM % 4 == 0 && TN % 4 == 0, "TM and TN: whole float4s");
    // With the barriers and what store_tile() needs, 5 KB at most.
    static_assert(SHARED_BYTES <= (227 - 5) * 1024, "a block has at most 227 KB");
};

// One block an SM: 256 threads with up to 255 registers are all that an SM has. That is 8
// warps of 64, an occupancy of 12.5 %, and enough: a thread has 128 products to start for
// every six reads, and nothing that takes long is waited for in the thread's own time.
template <class T, bool ALIGNED>
__global__ void __launch_bounds__(T::THREADS, 1)
    matmul_kernel(const __grid_constant__ CUtensorMap A_map,
                  const __grid_constant__ CUtensorMap B_map,
                  const __grid_constant__ struct work w)
{
    // A_tile[k][m] and B_tile[k][n] of each stage: A comes transposed already.
    extern __shared__ __align__(1024) float bulk_tiles[];
    // full: the tiles of this stage have come. empty: all warps have read them.
    __shared__ uint64_t full[T::STAGES], empty[T::STAGES];

    // Who arrives at them: at `full` the thread that orders the copies, at `empty` one
    // lane of each warp. The __syncthreads() here is the kernel's only one.
    if (threadIdx.x == 0) {
        for (int s = 0; s < T::STAGES; ++s) {
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], T::WARPS);
        }
        fence_mbarrier_init();
    }
    __syncthreads();
    // This kernel may begin while prepare()'s last blocks are busy: so far it has not
    // read what they write.
    griddepcontrol_wait();

    // 1. Find my place in the tile, the same in every tile: my warp's square, my lane's
    //    place in that. Which lane stands where matters more than one would think:
    //    lanes.cuh.
    const int lane = threadIdx.x % 32;
    int thread_row = row_of<T>(threadIdx.x), thread_col = col_of<T>(threadIdx.x);

    // Says that these two have changed, though they have not: or the compiler arranges
    // the loop otherwise, and warps wait longer for shared memory. Why, we do not know.
    asm("" : "+r"(thread_row), "+r"(thread_col));

    // 2. Start the first copies. Arithmetic (`use`, `stage`) and copies (`filler`) walk
    //    through the same work, one behind the other.
    struct position use = start_position(&w);
    struct stage stage = {0, 0};
    struct bulk_filler filler = {use, stage, 0, 0, 0};
    fill_stage<T>(&filler, &w, &A_map, &B_map, bulk_tiles, full, empty);

    while (next_segment(&w, &use)) {
        // Set to zero one by one: `= {0}` makes the compiler keep the array in memory for
        // a moment, and that spoils its choice of registers.
        float acc[T::TM][T::TN];
#pragma unroll
        for (int m = 0; m < T::TM; ++m)
#pragma unroll
            for (int n = 0; n < T::TN; ++n)
                acc[m][n] = 0.0f;

        for (int block_k = use.segment.begin; block_k < use.segment.end; ++block_k) {
            // The order for the k-block after this one, which may belong to the next
            // tile: while a tile's results are stored, the copies of the next are on
            // their way.
            fill_stage<T>(&filler, &w, &A_map, &B_map, bulk_tiles, full, empty);

            // 3. Compute, as soon as this k-block has come. The last of a tile may be
            //    thin: what lies past the end of K came as zeros, and whole rounds of
            //    zeros are left out.
            mbarrier_wait_parity(&full[stage.index], stage.parity);
            const float *A_tile = &bulk_tiles[stage.index * T::FLOATS + thread_row];
            const float *B_tile =
                &bulk_tiles[stage.index * T::FLOATS + T::A_FLOATS + thread_col];
            const int depth = min(T::BK, w.K - block_k * T::BK);
            // 8 steps are 1,077 instructions, 17 KB. 12 steps are as fast, and 18, of
            // 39 KB, are 12 % slower (tried/unroll_12.diff, unroll_18.diff): instructions
            // come through a cache, too.
#pragma unroll 1
            for (int k0 = 0; k0 < depth; k0 += UNROLL) {
#pragma unroll
                for (int k = 0; k < UNROLL; ++k) {
                    float a_frag[T::TM], b_frag[T::TN];
                    load_fragment<T::TM>(a_frag, A_tile + k * T::BM, T::ROW_STEP);
                    load_fragment<T::TN>(b_frag, B_tile + k * T::BN, T::COL_STEP);
                    // There and back again, as in chapter 9: 128 multiply-adds for 6
                    // reads.
#pragma unroll
                    for (int m = 0; m < T::TM; ++m)
#pragma unroll
                        for (int i = 0; i < T::TN; ++i) {
                            const int n = m % 2 ? i : T::TN - 1 - i;
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
            next_stage<T>(&stage);
        }

        // 4. Part of a tile, or all of it? The warp with the last part stores the sums.
        //    The other warps may be a stage behind, or in the next tile already: none
        //    waits for the store.
        if (bring_part<T>(&w, &use.segment, acc)) {
            int tile_row, tile_col;
            place_tile(&w, use.segment.tile, &tile_row, &tile_col);
            store_tile<T, ALIGNED>(&w, w.C, tile_row * T::BM, tile_col * T::BN,
                                   thread_row, thread_col, acc);
        }
    }
}

// The tile's two descriptions for the copy engine, and the shares.
template <class T> static void launch_bulk(int sms, const struct work *work)
{
    struct work w = *work;
    static struct scratch parts, arrived;
    const float *At, *B;
    prepare_matrices(w.M, w.N, w.K, w.A, w.B, &At, &B);
    const CUtensorMap A_map = tensor_map_2d(At, w.K, w.M, padded(w.M), T::BK, T::BM);
    const CUtensorMap B_map =
        tensor_map_2d(B, w.K, w.N, B == w.B ? w.N : padded(w.N), T::BK, T::BN);
    w.tiles_down = (w.M - 1) / T::BM + 1;
    w.tiles_across = (w.N - 1) / T::BN + 1;
    w.rows_together = T::ROWS_TOGETHER;
    w.blocks_k = (w.K - 1) / T::BK + 1;
    const long long pieces = (long long)w.tiles_down * w.tiles_across * w.blocks_k;
    const int blocks = deal(&w, pieces < sms ? (int)pieces : sms);
    // Fewer tiles are shared than there are blocks.
    w.parts = scratch(&parts, 2 * (size_t)sms * T::PART * sizeof(float));
    w.arrived = (int *)scratch(&arrived, (size_t)sms * T::WARPS * sizeof(int));
    void (*const kernel)(CUtensorMap, CUtensorMap, struct work) =
        w.aligned ? matmul_kernel<T, true> : matmul_kernel<T, false>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    T::SHARED_BYTES));
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = T::THREADS;
    config.dynamicSmemBytes = T::SHARED_BYTES;
    config.attrs = &early;
    config.numAttrs = 1;
    CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, A_map, B_map, w));
}

// The kernel for few tiles, whose warps share results.
#include "slices.cuh"

// Which tiles there are, and how long each takes: matmul() chooses among these KINDS.
#include "kinds.cuh"

static int sms; // that the product is dealt to

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
// Not for two host threads or streams at once: they would share the scratch memory.
static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    if (!sms)
        CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    const bool aligned = N % 4 == 0 && (size_t)C % 16 == 0;
    const struct work w = {M, N, K, alpha, beta, A, B, C, N, N, aligned};
    if (!launch_thin(sms, &w))
        launch_chosen(sms, &w);
}

// What a large product does on all SMs, a small one does on a few: it gets a tile as
// large, stages are filled again and again, and tiles are shared. So checking it takes no
// time.
template <int SMS>
static void matmul_on(int M, int N, int K, float alpha, const float *A, const float *B,
                      float beta, float *C)
{
    const int all = sms;
    sms = SMS;
    matmul(M, N, K, alpha, A, B, beta, C);
    sms = all;
}

#include "products.cuh" // that every run checks

// Step 3 alone, for main to measure: what is the most that this kernel could reach?
#include "ceiling.cuh"

// Tiles depend on the problem, so a report of a wrong result cannot name block and
// thread.
int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 13,
        .title = "copy engine: one thread orders whole tiles",
        .about = "copies",
        .launch = matmul,
        .flop_per_byte = large_tile::FLOP_PER_BYTE,
        .min_capability = 90,
        .kernel = KERNEL(matmul_kernel<large_tile, true>),
        .threads = large_tile::THREADS,
        .dynamic_shared = large_tile::SHARED_BYTES,
        .products = PRODUCTS,
        .product_count = sizeof PRODUCTS / sizeof *PRODUCTS,
        .measure_more = measure_ceilings,
        .own_option = "--sms",
        .own_value = &sms,
        .second_option = "--turn",
        .second_value = &turn_columns,
        .more_help = "    --sms N        deal the product to N SMs\n"
                     "    --turn N       let warps turn A, in tiles N columns wide\n",
    };
    return chapter_main(argc, argv, &chapter);
}
