/*
 * Chapter 18: fp32 from halves.
 *
 * What changes against chapter 13: the products come from the tensor cores, which take
 * halves. A float has 24 bits and a half 11, so a float becomes two halves, hi and lo,
 * and a product of floats three products of halves:
 *
 *     a * b  =  hi_a * hi_b  +  (lo_a * hi_b + hi_a * lo_b)  +  lo_a * lo_b
 *                  acc_hi            acc_lo, times 2^11       at most 2^-22: left out
 *
 * The core cuts off what its sums cannot hold, always toward zero. In acc_lo that is
 * nothing, for all of acc_lo is small. acc_hi is emptied every 64 steps of k into `sum`,
 * to which the fp32 units add with rounding to nearest, while the tensor cores are at
 * work on acc_lo.
 *
 * Run it:  make chapter18 && ./chapter18        (needs a Hopper GPU, or none)
 */
#include "13_copy_engine/fp32.cuh"
#include "wgmma.h"
#include <cuda_fp16.h>

const int BM = 128, BN = 128; // the tile of C that a block works on
const int BK = 64;       // steps of k a stage: 128 bytes of halves, and one promotion
const int STAGES = 3;    // 64 KB each
const int CONSUMERS = 2; // warpgroups that multiply, 64 rows of the tile each
const int THREADS = 128 * (1 + CONSUMERS);
const int WM = BM / CONSUMERS;
const int SLAB = 64;            // columns of B that lie together: 128 bytes of halves
const int ACCS = WM * BN / 128; // a thread's accumulators
const int ROWS_TOGETHER = 16;   // tiles below each other whose blocks run together

static_assert(WM == 64, "a warpgroup's wgmma has 64 rows");
static_assert(BN == 128, "a lane fetches the exponents of 4 columns");

// A stage in shared memory, as the copy engine writes it, swizzled.
struct stage {
    __half A_hi[BM * BK], A_lo[BM * BK]; // [m][k]
    __half B_hi[BN * BK], B_lo[BN * BK]; // [n / SLAB][k][n % SLAB]
};
const int SHARED_BYTES = STAGES * sizeof(struct stage);
static_assert(sizeof(struct stage) % 1024 == 0, "swizzled tiles begin at 1,024 bytes");

#include "work.cuh"
#include "split.cuh"
#include "plain.cuh"

// One thread orders all copies. The lo halves lie below all of the hi halves, so a map is
// good for both. A box that reaches over the last row of hi brings some of lo: for A they
// are rows that no one stores, and for B they meet the zeros that come past the end of
// A's rows.
static __device__ void produce(const struct work *w, const CUtensorMap *A_map,
                               const CUtensorMap *B_map, struct stage *stages,
                               uint64_t *full, uint64_t *empty)
{
    const bool some_unfit = *w->some_unfit;
    struct turn turn = {0, 0};
    for (int tile = blockIdx.x; tile < w->tiles_down * w->tiles_across;
         tile += gridDim.x) {
        int tile_row, tile_col;
        place_tile(w, tile, &tile_row, &tile_col);
        if (some_unfit && is_unfit(w, tile_row, tile_col))
            continue;
        const int row = tile_row * BM, col = tile_col * BN;
        for (int k = 0; k < w->K; k += BK) {
            struct stage *to = &stages[turn.index];
            uint64_t *come = &full[turn.index];
            mbarrier_wait_parity(&empty[turn.index], turn.parity ^ 1);
            mbarrier_arrive_expect_tx(come, sizeof *to);
            cp_async_bulk_tensor_2d(to->A_hi, A_map, k, row, come);
            cp_async_bulk_tensor_2d(to->A_lo, A_map, k, w->M + row, come);
#pragma unroll
            for (int n = 0; n < BN; n += SLAB) {
                cp_async_bulk_tensor_2d(&to->B_hi[n * BK], B_map, col + n, k, come);
                cp_async_bulk_tensor_2d(&to->B_lo[n * BK], B_map, col + n, w->K + k,
                                        come);
            }
            next_turn(&turn);
        }
    }
}

