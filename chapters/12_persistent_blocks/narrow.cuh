/* A narrow C: 9 to 32 columns. Its tiles are 128 rows high and as narrow as C, and a
 * thread owns TM x TN results. A's tile lies as it does in memory, a row's k beside each
 * other: turning it on the way, as the other kernels do, costs a copy a float, and here
 * nearly all that is copied is A.
 */
#ifndef NARROW_CUH
#define NARROW_CUH

#include "small.cuh"

// A warp is DOWN lanes down and ACROSS across; DOWN rows lie between a thread's, and
// 4 * ACROSS columns between its groups of four.
template <int BN_, int TM_, int TN_> struct narrow_tile {
    static const int BM = 128, BN = BN_, BK = 32, TM = TM_, TN = TN_, STAGES = 3;
    static const int ACROSS = BN / TN, DOWN = 32 / ACROSS;
    static const int THREADS = BM * BN / (TM * TN);
    static const int A_ROW = BK + 4; // padded: eight rows, eight times four banks
    static const int A_FLOATS = BM * A_ROW, FLOATS = A_FLOATS + BK * BN; // a stage
    static const int SHARED_BYTES = STAGES * FLOATS * sizeof(float);
    static_assert(BN == ACROSS * TN && BM == THREADS / 32 * DOWN * TM, "tile is covered");
    static_assert(TN % 4 == 0 && DOWN * ACROSS == 32, "whole float4s, whole warps");
};

// Starts the copies of a k-block, steps k0 and the following. What lies past k_end comes
// as zeros; rows and columns past the end of the matrix are copied from the last ones.
template <class T, int WIDTH>
static __device__ __forceinline__ void start_narrow(float *stage, const struct work *w,
                                                    int tile_row, int k0, int k_end)
{
    const int A_THREADS = T::BK / WIDTH, A_ROWS = T::THREADS / A_THREADS;
    const int k = threadIdx.x % A_THREADS * WIDTH;
    const size_t bytes = WIDTH * sizeof(float);
    const bool inside = k0 + k < k_end;
#pragma unroll
    for (int i = 0; i < T::BM / A_ROWS; ++i) {
        const int m = threadIdx.x / A_THREADS + i * A_ROWS;
        const size_t row = min(tile_row + m, w->M - 1);
        __pipeline_memcpy_async(&stage[m * T::A_ROW + k],
                                &w->A[row * w->K + (inside ? k0 + k : 0)], bytes,
                                inside ? 0 : bytes);
    }
#pragma unroll
    for (int i = 0; i < T::BK * T::BN / T::THREADS; ++i) {
        const int at = threadIdx.x + i * T::THREADS, b_k = k0 + at / T::BN;
        const size_t from = b_k < k_end ? (size_t)b_k * w->N : 0;
        __pipeline_memcpy_async(&stage[T::A_FLOATS + at],
                                &w->B[from + min(at % T::BN, w->N - 1)], sizeof(float),
                                b_k < k_end ? 0 : sizeof(float));
    }
    __pipeline_commit();
}

// Block (x, y): tile x down, over part y of K, as in small_kernel.
template <class T, int WIDTH>
__global__ void __launch_bounds__(T::THREADS)
    narrow_kernel(const __grid_constant__ struct work w)
{
    extern __shared__ __align__(16) float narrow_tiles[];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int tile_row = blockIdx.x * T::BM;
    const int k_begin = blockIdx.y * w.share, k_end = min(w.K, k_begin + w.share);
    const int thread_row = warp * T::DOWN * T::TM + lane / T::ACROSS;
    const int thread_col = lane % T::ACROSS * 4;
    for (int s = 0; s < T::STAGES - 1; ++s)
        start_narrow<T, WIDTH>(&narrow_tiles[s * T::FLOATS], &w, tile_row,
                               k_begin + s * T::BK, k_end);
    float acc[T::TM][T::TN];
#pragma unroll
    for (int m = 0; m < T::TM; ++m)
#pragma unroll
        for (int n = 0; n < T::TN; ++n)
            acc[m][n] = 0.0f;
    int now = 0, next = T::STAGES - 1;
    for (int k0 = k_begin; k0 < k_end; k0 += T::BK) {
        __pipeline_wait_prior(T::STAGES - 2);
        __syncthreads();
        start_narrow<T, WIDTH>(&narrow_tiles[next * T::FLOATS], &w, tile_row,
                               k0 + (T::STAGES - 1) * T::BK, k_end);
        const float *A_tile = &narrow_tiles[now * T::FLOATS + thread_row * T::A_ROW];
        const float *B_tile = &narrow_tiles[now * T::FLOATS + T::A_FLOATS + thread_col];
        // Four steps of k at a time: a row of A has them beside each other.
#pragma unroll
        for (int k = 0; k < T::BK; k += 4) {
            float a[T::TM][4];
#pragma unroll
            for (int m = 0; m < T::TM; ++m)
                *(float4 *)a[m] = *(const float4 *)&A_tile[m * T::DOWN * T::A_ROW + k];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                float b[T::TN];
                load_fragment<T::TN>(b, &B_tile[(k + i) * T::BN], 4 * T::ACROSS);
#pragma unroll
                for (int m = 0; m < T::TM; ++m)
#pragma unroll
                    for (int n = 0; n < T::TN; ++n)
                        acc[m][n] += a[m][i] * b[n];
            }
        }
        now = now + 1 < T::STAGES ? now + 1 : 0;
        next = next + 1 < T::STAGES ? next + 1 : 0;
    }
    __pipeline_wait_prior(0);
    launch_add_parts();
    float *C = w.C + (size_t)blockIdx.y * w.M * w.N;
#pragma unroll
    for (int m = 0; m < T::TM; ++m) {
#pragma unroll
        for (int n = 0; n < T::TN; n += 4) {
            const int row = tile_row + thread_row + m * T::DOWN;
            const int col = thread_col + n * T::ACROSS;
            if (row >= w.M || col >= w.N)
                continue;
            float *c = &C[(size_t)row * w.N + col];
            if (w.aligned)
                store4(c, &acc[m][n], w.alpha, w.beta);
            else
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    if (col + i < w.N)
                        store_sum(&c[i], acc[m][n + i], w.alpha, w.beta);
        }
    }
}

template <class T, int WIDTH>
static void launch_narrow_of(int blocks, const struct work *w)
{
    const int tiles = (w->M - 1) / T::BM + 1;
    const int share = part_of_k(w->K, blocks / tiles, T::BK);
    const int parts = (w->K - 1) / share + 1;
    struct work part = work_on_parts(w, parts, w->N);
    part.share = share;
    CUDA_CHECK(cudaFuncSetAttribute(narrow_kernel<T, WIDTH>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    T::SHARED_BYTES));
    narrow_kernel<T, WIDTH><<<dim3(tiles, parts), T::THREADS, T::SHARED_BYTES>>>(part);
    add_up_parts(w, parts, &part, 1);
}

// Whether a block may have so much shared memory: 32 columns take 66 KB, and an SM of
// Turing's gives a block 64.
template <class T> static bool has_room_for(void)
{
    static int most;
    if (!most)
        CUDA_CHECK(
            cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    return T::SHARED_BYTES <= most;
}

// C = alpha * A * B + beta * C for N <= T::BN, in about so many blocks.
template <class T> static void launch_narrow(int blocks, const struct work *w)
{
    if (w->K % 4 == 0 && (size_t)w->A % 16 == 0)
        launch_narrow_of<T, 4>(blocks, w);
    else
        launch_narrow_of<T, 1>(blocks, w);
}

#endif
