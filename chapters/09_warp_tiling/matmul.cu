/*
 * Chapter 9: the missing level.
 *
 * What changes against chapter 8: between the block's tile and the thread's comes the
 * warp's. 32 lanes own one square of 64 x 64, so that what one lane reads, the lanes of
 * its row or column want too. A thread owns 16 x 8 of it and walks them there and back
 * again, so that each product finds one operand still at hand.
 *
 *     a block, 128 x 128     a warp, 64 x 64: lanes, four rows of 8
 *     +--------+--------+        0  1  2  3  4  5  6  7
 *     | warp 0 | warp 1 |        8  9 10 11 12 13 14 15
 *     +--------+--------+       16 17 18 19 20 21 22 23
 *     | warp 2 | warp 3 |       24 25 26 27 28 29 30 31
 *     +--------+--------+
 *
 * Run it:  make chapter9 && ./chapter9
 */
#include "matmul.h"

// A block covers BM x BN elements of C and takes BK steps along K at a time.
const int BM = 128;
const int BN = 128;
const int BK = 8;
const int WM = 64; // a warp: WM x WN of the block's tile
const int WN = 64;
const int TM = 16; // results a thread: TM rows
const int TN = 8;  // by TN columns of C, in squares of 4 x 4
const int THREADS = BM * BN / (TM * TN);
// A thread's squares lie this far apart, with those of the other lanes between them.
const int ROW_STEP = WM / (TM / 4);
const int COL_STEP = WN / (TN / 4);
const int PADDING = 4; // floats more a row of A_tile: chapter 7
// The float4s of a tile that each thread fetches, and the rows between two of them.
const int LOADS = BM * BK / 4 / THREADS;
const int A_STEP = BM / LOADS;
const int B_STEP = BK / LOADS;

static_assert(BM % WM == 0 && BN % WN == 0, "whole warp tiles cover the block's tile");
static_assert(WM == 4 * TM && WN == 8 * TN, "a warp is 4 lanes down and 8 across");
static_assert(TM % 4 == 0 && TN % 4 == 0, "TM and TN must be multiples of 4: float4s");
static_assert(BM == BN && LOADS * THREADS * 4 == BM * BK, "whole float4s a thread");
static_assert(BK == 8, "a warp fetches 16 rows of A, 8 floats of each: see PADDING");
static_assert(THREADS <= 1024, "a block has at most 1,024 threads: raise TM or TN");

// Copies the four floats at `from`, of which `left` lie inside the matrix, and puts zeros
// for the others. Moving them as one float4 is a promise that the address is a multiple
// of 16 bytes, and the GPU faults when it is broken. ALIGNED says that this matrix keeps
// it: then its rows are whole float4s, and the four are all inside or all outside.
template <bool ALIGNED> __device__ void load4(float *to, const float *from, int left)
{
    if (ALIGNED && left > 0)
        *(float4 *)to = *(const float4 *)from;
    else
        for (int i = 0; i < 4; ++i)
            to[i] = i < left ? from[i] : 0.0f;
}

// The way back, into the matrix: at least the first of the four has its place there.
template <bool ALIGNED> __device__ void store4(float *to, const float *from, int left)
{
    if (ALIGNED)
        *(float4 *)to = *(const float4 *)from;
    else
        for (int i = 0; i < 4 && i < left; ++i)
            to[i] = from[i];
}

// Fetches this thread's float4s of each tile, from rows a_row, a_row + A_STEP, ... of A
// and b_row, b_row + B_STEP, ... of B.
template <bool ALIGNED>
__device__ void fetch(float (*a)[4], float (*b)[4], int M, int N, int K, const float *A,
                      const float *B, int a_row, int a_col, int b_row, int b_col)
{
    for (int i = 0; i < LOADS; ++i, a_row += A_STEP, b_row += B_STEP) {
        load4<ALIGNED>(a[i], &A[(size_t)a_row * K + a_col], a_row < M ? K - a_col : 0);
        load4<ALIGNED>(b[i], &B[(size_t)b_row * N + b_col], b_row < K ? N - b_col : 0);
    }
}