// Two warpgroups multiply. Each has three sets of 64 registers a thread: acc_hi and
// acc_lo, which belong to the tensor core, and sum.
static __device__ void consume(const struct work *w, struct stage *stages, uint64_t *full,
                               uint64_t *empty)
{
    const int t = threadIdx.x % 128, lane = t % 32;
    const int group_row = (threadIdx.x / 128 - 1) * WM;
    const bool some_unfit = *w->some_unfit;
    struct turn turn = {0, 0};
    for (int tile = blockIdx.x; tile < w->tiles_down * w->tiles_across;
         tile += gridDim.x) {
        int tile_row, tile_col;
        place_tile(w, tile, &tile_row, &tile_col);
        if (some_unfit && is_unfit(w, tile_row, tile_col))
            continue;
        float acc_hi[ACCS], acc_lo[ACCS], sum[ACCS];
#pragma unroll
        for (int i = 0; i < ACCS; ++i)
            sum[i] = 0.0f;
        int last = -1; // the stage before, if the core may still read it
        for (int k0 = 0; k0 < w->K; k0 += BK) {
            mbarrier_wait_parity(&full[turn.index], turn.parity);
            const struct stage *s = &stages[turn.index];
            // Rows of 128 bytes, eight of them 1,024; the slabs of B are BK rows each.
            const uint64_t A_hi =
                wgmma_descriptor(&s->A_hi[group_row * BK], 16, 1024, WGMMA_SWIZZLE_128B);
            const uint64_t A_lo =
                wgmma_descriptor(&s->A_lo[group_row * BK], 16, 1024, WGMMA_SWIZZLE_128B);
            const uint64_t B_hi =
                wgmma_descriptor(s->B_hi, 128 * BK, 1024, WGMMA_SWIZZLE_128B);
            const uint64_t B_lo =
                wgmma_descriptor(s->B_lo, 128 * BK, 1024, WGMMA_SWIZZLE_128B);
            // 16 steps of k are 32 bytes further in a row of A, and 16 rows of B; descriptors
            // count in units of 16 bytes.
            wgmma_fence();
#pragma unroll
            for (int k = 0; k < BK; k += 16)
                wgmma_mma_async_f16<0, 1>(acc_hi, A_hi + k * 2 / 16, B_hi + k * 128 / 16,
                                          k > 0);
            wgmma_commit_group();
            // All groups but this one are over: the stage before may be filled again.
            wgmma_wait_group<1>();
            if (last >= 0 && lane == 0)
                mbarrier_arrive(&empty[last]);
#pragma unroll
            for (int k = 0; k < BK; k += 16) {
                wgmma_mma_async_f16<0, 1>(acc_lo, A_lo + k * 2 / 16, B_hi + k * 128 / 16,
                                          k0 + k > 0);
                wgmma_mma_async_f16<0, 1>(acc_lo, A_hi + k * 2 / 16, B_lo + k * 128 / 16,
                                          1);
            }
            wgmma_commit_group();
            // acc_hi is ready, acc_lo is not: the core is busy while these are added.
            wgmma_wait_group<1>();
            wgmma_touch(acc_hi);
#pragma unroll
            for (int i = 0; i < ACCS; ++i)
                sum[i] += acc_hi[i];
            last = turn.index;
            next_turn(&turn);
        }
        // While the last products are under way: the exponents of the scales, of my two
        // rows and of four of the tile's columns. Lanes will tell each other.
        const int row = tile_row * BM + group_row + t / 32 * 16 + lane / 4;
        const int my_col = tile_col * BN + lane * 2;
        int e_row[2], e_col[2][2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            e_row[i] = w->row_exponents[min(row + i * 8, w->M - 1)];
            e_col[i][0] = w->col_exponents[min(my_col + i * 64, w->N - 1)];
            e_col[i][1] = w->col_exponents[min(my_col + i * 64 + 1, w->N - 1)];
        }
        wgmma_wait_group<0>();
        wgmma_touch(acc_lo);
        if (lane == 0)
            mbarrier_arrive(&empty[last]);

        // Undo the scales, and store.
#pragma unroll
        for (int i = 0; i < ACCS; i += 4) {
            const int col = tile_col * BN + i * 2 + lane % 4 * 2,
                      from = i % 32 + lane % 4;
            const int e0 = __shfl_sync(0xffffffffu, e_col[i / 32][0], from);
            const int e1 = __shfl_sync(0xffffffffu, e_col[i / 32][1], from);
#pragma unroll
            for (int m = 0; m < 2; ++m) {
                const int j = i + m * 2, e = -e_row[m];
                const float c0 = ldexpf(sum[j] + acc_lo[j] / LO_SCALE, e - e0);
                const float c1 = ldexpf(sum[j + 1] + acc_lo[j + 1] / LO_SCALE, e - e1);
                if (row + m * 8 < w->M && col < w->N)
                    store2(w, row + m * 8, col, c0, c1);
            }
        }
    }
}

