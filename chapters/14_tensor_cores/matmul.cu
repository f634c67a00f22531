/*
 * Chapter 14: tensor cores.
 *
 * What changes against chapter 10: the multiply-add. A warp hands a 16 x 16 piece of A
 * and a 16 x 8 piece of B to the tensor core with one instruction, mma, and gets 2,048
 * multiply-adds back; in fp32 they were 64 instructions. For that the numbers are bf16
 * (sums stay fp32), and each lane has to bring just the elements that the instruction
 * expects of it: ldmatrix fetches them, and an XOR keeps its reads free of bank
 * conflicts. Tiles come by cp.async, as in chapter 10; tiles.cuh has their sizes, their
 * layout and the copies.
 *
 *     mma:  C 16 x 8  +=  A 16 x 16  *  B 16 x 8          lane l, g = l / 4, t = l % 4
 *           row g, g + 8    row g, g + 8    k = 2t, 2t + 1,
 *           col 2t, 2t + 1  k as B          2t + 8, 2t + 9, col g
 *
 * Run it:  make chapter14 && ./chapter14 [--precision tf32]   (Ampere or newer, or none)
 */
#include "matmul.h"
#include "mma_sync.h"
#include "tiles.cuh"

#include <cuda_bf16.h>

const int GROUP = 8; // rows of tiles that blocks go down together, before the next column
const int STEPS = 4; // multiplications along a tile's BK

// A warp's part of a tile for one multiplication, in the registers of its lanes: 16 rows
// of A by two cells, and 16 columns of B by as many k.
struct fragments {
    uint32_t A[WM / 16][4], B[WN / 16][4];
};

// Reads them for one step of a tile. `a` and `b` are the lane's first places. Lanes 0 to
// 7 say where the rows of the first matrix of 8 x 8 lie, 8 to 15 those below it, the
// other sixteen the same for the next cell. (Of fp32 a "matrix" is 8 x 4.)
template <typename T>
__device__ void load_fragments(fragments *to, uint32_t a, uint32_t b, int step)
{
    const int A_ROW = sizeof(tile<T>().A[0]), B_ROW = sizeof(tile<T>().B[0]);
#pragma unroll
    for (int m = 0; m < WM / 16; ++m)
        ldmatrix_x4(to->A[m], (a ^ step * 32) + m * 16 * A_ROW);
#pragma unroll
    for (int n = 0; n < WN / 16; ++n)
        if (sizeof(T) == 2) // rows of B are k, and a lane needs two of a column
            ldmatrix_x4_trans(to->B[n], (b ^ n * 32) + step * 16 * B_ROW);
        else // ldmatrix can turn 16 bits around, not 32
            for (int i = 0; i < 4; ++i)
                to->B[n][i] = ld_shared((b ^ (n % 2 * 2 + i / 2) * 32) + n / 2 * 128 +
                                        (step * 8 + i % 2 * 4) * B_ROW);
}

// What a warp does with a tile, and what it orders meanwhile.
template <bool CHECKED, typename T, int WIDTH, int STAGES>
__device__ void multiply_tile(float (&acc)[WM / 16][WN / 8][4], fragments (&frag)[2],
                              copies<T, WIDTH> *c, uint32_t a, uint32_t b, uint32_t *now,
                              uint32_t *next, int N, int K)
{
    const uint32_t STAGE = sizeof(tile<T>);
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        // 3. Start copies into the stage that was multiplied before this one. The last
        //    step reads ahead into the next tile: my copies of it must have come, and
        //    after the barrier everyone's have; and no warp reads this stage any more.
        if (step == 0)
            start_copies<CHECKED>(c, *next, N, K);
        if (step == STEPS - 1) {
            __pipeline_wait_prior(STAGES - 2);
            __syncthreads();
            *next = *now;
            *now = *now + STAGE < STAGES * STAGE ? *now + STAGE : 0;
        }
        // 4. Read for the next step, multiply this one.
        load_fragments<T>(&frag[(step + 1) % 2], a + *now, b + *now, (step + 1) % STEPS);
#pragma unroll
        for (int m = 0; m < WM / 16; ++m)
#pragma unroll
            for (int i = 0; i < WN / 8; ++i) {
                const int n = m % 2 ? WN / 8 - 1 - i : i;
                const uint32_t *b_frag = &frag[step % 2].B[n / 2][n % 2 * 2];
                if (sizeof(T) == 2)
                    mma_m16n8k16_bf16(acc[m][n], frag[step % 2].A[m], b_frag);
                else
                    mma_m16n8k8_tf32(acc[m][n], frag[step % 2].A[m], b_frag);
            }
    }
}