template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS, 2)
    matmul_kernel(int M, int N, int K, float alpha, const float *A, const float *B,
                  float beta, float *C)
{
    // Aligned, because float4s are read from them. A_tile lies transposed, k first.
    // Two of each: one to multiply, one to fill.
    __shared__ __align__(16) float A_tile[2][BK][BM + PADDING];
    __shared__ __align__(16) float B_tile[2][BK][BN];

    // 1. Find my results: the block's tile, my warp's square in it, my lane's place in
    //    that. The 8 lanes of a row want the same float4 of A: one answer serves them.
    //    The 4 of a column want the same of B, but are never served together.
    const int tiles_down = (M - 1) / BM + 1;
    const int tile_row = blockIdx.x % tiles_down;
    const int tile_col = blockIdx.x / tiles_down;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int lane_row = lane / 8, lane_col = lane % 8;
    const int thread_row = warp / (BN / WN) * WM + lane_row * 4;
    const int thread_col = warp % (BN / WN) * WN + lane_col * 4;
    const int row = tile_row * BM + thread_row;
    const int col = tile_col * BN + thread_col;

    // LOADS float4s of each tile a thread: a row of A's tile is BK / 4 of them, a row of
    // B's tile is BN / 4.
    const int load_a_row = threadIdx.x / (BK / 4);
    const int load_a_col = threadIdx.x % (BK / 4) * 4;
    const int load_b_row = threadIdx.x / (BN / 4);
    const int load_b_col = threadIdx.x % (BN / 4) * 4;
    const int a_row = tile_row * BM + load_a_row;
    const int b_col = tile_col * BN + load_b_col;

    float acc[TM][TN] = {{0.0f}};
    // 2. Fetch the first tile into registers.
    __align__(16) float a[LOADS][4], b[LOADS][4];
    fetch<ALIGNED>(a, b, M, N, K, A, B, a_row, load_a_col, load_b_row, b_col);
    int now = 0; // the buffer to fill, and then to multiply
    for (int k0 = 0; k0 < K; k0 += BK) {
        // 3. Fill a buffer. A turns on its way: four of a row become four of a column,
        //    and only here they travel one by one. A warp that is still multiplying reads
        //    the other buffer.
        for (int i = 0; i < LOADS; ++i) {
            for (int j = 0; j < 4; ++j)
                A_tile[now][load_a_col + j][load_a_row + i * A_STEP] = a[i][j];
            *(float4 *)&B_tile[now][load_b_row + i * B_STEP][load_b_col] =
                *(float4 *)b[i];
        }
        __syncthreads();

        // 4. Ask for the next tile, and do it here: chapter 8.
        fetch<ALIGNED>(a, b, M, N, K, A, B, a_row, k0 + BK + load_a_col,
                       k0 + BK + load_b_row, b_col);
        __syncwarp();

        // 5. Compute. The row of products runs to the right, the next one to the left:
        //    where it turns, both products take the same b. The operand that two products
        //    in a row share comes from the reuse cache and not from the register file.
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            __align__(16) float a_frag[TM], b_frag[TN];
            for (int m = 0; m < TM; m += 4)
                *(float4 *)&a_frag[m] =
                    *(const float4 *)&A_tile[now][k][thread_row + m / 4 * ROW_STEP];
            for (int n = 0; n < TN; n += 4)
                *(float4 *)&b_frag[n] =
                    *(const float4 *)&B_tile[now][k][thread_col + n / 4 * COL_STEP];
            for (int m = 0; m < TM; ++m)
                for (int i = 0; i < TN; ++i) {
                    const int n = m % 2 ? TN - 1 - i : i;
                    acc[m][n] += a_frag[m] * b_frag[n];
                }
        }
        now ^= 1;
    }

    // 6. Store the results that lie inside C; beta == 0 must not read C. Unrolled,
    //    because registers have no addresses: an acc[m] with an m that varies would move
    //    to memory.
#pragma unroll
    for (int m = 0; m < TM; ++m) {
#pragma unroll
        for (int n = 0; n < TN; n += 4) {
            const int c_row = row + m / 4 * ROW_STEP + m % 4;
            const int left = N - (col + n / 4 * COL_STEP);
            if (c_row >= M || left <= 0)
                continue;
            float *c = &C[(size_t)c_row * N + N - left];
            __align__(16) float v[4];
            load4<ALIGNED>(v, c, beta == 0.0f ? 0 : left);
            for (int i = 0; i < 4; ++i)
                v[i] = alpha * acc[m][n + i] + beta * v[i];
            store4<ALIGNED>(c, v, left);
        }
    }
}

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    // (M - 1) / BM + 1 rounds up, so the last, partly filled tile gets a block too. The
    // grid is a line and not a rectangle because only its x may pass 65,535.
    const unsigned blocks = ((M - 1) / BM + 1u) * ((N - 1) / BN + 1u);
    // Every row starts at a multiple of 16 bytes if the first one does and if rows are
    // whole float4s: K floats in A, N in B and C. Other shapes take the slower kernel.
    const bool aligned = K % 4 == 0 && N % 4 == 0 && (size_t)A % 16 == 0 &&
                         (size_t)B % 16 == 0 && (size_t)C % 16 == 0;
    if (aligned)
        matmul_kernel<true><<<blocks, THREADS>>>(M, N, K, alpha, A, B, beta, C);
    else
        matmul_kernel<false><<<blocks, THREADS>>>(M, N, K, alpha, A, B, beta, C);
}

// The thread that owns element (row, col) of a tile, for the report of a wrong result.
static int thread_of(int row, int col)
{
    const int warp = row / WM * (BN / WN) + col / WN;
    const int lane_row = row % ROW_STEP / 4, lane_col = col % COL_STEP / 4;
    return warp * 32 + lane_row * 8 + lane_col;
}

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 9,
        .title = "warp tiling: the missing level",
        .about = "registers",
        .launch = matmul,
        .BM = BM,
        .BN = BN,
        .TM = TM,
        .TN = TN,
        .blocks_go_down = true,
        .thread_of = thread_of,
        .flop_per_byte = 0.5 * BM * BN / (BM + BN),
        .kernel = KERNEL(matmul_kernel<true>),
        .threads = THREADS,
    };
    return chapter_main(argc, argv, &chapter);
}