__global__ void __launch_bounds__(THREADS, 1)
    matmul_kernel(const __grid_constant__ CUtensorMap A_map,
                  const __grid_constant__ CUtensorMap B_map,
                  const __grid_constant__ struct work w)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    struct stage *stages = (struct stage *)shared;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; ++s) {
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], 4 * CONSUMERS); // warps
        }
        fence_mbarrier_init();
    }
    __syncthreads();
    // The producer gives registers away that the consumers need.
    if (threadIdx.x < 128) {
        setmaxnreg_dec<40>();
        if (threadIdx.x == 0)
            produce(&w, &A_map, &B_map, stages, full, empty);
    } else {
        setmaxnreg_inc<232>();
        consume(&w, stages, full, empty);
    }
}

/* ---- the host's side ---- */

static int sms; // that the product is dealt to

// The product by halves, for K >= LEAST_K.
static void launch(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    const bool pairs = N % 2 == 0 && (size_t)C % 8 == 0;
    struct work w = {M, N, K, alpha, beta, C, pairs, (M - 1) / BM + 1, (N - 1) / BN + 1};
    const struct halves halves = split_matrices(&w, A, B);
    const CUtensorMap A_map =
        tensor_map_2d_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, halves.A, 2 * (size_t)M, K,
                         halves.A_stride, BM, BK, CU_TENSOR_MAP_SWIZZLE_128B);
    const CUtensorMap B_map =
        tensor_map_2d_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, halves.B, 2 * (size_t)K, N,
                         halves.B_stride, BK, SLAB, CU_TENSOR_MAP_SWIZZLE_128B);
    const int tiles = w.tiles_down * w.tiles_across, blocks = tiles < sms ? tiles : sms;
    CUDA_CHECK(cudaFuncSetAttribute(
        matmul_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES));
    matmul_kernel<<<blocks, THREADS, SHARED_BYTES>>>(A_map, B_map, w);
    plain_kernel<<<PLAIN_BLOCKS * blocks, PLAIN_THREADS>>>(w, A, B);
}

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
// Not for two host threads or streams at once: they would share the scratch memory.
static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    if (!sms)
        CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    fp32::sms = sms;
    (pays(sms, M, N, K, B) ? launch : fp32::matmul)(M, N, K, alpha, A, B, beta, C);
}

// What a large product does on all SMs, a small one does on two: stages are filled again
// and again. So checking it takes no time.
static void matmul_on_2(int M, int N, int K, float alpha, const float *A, const float *B,
                        float beta, float *C)
{
    const int all = sms;
    sms = 2;
    matmul(M, N, K, alpha, A, B, beta, C);
    sms = all;
}

static const struct product PRODUCTS[] = {
    {300, 260, 321, 1.5f, -0.5f, matmul_on_2, "--sms 2"},
    {257, 259, 256, 1.0f, 0.0f, matmul_on_2, "--sms 2"},
    {200, 200, 640, -0.5f, 2.0f, matmul_on_2, "--sms 2", USUAL, NULL, 'C'},
    {70, 66, 4201, 1.5f, 0.0f, matmul_on_2, "--sms 2"}, // more of a row than is kept
    {300, 100, 512, 1.0f, 0.0f, matmul_on_2, "--sms 2", POSITIVE, NULL, 'A'},
    {300, 200, 401, 1.5f, -0.5f, matmul_on_2, "--sms 2", WIDE_ROWS},
    {150, 200, 402, 1.0f, 0.0f, matmul_on_2, "--sms 2", WIDE_COLUMNS, NULL, 'B'},
    // So small that common/shapes.c looks again: infinities, other alphas and betas.
    {66, 67, 257, 1.0f, 1.0f, matmul_on_2, "--sms 2"},
    {67, 66, 258, 1.3f, -0.4f, matmul_on_2, "--sms 2", WIDE_ROWS},
    {33000, 66, 256, 1.5f, -0.5f, matmul_on_2, "--sms 2"}, // more than a short counts
    {66, 33000, 256, 1.5f, 0.0f, matmul_on_2, "--sms 2"},
};

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 18,
        .title = "fp32 from halves: three products for one",
        .about = "registers",
        .launch = matmul,
        .BM = BM,
        .BN = BN,
        .TM = 1,
        .TN = 2,
        .flop_per_byte = 0.5 * BM * BN / (BM + BN),
        .min_capability = 90,
        .max_capability = 90,
        .kernel = KERNEL(matmul_kernel),
        .threads = THREADS,
        .dynamic_shared = SHARED_BYTES,
        .products = PRODUCTS,
        .product_count = sizeof PRODUCTS / sizeof *PRODUCTS,
        .own_option = "--sms",
        .own_value = &sms,
        .more_help = "    --sms N        deal the product to N SMs\n",
    };
    return chapter_main(argc, argv, &chapter);
}