static __device__ void store2(__nv_bfloat16 *to, float x, float y)
{
    *(__nv_bfloat162 *)to = __floats2bfloat162_rn(x, y);
}

static __device__ void store2(float *to, float x, float y)
{
    *(float2 *)to = make_float2(x, y);
}

// WIDTH elements are copied at once: rows of A, B and C are multiples of that.
template <typename T, int WIDTH, int STAGES>
__global__ void __launch_bounds__(THREADS, 1)
    matmul_kernel(int M, int N, int K, float alpha, const T *A, const T *B, float beta,
                  T *C)
{
    extern __shared__ __align__(128) unsigned char memory[];
    tile<T> *const tiles = (tile<T> *)memory;
    const int BK = tiles->BK, CELL = tiles->CELL;

    // 1. Find my results. Blocks go down GROUP tiles, then to the next column, so that
    //    those that run at the same time share rows of A and columns of B.
    const int tiles_down = (M - 1) / BM + 1, tiles_across = (N - 1) / BN + 1;
    const int group = blockIdx.x / (GROUP * tiles_across) * GROUP;
    const int place = blockIdx.x % (GROUP * tiles_across);
    const int height = min(GROUP, tiles_down - group);
    const int row = (group + place % height) * BM, col = place / height * BN;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;

    // 2. Send the first tiles on their way, and wait for the oldest.
    copies<T, WIDTH> c;
    find_copies(&c, row, col, M, N, K, A, B, tiles);
    for (int stage = 0; stage < STAGES - 1; ++stage)
        start_copies<true>(&c, stage * sizeof(tile<T>), N, K);
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();

    // The rows that this lane names to ldmatrix, or its own first element.
    const int a_row = warp_row + lane % 16, b_k = lane % (sizeof(T) == 2 ? 16 : 4);
    const int b_col = warp_col + (sizeof(T) == 2 ? lane / 16 * 8 : lane / 4);
    const uint32_t a =
        shared_address(&tiles->A[a_row][(lane / 16 ^ A_turn<T>(a_row)) * CELL]);
    const uint32_t b = shared_address(
        &tiles->B[b_k][(b_col / CELL ^ B_turn<T>(b_k)) * CELL + b_col % CELL]);
    float acc[WM / 16][WN / 8][4] = {};
    fragments frag[2]; // one to multiply, one to read the next step's operands into
    uint32_t now = 0, next = (STAGES - 1) * sizeof(tile<T>);
    load_fragments<T>(&frag[0], a, b, 0);
    int k0 = 0;
    for (; k0 + STAGES * BK <= K; k0 += BK) // the copies are of whole tiles
        multiply_tile<false, T, WIDTH, STAGES>(acc, frag, &c, a, b, &now, &next, N, K);
    for (; k0 < K; k0 += BK)
        multiply_tile<true, T, WIDTH, STAGES>(acc, frag, &c, a, b, &now, &next, N, K);
    // The last copies brought zeros that are not needed. They are still copies into this
    // block's memory, which goes to another block when this one ends.
    __pipeline_wait_prior(0);

    // 5. Store the results that lie inside C; beta == 0 must not read C.
#pragma unroll
    for (int m = 0; m < WM / 16; ++m)
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int n = 0; n < WN / 8; ++n) {
                const int c_row = row + warp_row + m * 16 + half * 8 + lane / 4;
                const int c_col = col + warp_col + n * 8 + lane % 4 * 2;
                if (c_row >= M || c_col >= N)
                    continue;
                const bool both = WIDTH >= 2 || c_col + 1 < N;
                T *to = &C[(size_t)c_row * N + c_col];
                float x = alpha * acc[m][n][half * 2];
                float y = alpha * acc[m][n][half * 2 + 1];
                if (beta != 0.0f) {
                    x += beta * (float)to[0];
                    if (both)
                        y += beta * (float)to[1];
                }
                if (WIDTH >= 2) {
                    store2(to, x, y);
                } else {
                    to[0] = T(x);
                    if (both)
                        to[1] = T(y);
                }
            }
}

