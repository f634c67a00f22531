/*
 * Chapter 15: warpgroups.
 *
 * What changes against chapter 14: no lane holds a piece of A or B any more. Four warps
 * together, a warpgroup, order a multiplication of 64 x 256 x 16 (wgmma), and the tensor
 * core reads both operands from shared memory itself, where a descriptor of 64 bits says
 * they lie. It goes on while the warps do something else. Tiles come by the copy engine,
 * which also swizzles them the way the tensor core wants them.
 *
 *     thread 0      orders copies 0 to 3           orders copy 4, into the stage of 0
 *     copy engine     copy 0 | copy 1 | copy 2 | copy 3    | copy 4
 *     tensor core            | multiply 0 | multiply 1 | multiply 2 | multiply 3
 *     warps                  ^            ^
 *                            full[0]      0 is done, 1 under way: meet, order copy 4
 *
 * Run it:  make chapter15 && ./chapter15        (needs a Hopper GPU, or none)
 */
#include "hopper.h"
#include "matmul.h"
#include "wgmma.h"

#include <cuda_bf16.h>

// A block covers BM x BN elements of C, a warpgroup 64 rows of them, and takes BK steps
// along K at a time: 64 bf16 are the 128 bytes that a swizzle rearranges.
const int BM = 128;
const int BN = 256;
const int BK = 64;
const int SLAB = 64; // columns of B that lie together
const int STAGES = 4;
const int THREADS = BM / 64 * 128;
const int GROUP = 8; // rows of tiles that blocks go down together, before the next column

struct stage {
    __nv_bfloat16 A[BM][BK];
    __nv_bfloat16 B[BN / SLAB][BK][SLAB];
};
static_assert(sizeof(stage) % 1024 == 0, "swizzled matrices begin at multiples of 1,024");

// Where a row of 128 bytes keeps its element `i`: in groups of eight rows, the eight
// cells of 16 bytes change places by the number of the row.
static __device__ int swizzled(int row, int i)
{
    return (i / 8 ^ row % 8) * 8 + i % 8;
}

// Brings the tiles of A and B at k0. By the copy engine, one thread orders it: the bytes
// count for `full`. Without, all threads bring an element at a time, each arrives, and a
// fence makes what they wrote visible to the tensor core, which does not read as a thread
// does. Outside the matrices there are zeros.
template <bool ENGINE>
__device__ void load(stage *to, uint64_t *full, const CUtensorMap *A_map,
                     const CUtensorMap *B_map, int row, int col, int k0, int M, int N,
                     int K, const __nv_bfloat16 *A, const __nv_bfloat16 *B)
{
    if (ENGINE) {
        mbarrier_arrive_expect_tx(full, sizeof(stage));
        cp_async_bulk_tensor_2d(to->A, A_map, k0, row, full);
        for (int slab = 0; slab < BN / SLAB; ++slab)
            cp_async_bulk_tensor_2d(to->B[slab], B_map, col + slab * SLAB, k0, full);
        return;
    }
    const __nv_bfloat16 zero = 0.0f;
    for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
        const int r = i / BK, k = i % BK;
        to->A[r][swizzled(r, k)] =
            row + r < M && k0 + k < K ? A[(size_t)(row + r) * K + k0 + k] : zero;
    }
    for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
        const int k = i / BN, c = i % BN;
        to->B[c / SLAB][k][swizzled(k, c % SLAB)] =
            col + c < N && k0 + k < K ? B[(size_t)(k0 + k) * N + col + c] : zero;
    }
    fence_proxy_async();
    mbarrier_arrive(full);
}

