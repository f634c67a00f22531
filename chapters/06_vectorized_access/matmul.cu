/*
 * Chapter 6: ask for 16 bytes at once.
 *
 * What changes against chapter 5: threads move four floats with one instruction, a
 * float4, and A_tile lies transposed so that the four that a thread wants are neighbours.
 *
 *     A in memory             A_tile[k][m]            per k, a thread reads
 *     row m: k k k k  -----> column m:  k             A_tile[k][row .. row+7]  2 float4
 *            one float4                 k             B_tile[k][col .. col+7]  2 float4
 *                                       k             where chapter 5 asked for
 *                                       k             16 floats one by one
 *
 * Run it:  make chapter6 && ./chapter6
 */
#include "matmul.h"

#include <stdint.h>

// A block covers BM x BN elements of C and takes BK steps along K at a time.
const int BM = 128;
const int BN = 128;
const int BK = 8;
const int TM = 8; // results a thread: TM rows
const int TN = 8; // by TN columns of C
const int THREADS = BM * BN / (TM * TN);

static_assert(BM % TM == 0, "TM must divide BM, or some rows have no thread");
static_assert(BN % TN == 0, "TN must divide BN, or some columns have no thread");
static_assert(TM % 4 == 0 && TN % 4 == 0, "TM and TN must be multiples of 4: float4s");
static_assert(BM * BK == 4 * THREADS, "A_tile is loaded one float4 a thread");
static_assert(BK * BN == 4 * THREADS, "B_tile is loaded one float4 a thread");
static_assert(THREADS <= 1024, "a block has at most 1,024 threads: raise TM or TN");

// Reads the four floats at p, of which `left` lie inside the matrix, and puts zeros for
// the others. One float4 is a promise that p is a multiple of 16 bytes, and the GPU
// faults when it is broken. ALIGNED says that this matrix keeps it: then its rows are
// whole float4s, so the four are inside together or outside together.
template <bool ALIGNED> __device__ float4 load4(const float *p, int left)
{
    if (ALIGNED)
        return left > 0 ? *(const float4 *)p : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    return make_float4(left > 0 ? p[0] : 0.0f, left > 1 ? p[1] : 0.0f,
                       left > 2 ? p[2] : 0.0f, left > 3 ? p[3] : 0.0f);
}

// The counterpart of load4: writes those of the four floats that lie inside, of which
// there is at least one.
template <bool ALIGNED> __device__ void store4(float *p, int left, float4 v)
{
    const float values[4] = {v.x, v.y, v.z, v.w};
    if (ALIGNED)
        *(float4 *)p = v;
    else
        for (int i = 0; i < 4 && i < left; ++i)
            p[i] = values[i];
}

template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS, 2)
matmul_kernel(int M, int N, int K, float alpha, const float *A, const float *B,
              float beta, float *C)
{
    __shared__ __align__(16) float A_tile[BK][BM]; // transposed: k first
    __shared__ __align__(16) float B_tile[BK][BN];

    // 1. Find my results, TM x TN elements from (row, col), and their place in the tiles.
    const int tiles_down = (M - 1) / BM + 1;
    const int tile_row = blockIdx.x % tiles_down;
    const int tile_col = blockIdx.x / tiles_down;
    const int thread_row = threadIdx.x / (BN / TN) * TM;
    const int thread_col = threadIdx.x % (BN / TN) * TN;
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
        const int a_col = k0 + load_a_col;
        const int b_row = k0 + load_b_row;
        const float4 a =
            load4<ALIGNED>(&A[(size_t)a_row * K + a_col], a_row < M ? K - a_col : 0);
        const float4 b =
            load4<ALIGNED>(&B[(size_t)b_row * N + b_col], b_row < K ? N - b_col : 0);

        // 3. Fill the tiles. A turns on its way: four of a row become four of a column.
        __syncthreads();
        A_tile[load_a_col + 0][load_a_row] = a.x;
        A_tile[load_a_col + 1][load_a_row] = a.y;
        A_tile[load_a_col + 2][load_a_row] = a.z;
        A_tile[load_a_col + 3][load_a_row] = a.w;
        *(float4 *)&B_tile[load_b_row][load_b_col] = b;
        __syncthreads();

        // 4. Compute: a piece of a row of A_tile times a piece of a row of B_tile.
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            __align__(16) float a_frag[TM], b_frag[TN];
            for (int m = 0; m < TM; m += 4)
                *(float4 *)&a_frag[m] = *(const float4 *)&A_tile[k][thread_row + m];
            for (int n = 0; n < TN; n += 4)
                *(float4 *)&b_frag[n] = *(const float4 *)&B_tile[k][thread_col + n];
            for (int m = 0; m < TM; ++m)
                for (int n = 0; n < TN; ++n)
                    acc[m][n] += a_frag[m] * b_frag[n];
        }
    }

    // 5. Store the results that lie inside C; beta == 0 must not read C.
    float *c = &C[(size_t)row * N + col];
    for (int m = 0; m < TM && row + m < M; ++m) {
        for (int n = 0; n < TN && col + n < N; n += 4) {
            const int left = N - (col + n);
            const float4 old = load4<ALIGNED>(c + n, beta == 0.0f ? 0 : left);
            store4<ALIGNED>(c + n, left,
                            make_float4(alpha * acc[m][n + 0] + beta * old.x,
                                        alpha * acc[m][n + 1] + beta * old.y,
                                        alpha * acc[m][n + 2] + beta * old.z,
                                        alpha * acc[m][n + 3] + beta * old.w));
        }
        c += N;
    }
}

// C = alpha * A * B + beta * C on device pointers, row-major and packed; M, N, K >= 1.
static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    // (M - 1) / BM + 1 rounds up, so the last, partly filled tile gets a block too. The
    // grid is a line and not a rectangle because only its x may pass 65,535.
    const unsigned blocks = ((M - 1) / BM + 1u) * ((N - 1) / BN + 1u);
    const bool aligned = K % 4 == 0 && N % 4 == 0 && (uintptr_t)A % 16 == 0 &&
                         (uintptr_t)B % 16 == 0 && (uintptr_t)C % 16 == 0;
    if (aligned)
        matmul_kernel<true><<<blocks, THREADS>>>(M, N, K, alpha, A, B, beta, C);
    else
        matmul_kernel<false><<<blocks, THREADS>>>(M, N, K, alpha, A, B, beta, C);
}

int main(int argc, char **argv)
{
    const struct chapter chapter = {
        6, "vectorised access: 16 bytes at once", matmul, BM, BN, TM, TN, 0, 0};
    return chapter_main(argc, argv, &chapter);
}
