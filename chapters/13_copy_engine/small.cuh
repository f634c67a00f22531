/* Chapter 10's pipeline once more, for problems too small for chapter 13's blocks.
 *
 * Two things are new. The tile is a template's argument, as in chapter 11, since a small
 * problem wants small tiles. And where even those are too few for all SMs, several blocks
 * share a tile: each sums over a part of K (split-K) into a C of its own, and a second
 * kernel adds these up. A C of their own, and not atomicAdd, because float addition
 * depends on the order: the same product must give the same bits every time.
 */
#ifndef SMALL_CUH
#define SMALL_CUH

#include "lanes.cuh"

#include <cuda_pipeline.h>

// A tile of C and how it is dealt: TM x TN results a thread, a warp 4 lanes down, 8
// across.
template <int BM_, int BN_, int TM_, int TN_, int STAGES_, int BLOCKS_>
struct small_tile {
    static const int BM = BM_, BN = BN_, TM = TM_, TN = TN_, STAGES = STAGES_;
    static const int BLOCKS = BLOCKS_; // that an SM should hold at once
    static const int BK = 8, WM = 4 * TM, WN = 8 * TN;
    static const enum lanes LANES = lanes_for(TM, TN);
    static const int THREADS = BM * BN / (TM * TN);
    static const int A_ROW = BM + 4; // padded: chapter 10
    static const int A_FLOATS = BK * A_ROW, FLOATS = A_FLOATS + BK * BN; // a stage
    static const int SHARED_BYTES = STAGES * FLOATS * sizeof(float);
    static const int A_COPIES = BM * BK / THREADS, A_STEP = THREADS / BK;
    static_assert(BM % WM == 0 && BN % WN == 0, "warp tiles cover the block's tile");
    static_assert(TM % 4 == 0 && TN % 4 == 0, "TM and TN: whole float4s");
    static_assert(A_COPIES * A_STEP == BM, "the copies cover A's tile");
    static_assert(A_COPIES <= BK && BK * BN / THREADS <= BK, "one copy a step");
    static_assert(STAGES >= 3, "one in use, one that must have come, one to copy into");
};

// Stores four neighbours of a row of C from `c` on, of which `left` lie inside the
// matrix. beta == 0 must not read C. `aligned`: all four are inside and c is a multiple
// of 16 bytes.
static __device__ __forceinline__ void store4(float *c, const float *sum, int left,
                                              bool aligned, float alpha, float beta)
{
    if (aligned) {
        float4 v =
            make_float4(alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]);
        if (beta != 0.0f) {
            const float4 old = *(const float4 *)c;
            v.x += beta * old.x;
            v.y += beta * old.y;
            v.z += beta * old.z;
            v.w += beta * old.w;
        }
        *(float4 *)c = v;
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
        if (i < left)
            c[i] = alpha * sum[i] + (beta == 0.0f ? 0.0f : beta * c[i]);
}

template <int COUNT>
static __device__ __forceinline__ void load_fragment(float *to, const float *from,
                                                     int step)
{
#pragma unroll
    for (int i = 0; i < COUNT; i += 4)
        *(float4 *)&to[i] = *(const float4 *)&from[i / 4 * step];
}

// Where a thread's copies come from, for the next tile to copy.
template <class T> struct small_source {
    const float *A[T::A_COPIES], *B;
    int a_k, b_k, b_col;
};

// Starts the copies of step `step` of BK; the last step ends the tile. See chapter 10. B's
// rows, `stride` floats apart, must start at multiples of 16 bytes.
template <class T>
static __device__ __forceinline__ void start_copies(int step, small_source<T> *from,
                                                    float *stage, int stride, int k_end)
{
    const int B_COPIES = T::BK * T::BN / (4 * T::THREADS);
    const int B_STEP = T::BK / B_COPIES;
    static_assert(B_COPIES * 4 * T::THREADS == T::BK * T::BN, "B's tile is covered");
    static_assert(B_STEP * (T::BN / 4) == T::THREADS, "all threads copy in each turn");
    if (step < T::A_COPIES) {
        const int row = threadIdx.x / T::BK + step * T::A_STEP;
        float *to = &stage[threadIdx.x % T::BK * T::A_ROW + row];
        __pipeline_memcpy_async(to, from->A[step], sizeof(float),
                                from->a_k < k_end ? 0 : sizeof(float));
        from->A[step] += T::BK;
    }
    if (step < B_COPIES) {
        const int k = threadIdx.x / (T::BN / 4) + step * B_STEP;
        const float *b = from->B + (size_t)step * B_STEP * stride;
        const size_t bytes = sizeof(float4);
        __pipeline_memcpy_async(&stage[T::A_FLOATS + k * T::BN + from->b_col], b, bytes,
                                from->b_k + step * B_STEP < k_end ? 0 : bytes);
    }
    if (step == T::BK - 1) {
        from->a_k += T::BK;
        from->b_k += T::BK;
        from->B += (size_t)T::BK * stride;
        __pipeline_commit();
    }
}