template <bool ENGINE>
__global__ void __launch_bounds__(THREADS, 1)
    matmul_kernel(int M, int N, int K, float alpha,
                  const __grid_constant__ CUtensorMap A_map,
                  const __grid_constant__ CUtensorMap B_map, const __nv_bfloat16 *A,
                  const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    stage *const stages = (stage *)memory;
    __shared__ uint64_t full[STAGES];

    // 1. Find my results, in the order of chapter 14.
    const int tiles_down = (M - 1) / BM + 1, tiles_across = (N - 1) / BN + 1;
    const int group = blockIdx.x / (GROUP * tiles_across) * GROUP;
    const int place = blockIdx.x % (GROUP * tiles_across);
    const int height = min(GROUP, tiles_down - group);
    const int row = (group + place % height) * BM, col = place / height * BN;
    const int warpgroup = threadIdx.x / 128;
    const int steps = (K - 1) / BK + 1;

    // 2. A stage is full when its bytes have come, or all threads have brought theirs.
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i)
            mbarrier_init(&full[i], ENGINE ? 1 : THREADS);
        fence_mbarrier_init();
    }
    __syncthreads();
    const bool loads = !ENGINE || threadIdx.x == 0;
    for (int i = 0; loads && i < STAGES && i < steps; ++i)
        load<ENGINE>(&stages[i], &full[i], &A_map, &B_map, row, col, i * BK, M, N, K, A,
                     B);

    float acc[BN / 2] = {};
    int now = 0, parity = 0;
    for (int step = 0; step < steps; ++step) {
        // 3. Order the multiplications of this stage, 16 steps of k each. Descriptors
        //    count in 16 bytes: 16 k of A are 32 bytes further along its rows, of B 16
        //    rows of 128 bytes.
        mbarrier_wait_parity(&full[now], parity);
        const uint64_t a = wgmma_descriptor(&stages[now].A[warpgroup * 64], 16, 8 * 128,
                                            WGMMA_SWIZZLE_128B);
        const uint64_t b = wgmma_descriptor(stages[now].B, sizeof stages->B[0], 8 * 128,
                                            WGMMA_SWIZZLE_128B);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < BK / 16; ++k)
            wgmma_mma_async_bf16<0, 1>(acc, a + k * 32 / 16, b + k * 16 * 128 / 16, 1);
        wgmma_commit_group();

        // 4. My warpgroup's multiplications of the stage before are done now, while these
        //    are under way. When those of the other are too, it may be filled again.
        wgmma_wait_group<1>();
        if (step > 0 && step - 1 + STAGES < steps) {
            const int before = (now + STAGES - 1) % STAGES;
            __syncthreads();
            if (loads)
                load<ENGINE>(&stages[before], &full[before], &A_map, &B_map, row, col,
                             (step - 1 + STAGES) * BK, M, N, K, A, B);
        }
        if (++now == STAGES) {
            now = 0;
            parity ^= 1;
        }
    }
    wgmma_wait_group<0>();
    wgmma_touch(acc);

    // 5. Store the results that lie inside C; beta == 0 must not read C. Rows that the
    //    copy engine takes are whole pairs.
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int n = 0; n < BN / 8; ++n) {
            const int c_row = row + warp * 16 + half * 8 + lane / 4;
            const int c_col = col + n * 8 + lane % 4 * 2;
            if (c_row >= M || c_col >= N)
                continue;
            const bool both = ENGINE || c_col + 1 < N;
            __nv_bfloat16 *c = &C[(size_t)c_row * N + c_col];
            float x = alpha * acc[n * 4 + half * 2];
            float y = alpha * acc[n * 4 + half * 2 + 1];
            if (beta != 0.0f) {
                x += beta * (float)c[0];
                if (both)
                    y += beta * (float)c[1];
            }
            if (ENGINE) {
                *(__nv_bfloat162 *)c = __floats2bfloat162_rn(x, y);
            } else {
                c[0] = x;
                if (both)
                    c[1] = y;
            }
        }
}

template <bool ENGINE>
static void launch(int M, int N, int K, float alpha, const CUtensorMap A_map,
                   const CUtensorMap B_map, const __nv_bfloat16 *A,
                   const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    // (M - 1) / BM + 1 rounds up, so the last, partly filled tile gets a block too.
    const unsigned blocks = ((M - 1) / BM + 1u) * ((N - 1) / BN + 1u);
    const int bytes = STAGES * sizeof(stage);
    CUDA_CHECK(cudaFuncSetAttribute(matmul_kernel<ENGINE>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    matmul_kernel<ENGINE>
        <<<blocks, THREADS, bytes>>>(M, N, K, alpha, A_map, B_map, A, B, beta, C);
}

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
static void matmul(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                   const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    // The copy engine takes matrices and rows that begin at multiples of 16 bytes.
    const size_t all = (size_t)A | (size_t)B | (size_t)C | 2 * (size_t)N | 2 * (size_t)K;
    if (all % 16 == 0) {
        const CUtensorMap A_map =
            tensor_map_2d_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, A, M, K, K, BM, BK,
                             CU_TENSOR_MAP_SWIZZLE_128B);
        const CUtensorMap B_map =
            tensor_map_2d_of(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, B, K, N, N, BK, SLAB,
                             CU_TENSOR_MAP_SWIZZLE_128B);
        launch<true>(M, N, K, alpha, A_map, B_map, A, B, beta, C);
    } else {
        const CUtensorMap none = {};
        launch<false>(M, N, K, alpha, none, none, A, B, beta, C);
    }
}

// The thread that owns element (row, col) of a tile, for the report of a wrong result.
static int thread_of(int row, int col)
{
    return row / 16 * 32 + row % 8 * 4 + col % 8 / 2;
}

int main(int argc, char **argv)
{
    // For the copy engine, with every edge cut off, and in a third round of the ring.
    static const struct product products[] = {
        {.M = 200, .N = 296, .K = 520, .alpha = 1.5f, .beta = -0.5f},
        {.M = 1100, .N = 264, .K = 8, .alpha = 1.5f, .beta = -0.5f}, // a second GROUP
        // More tiles than a GPU has multiprocessors.
        {.M = 1, .N = 133 * BN + 8, .K = 8, .alpha = 1.5f, .beta = -0.5f},
    };
    const struct chapter chapter = {
        .number = 15,
        .title = "warpgroups: the tensor core reads shared memory itself",
        .about = "shared memory",
        .launch_bf16 = matmul,
        .BM = BM,
        .BN = BN,
        .TM = 2,
        .TN = BN / 4,
        .blocks_go_down = true,
        .thread_of = thread_of,
        .flop_per_byte = 1.0 * BM * BN / (BM + BN),
        .min_capability = 90,
        .max_capability = 90,
        .kernel = KERNEL(matmul_kernel<true>),
        .threads = THREADS,
        .dynamic_shared = STAGES * sizeof(stage),
        .products = products,
        .product_count = sizeof products / sizeof *products,
    };
    return chapter_main(argc, argv, &chapter);
}
