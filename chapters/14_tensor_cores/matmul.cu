/*
 * Chapter 14: tensor cores.
 *
 * What changes against chapter 10: the multiply-add. A warp hands a 16 x 16 piece of A
 * and a 16 x 8 piece of B to the tensor core with one instruction, mma, and gets 2,048
 * multiply-adds back; in fp32 they were 64 instructions. For that the numbers are bf16
 * (sums stay fp32), and each lane has to bring just the elements that the instruction
 * expects of it: ldmatrix fetches them, and an XOR keeps its reads free of bank
 * conflicts. Tiles come by cp.async, as in chapter 10.
 *
 *     mma:  C 16 x 8  +=  A 16 x 16  *  B 16 x 8          lane l, g = l / 4, t = l % 4
 *           row g, g + 8    row g, g + 8    k = 2t, 2t + 1,
 *           col 2t, 2t + 1  k as B          2t + 8, 2t + 9, col g
 *
 * Run it:  make chapter14 && ./chapter14 [--precision tf32]   (Ampere or newer, or none)
 */
#include "matmul.h"
#include "mma.h"

#include <cuda_bf16.h>
#include <cuda_pipeline.h>

// A block covers BM x BN elements of C, a warp WM x WN of them.
const int BM = 128;
const int BN = 256;
const int WM = 64;
const int WN = 64;
const int THREADS = BM / WM * (BN / WN) * 32;
const int STAGES = 4; // tiles in shared memory: one in use, the others on their way
// Shared memory is handled in cells of 16 bytes: 8 bf16 or 4 fp32. A step along K takes
// ROW cells of each row of A, a multiplication MMA_CELLS of these.
const int ROW = 4;
const int MMA_CELLS = 2;
const int STEPS = ROW / MMA_CELLS;
const int GROUP = 8; // rows of tiles that blocks go down together, before the next column

static_assert(STAGES >= 2, "the next stage is copied while this one is multiplied");
static_assert(STEPS == 2, "fragments take turns, and a tile must start with the first");

template <typename T> struct tile {
    static const int CELL = 16 / sizeof(T); // elements
    static const int BK = ROW * CELL;
    T A[BM][BK], B[BK][BN];
};

// Where element (row, k) of A lies. Two rows are 128 bytes, all banks once; ldmatrix
// reads the same cell of eight rows, so in every other pair of rows cells change places.
template <typename T> __device__ T *A_place(tile<T> *tile, int row, int k)
{
    const int CELL = tile->CELL;
    return &tile->A[row][(k / CELL ^ row / 2 % 4) * CELL + k % CELL];
}

// And element (k, col) of B, whose rows are many times 128 bytes. bf16: ldmatrix reads a
// cell of eight rows. fp32: lanes read eight neighbours, two cells, of four rows.
template <typename T> __device__ T *B_place(tile<T> *tile, int k, int col)
{
    const int CELL = tile->CELL;
    const int turn = sizeof(T) == 2 ? k % 8 : k % 4 * 2;
    return &tile->B[k][(col / CELL ^ turn) * CELL + col % CELL];
}

// Starts a copy of WIDTH elements, or of as many zeros. A copy by itself is 4, 8 or 16
// bytes; a single bf16 has to be carried.
template <typename T, int WIDTH>
__device__ void start_copy(T *to, const T *from, bool inside)
{
    const int bytes = WIDTH * sizeof(T);
    if (bytes >= 4)
        __pipeline_memcpy_async(to, from, bytes, inside ? 0 : bytes);
    else
        *to = inside ? *from : T(0.0f);
}

// Starts this thread's copies for the tile of A and B at k0. What lies past the end of K
// comes as zeros. Rows and columns past the end of the matrices are copied from the last
// ones: they are multiplied, and the result is not stored.
template <typename T, int WIDTH>
__device__ void start_copies(tile<T> *to, int row, int col, int k0, int M, int N, int K,
                             const T *A, const T *B)
{
    const int BK = to->BK;
    const int A_STEP = THREADS * WIDTH / BK, B_STEP = THREADS * WIDTH / BN;
    const int a_row = threadIdx.x / (BK / WIDTH);
    const int a_k = threadIdx.x % (BK / WIDTH) * WIDTH;
    const int b_k = threadIdx.x / (BN / WIDTH);
    const int b_col = threadIdx.x % (BN / WIDTH) * WIDTH;
    const int last_col = (N - 1) / WIDTH * WIDTH;
#pragma unroll
    for (int r = a_row; r < a_row + BM; r += A_STEP)
        start_copy<T, WIDTH>(A_place(to, r, a_k),
                             &A[(size_t)min(row + r, M - 1) * K + k0 + a_k],
                             k0 + a_k < K);
#pragma unroll
    for (int k = b_k; k < b_k + BK; k += B_STEP)
        start_copy<T, WIDTH>(B_place(to, k, b_col),
                             &B[(size_t)(k0 + k) * N + min(col + b_col, last_col)],
                             k0 + k < K);
    __pipeline_commit();
}

// A warp's part of a tile for one multiplication, in the registers of its lanes: 16 rows
// of A by two cells, and 16 columns of B by as many k.
struct fragments {
    uint32_t A[WM / 16][4], B[WN / 16][4];
};