template <typename T, int WIDTH, int STAGES>
static void launch_with(int M, int N, int K, float alpha, const T *A, const T *B,
                        float beta, T *C)
{
    // (M - 1) / BM + 1 rounds up, so the last, partly filled tile gets a block too.
    const unsigned blocks = ((M - 1) / BM + 1u) * ((N - 1) / BN + 1u);
    const int bytes = STAGES * sizeof(tile<T>);
    CUDA_CHECK(cudaFuncSetAttribute(matmul_kernel<T, WIDTH, STAGES>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    matmul_kernel<T, WIDTH, STAGES>
        <<<blocks, THREADS, bytes>>>(M, N, K, alpha, A, B, beta, C);
}

static int most_stages = 3; // --stages

// Three stages are 144 KB of shared memory, more than a block gets on an RTX card.
template <typename T, int WIDTH>
static void launch(int M, int N, int K, float alpha, const T *A, const T *B, float beta,
                   T *C)
{
    int room;
    CUDA_CHECK(cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    if (room >= 3 * (int)sizeof(tile<T>) && most_stages >= 3)
        launch_with<T, WIDTH, 3>(M, N, K, alpha, A, B, beta, C);
    else
        launch_with<T, WIDTH, 2>(M, N, K, alpha, A, B, beta, C);
}

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
// Copies are as wide as rows and addresses allow.
static void matmul_bf16(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                        const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    const size_t all = (size_t)A | (size_t)B | (size_t)C | 2 * (size_t)N | 2 * (size_t)K;
    if (all % 16 == 0)
        launch<__nv_bfloat16, 8>(M, N, K, alpha, A, B, beta, C);
    else if (all % 8 == 0)
        launch<__nv_bfloat16, 4>(M, N, K, alpha, A, B, beta, C);
    else if (all % 4 == 0)
        launch<__nv_bfloat16, 2>(M, N, K, alpha, A, B, beta, C);
    else
        launch<__nv_bfloat16, 1>(M, N, K, alpha, A, B, beta, C);
}

static void matmul_tf32(int M, int N, int K, float alpha, const float *A, const float *B,
                        float beta, float *C)
{
    const size_t all = (size_t)A | (size_t)B | (size_t)C | 4 * (size_t)N | 4 * (size_t)K;
    if (all % 16 == 0)
        launch<float, 4>(M, N, K, alpha, A, B, beta, C);
    else if (all % 8 == 0)
        launch<float, 2>(M, N, K, alpha, A, B, beta, C);
    else
        launch<float, 1>(M, N, K, alpha, A, B, beta, C);
}

// What an RTX card does, for the checks on any GPU.
template <typename T, void LAUNCH(int, int, int, float, const T *, const T *, float, T *)>
static void in_two_stages(int M, int N, int K, float alpha, const T *A, const T *B,
                          float beta, T *C)
{
    const int before = most_stages;
    most_stages = 2;
    LAUNCH(M, N, K, alpha, A, B, beta, C);
    most_stages = before;
}

// The thread that owns element (row, col) of a tile, for the report of a wrong result.
static int thread_of(int row, int col)
{
    const int warp = row / WM * (BN / WN) + col / WN;
    return warp * 32 + row % 8 * 4 + col % 8 / 2;
}

int main(int argc, char **argv)
{
    // More tiles along K than there are stages, with every edge cut off.
    static const struct product products[] = {
        {.M = 200, .N = 296, .K = 456, .alpha = 1.5f, .beta = -0.5f},
        {130, 264, 328, 1.5f, 0.0f, in_two_stages<float, matmul_tf32>, "--stages 2",
         USUAL, in_two_stages<__nv_bfloat16, matmul_bf16>},
        {.M = 1100, .N = 264, .K = 8, .alpha = 1.5f, .beta = -0.5f}, // a second GROUP
        // More tiles than a GPU has multiprocessors.
        {.M = 1, .N = 133 * BN + 8, .K = 8, .alpha = 1.5f, .launch_bf16 = matmul_bf16},
    };
    const struct chapter chapter = {
        .number = 14,
        .title = "tensor cores: one instruction, 32 lanes",
        .about = "registers",
        .launch_bf16 = matmul_bf16,
        .launch_tf32 = matmul_tf32,
        .BM = BM,
        .BN = BN,
        .TM = WM / 8,
        .TN = WN / 4,
        .blocks_go_down = true,
        .thread_of = thread_of,
        .flop_per_byte = 1.0 * BM * BN / (BM + BN),
        .min_capability = 80,
        .kernel = KERNEL(matmul_kernel<__nv_bfloat16, 8, 3>),
        .threads = THREADS,
        .dynamic_shared = 3 * sizeof(tile<__nv_bfloat16>),
        .less_shared = 2 * sizeof(tile<__nv_bfloat16>),
        .products = products,
        .product_count = sizeof products / sizeof *products,
        .own_option = "--stages",
        .own_value = &most_stages,
        .more_help = "    --stages N     at most N stages: two, or three\n",
    };
    return chapter_main(argc, argv, &chapter);
}
