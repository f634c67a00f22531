/*
 * Chapter 7: thirty-two doors.
 *
 * What changes against chapter 6: who reads what in shared memory. A thread's 8 x 8
 * results become four squares of 4 x 4, so that the 16-byte reads of neighbouring lanes
 * are neighbours too, and A_tile's rows get 4 floats of padding, so that the 32 floats of
 * a warp's store, 16 in each of two rows of k, fall into 32 different banks.
 *
 *        chapter 6, one thread's results       chapter 7
 *        . . . . . . . .                       . . . .         . . . .
 *        . . . . . . . .                       . . . .         . . . .
 *        . . . . . . . .                                64 columns on
 *        . . . . . . . .                       . . . .         . . . .
 *            8 x 8                             . . . .         . . . .   64 rows on
 *
 * Run it:  make chapter7 && ./chapter7
 */
#include "matmul.h"

// A block covers BM x BN elements of C and takes BK steps along K at a time.
const int BM = 128;
const int BN = 128;
const int BK = 8;
const int TM = 8; // results a thread: TM rows
const int TN = 8; // by TN columns of C, in squares of 4 x 4
const int THREADS = BM * BN / (TM * TN);
// A thread's squares lie this far apart, with those of its neighbours between them.
const int ROW_STEP = BM / (TM / 4);
const int COL_STEP = BN / (TN / 4);
// Without padding, rows of A_tile that are 4 apart start in the same bank: 4 * 128 floats
// are a multiple of 32. 4 floats more a row move them 16 banks apart, and 4 is also the
// least that keeps every row on a multiple of 16 bytes, as float4s need it.
const int PADDING = 4;

static_assert(BM % TM == 0 && BN % TN == 0, "or some results have no thread");
static_assert(TM % 4 == 0 && TN % 4 == 0, "TM and TN must be multiples of 4: float4s");
static_assert(BM * BK == 4 * THREADS, "A_tile takes one float4 a thread");
static_assert(BK * BN == 4 * THREADS, "B_tile takes one float4 a thread");
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

template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS, 2)
    matmul_kernel(int M, int N, int K, float alpha, const float *A, const float *B,
                  float beta, float *C)
{
    // Aligned, because float4s are read from them. A_tile lies transposed, k first.
    __shared__ __align__(16) float A_tile[BK][BM + PADDING];
    __shared__ __align__(16) float B_tile[BK][BN];

    // 1. Find my results: the first square starts at (row, col), and 16 bytes further on
    //    starts my neighbour's.
    const int tiles_down = (M - 1) / BM + 1;
    const int tile_row = blockIdx.x % tiles_down;
    const int tile_col = blockIdx.x / tiles_down;
    const int thread_row = threadIdx.x / (BN / TN) * 4;
    const int thread_col = threadIdx.x % (BN / TN) * 4;
    const int row = tile_row * BM + thread_row;
    const int col = tile_col * BN + thread_col;

    // One float4 of each tile a thread: a row of A's tile is BK / 4 of them, a row of
    // B's tile is BN / 4.
    const int load_a_row = threadIdx.x / (BK / 4);
    const int load_a_col = threadIdx.x % (BK / 4) * 4;
    const int load_b_row = threadIdx.x / (BN / 4);
    const int load_b_col = threadIdx.x % (BN / 4) * 4;
    const int a_row = tile_row * BM + load_a_row;
    const int b_col = tile_col * BN + load_b_col;

    float acc[TM][TN] = {{0.0f}};
    for (int k0 = 0; k0 < K; k0 += BK) {
        // 2. Fetch. Two float4s fit in registers, so this may start before the barrier.
        const int a_col = k0 + load_a_col, b_row = k0 + load_b_row;
        __align__(16) float a[4], b[4];
        load4<ALIGNED>(a, &A[(size_t)a_row * K + a_col], a_row < M ? K - a_col : 0);
        load4<ALIGNED>(b, &B[(size_t)b_row * N + b_col], b_row < K ? N - b_col : 0);

        // 3. Fill the tiles. A turns on its way: four of a row become four of a column,
        //    and only here they travel one by one. B stays as it is.
        __syncthreads();
        for (int i = 0; i < 4; ++i)
            A_tile[load_a_col + i][load_a_row] = a[i];
        *(float4 *)&B_tile[load_b_row][load_b_col] = *(const float4 *)b;
        __syncthreads();

        // 4. Compute: pieces of a row of A_tile times pieces of a row of B_tile. Four
        //    reads of 16 bytes feed 64 products, and none of them waits for a bank.
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            __align__(16) float a_frag[TM], b_frag[TN];
            for (int m = 0; m < TM; m += 4)
                *(float4 *)&a_frag[m] =
                    *(const float4 *)&A_tile[k][thread_row + m / 4 * ROW_STEP];
            for (int n = 0; n < TN; n += 4)
                *(float4 *)&b_frag[n] =
                    *(const float4 *)&B_tile[k][thread_col + n / 4 * COL_STEP];
            for (int m = 0; m < TM; ++m)
                for (int n = 0; n < TN; ++n)
                    acc[m][n] += a_frag[m] * b_frag[n];
        }
    }

    // 5. Store the results that lie inside C; beta == 0 must not read C.
    for (int m = 0; m < TM; ++m) {
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
    return row % ROW_STEP / 4 * (BN / TN) + col % COL_STEP / 4;
}

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        .number = 7,
        .title = "bank conflicts: thirty-two doors",
        .about = "shared memory",
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