template <typename T>
__device__ void load_fragments(fragments *to, tile<T> *from, int step, int warp_row,
                               int warp_col)
{
    const int lane = threadIdx.x % 32, CELL = from->CELL;
    const int k = step * MMA_CELLS * CELL;
    // Lanes 0 to 7 give the rows of the first 8 x 8 matrix, 8 to 15 those below, the
    // other sixteen the same for the next cell. (Of fp32 a "matrix" is 8 x 4.)
#pragma unroll
    for (int m = 0; m < WM / 16; ++m)
        ldmatrix_x4(to->A[m],
                    A_place(from, warp_row + m * 16 + lane % 16, k + lane / 16 * CELL));
#pragma unroll
    for (int n = 0; n < WN / 16; ++n) {
        const int col = warp_col + n * 16;
        if (sizeof(T) == 2) // rows of B are k, and a lane needs two of a column
            ldmatrix_x4_trans(to->B[n],
                              B_place(from, k + lane % 16, col + lane / 16 * 8));
        else // ldmatrix can turn 16 bits around, not 32
            for (int i = 0; i < 4; ++i)
                to->B[n][i] = *(const uint32_t *)B_place(from, k + i % 2 * 4 + lane % 4,
                                                         col + i / 2 * 8 + lane / 4);
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
template <typename T, int WIDTH>
__global__ void __launch_bounds__(THREADS, 1)
    matmul_kernel(int M, int N, int K, float alpha, const T *A, const T *B, float beta,
                  T *C)
{
    extern __shared__ __align__(128) unsigned char memory[];
    tile<T> *const tiles = (tile<T> *)memory;
    const int BK = tiles->BK;

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
    for (int stage = 0; stage < STAGES - 1; ++stage)
        start_copies<T, WIDTH>(&tiles[stage], row, col, stage * BK, M, N, K, A, B);
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();

    float acc[WM / 16][WN / 8][4] = {};
    fragments frag[2]; // one to multiply, one to read the next step's operands into
    load_fragments(&frag[0], &tiles[0], 0, warp_row, warp_col);
    int now = 0, next = STAGES - 1;
    for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            // 3. First of all start the copies into the stage that was multiplied last.
            //    Before the last step, wait for the next tile: my copies have come, and
            //    after the barrier everyone's; and no warp reads this stage any more.
            if (step == 0)
                start_copies<T, WIDTH>(&tiles[next], row, col, k0 + (STAGES - 1) * BK, M,
                                       N, K, A, B);
            if (step == STEPS - 1) {
                __pipeline_wait_prior(STAGES - 2);
                __syncthreads();
                next = now;
                now = now + 1 < STAGES ? now + 1 : 0;
            }
            // 4. Read for the next step, multiply this one.
            load_fragments(&frag[(step + 1) % 2], &tiles[now], (step + 1) % STEPS,
                           warp_row, warp_col);
#pragma unroll
            for (int m = 0; m < WM / 16; ++m)
#pragma unroll
                for (int i = 0; i < WN / 8; ++i) {
                    const int n = m % 2 ? WN / 8 - 1 - i : i;
                    const uint32_t *b = &frag[step % 2].B[n / 2][n % 2 * 2];
                    if (sizeof(T) == 2)
                        mma_m16n8k16_bf16(acc[m][n], frag[step % 2].A[m], b);
                    else
                        mma_m16n8k8_tf32(acc[m][n], frag[step % 2].A[m], b);
                }
        }
    }
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
                T *c = &C[(size_t)c_row * N + c_col];
                float x = alpha * acc[m][n][half * 2];
                float y = alpha * acc[m][n][half * 2 + 1];
                if (beta != 0.0f) {
                    x += beta * (float)c[0];
                    if (both)
                        y += beta * (float)c[1];
                }
                if (WIDTH >= 2) {
                    store2(c, x, y);
                } else {
                    c[0] = T(x);
                    if (both)
                        c[1] = T(y);
                }
            }
}

template <typename T, int WIDTH>
static void launch(int M, int N, int K, float alpha, const T *A, const T *B, float beta,
                   T *C)
{
    // (M - 1) / BM + 1 rounds up, so the last, partly filled tile gets a block too.
    const unsigned blocks = ((M - 1) / BM + 1u) * ((N - 1) / BN + 1u);
    const int bytes = STAGES * sizeof(tile<T>);
    CUDA_CHECK(cudaFuncSetAttribute(matmul_kernel<T, WIDTH>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    matmul_kernel<T, WIDTH><<<blocks, THREADS, bytes>>>(M, N, K, alpha, A, B, beta, C);
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

// The thread that owns element (row, col) of a tile, for the report of a wrong result.
static int thread_of(int row, int col)
{
    const int warp = row / WM * (BN / WN) + col / WN;
    return warp * 32 + row % 8 * 4 + col % 8 / 2;
}

int main(int argc, char **argv)
{
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
        .kernel = KERNEL(matmul_kernel<__nv_bfloat16, 8>),
        .threads = THREADS,
        .dynamic_shared = STAGES * sizeof(tile<__nv_bfloat16>),
    };
    return chapter_main(argc, argv, &chapter);
}