// Block (x, y) multiplies tile x over part y of K: k_share steps, the last part maybe
// fewer. Part y goes to the y-th M x N matrix from C on; `aligned` says that the rows of
// these start at multiples of 16 bytes.
template <class T>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS)
    small_kernel(int M, int N, int K, int k_share, float alpha, const float *A,
                 const float *B, int stride, float beta, float *C, bool aligned)
{
    extern __shared__ __align__(1024) float tiles[];

    // 1. Find my results and my copies. Rows and columns past the end of the matrix are
    //    copied from the last ones: somebody multiplies them, nobody stores the result.
    const int tiles_down = (M - 1) / T::BM + 1;
    const int tile_row = blockIdx.x % tiles_down * T::BM;
    const int tile_col = blockIdx.x / tiles_down * T::BN;
    const int k_begin = blockIdx.y * k_share;
    const int k_end = min(K, k_begin + k_share);
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int lane_row = lane_row_of<T::LANES>(lane);
    const int lane_col = lane_col_of<T::LANES>(lane);
    const int thread_row = warp / (T::BN / T::WN) * T::WM + lane_row * 4;
    const int thread_col = warp % (T::BN / T::WN) * T::WN + lane_col * 4;
    small_source<T> from;
    from.a_k = k_begin + threadIdx.x % T::BK;
    from.b_k = k_begin + threadIdx.x / (T::BN / 4);
    from.b_col = threadIdx.x % (T::BN / 4) * 4;
    for (int i = 0; i < T::A_COPIES; ++i) {
        const int row = tile_row + threadIdx.x / T::BK + i * T::A_STEP;
        from.A[i] = &A[(size_t)min(row, M - 1) * K + from.a_k];
    }
    const int from_col = min(tile_col + from.b_col, (N - 1) / 4 * 4);
    from.B = &B[(size_t)from.b_k * stride + from_col];

    // 2. Send the first tiles on their way, and wait for the oldest.
    for (int stage = 0; stage < T::STAGES - 1; ++stage)
#pragma unroll
        for (int step = 0; step < T::BK; ++step)
            start_copies<T>(step, &from, &tiles[stage * T::FLOATS], stride, k_end);
    __pipeline_wait_prior(T::STAGES - 2);
    __syncthreads();

    // 3. Multiply the tile in use, step by step, reading one step ahead and starting a
    //    few copies in each.
    float acc[T::TM][T::TN];
#pragma unroll
    for (int m = 0; m < T::TM; ++m)
#pragma unroll
        for (int n = 0; n < T::TN; ++n)
            acc[m][n] = 0.0f;
    float a_frag[2][T::TM], b_frag[2][T::TN];
    const int ROW_STEP = T::WM / (T::TM / 4), COL_STEP = T::WN / (T::TN / 4);
    load_fragment<T::TM>(a_frag[0], &tiles[thread_row], ROW_STEP);
    load_fragment<T::TN>(b_frag[0], &tiles[T::A_FLOATS + thread_col], COL_STEP);
    int now = 0, next = T::STAGES - 1;
    for (int k0 = k_begin; k0 < k_end; k0 += T::BK) {
#pragma unroll
        for (int k = 0; k < T::BK; ++k) {
            if (k == T::BK - 1) {
                __pipeline_wait_prior(T::STAGES - 3);
                __syncthreads();
                now = now + 1 < T::STAGES ? now + 1 : 0;
            }
            const float *stage = &tiles[now * T::FLOATS];
            const int ahead = (k + 1) % T::BK;
            load_fragment<T::TM>(a_frag[(k + 1) % 2],
                                 &stage[ahead * T::A_ROW + thread_row], ROW_STEP);
            load_fragment<T::TN>(b_frag[(k + 1) % 2],
                                 &stage[T::A_FLOATS + ahead * T::BN + thread_col],
                                 COL_STEP);
            start_copies<T>(k, &from, &tiles[next * T::FLOATS], stride, k_end);
#pragma unroll
            for (int m = 0; m < T::TM; ++m)
#pragma unroll
                for (int i = 0; i < T::TN; ++i) {
                    const int n = m % 2 ? T::TN - 1 - i : i;
                    acc[m][n] += a_frag[k % 2][m] * b_frag[k % 2][n];
                }
        }
        next = next + 1 < T::STAGES ? next + 1 : 0;
    }
    __pipeline_wait_prior(0);

    // 4. Store.
    C += (size_t)blockIdx.y * M * N;
#pragma unroll
    for (int m = 0; m < T::TM; ++m) {
#pragma unroll
        for (int n = 0; n < T::TN; n += 4) {
            const int row = tile_row + thread_row + m / 4 * ROW_STEP + m % 4;
            const int col = tile_col + thread_col + n / 4 * COL_STEP;
            if (row < M && col < N)
                store4(&C[(size_t)row * N + col], &acc[m][n], N - col, aligned, alpha,
                       beta);
        }
    }
}

// C = alpha * (the sum of `count` parts of `size` floats) + beta * C. WIDTH floats a
// thread.
template <int WIDTH>
static __global__ void add_parts(size_t size, int count, float alpha, const float *parts,
                                 float beta, float *C)
{
    const size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
    if (i >= size)
        return;
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 8
    for (int part = 0; part < count; ++part) {
        const float *p = &parts[part * size + i];
        if (WIDTH == 4) {
            const float4 v = *(const float4 *)p;
            sum[0] += v.x;
            sum[1] += v.y;
            sum[2] += v.z;
            sum[3] += v.w;
        } else {
            sum[0] += *p;
        }
    }
    store4(&C[i], sum, 1, WIDTH == 4, alpha, beta);
}

#endif
