/* Chapter 10's pipeline without the rest, for products that are done before blocks that
 * stay have found their work. Every block multiplies one tile. Where that is too few
 * blocks for all SMs, several divide a tile's K (split-K): each leaves its sums in a C of
 * its own, and a second kernel adds these up. A C of their own, and not atomicAdd,
 * because float addition depends on the order: the same product must give the same bits
 * every time.
 */
#ifndef SMALL_CUH
#define SMALL_CUH

#include "tiles.cuh"

// Where a thread's copies come from, for the next k-block to copy.
template <class T> struct small_source {
    const float *A[T::A_COPIES], *B;
    int a_k, b_k, b_col;
};

// Starts the copies of step `step` of BK; the last step ends the k-block.
template <class T, int WIDTH>
static __device__ __forceinline__ void start_small(int step, small_source<T> *from,
                                                   float *stage, int B_row, int k_end)
{
    const int B_COPIES = T::BK * T::BN / (WIDTH * T::THREADS);
    const int B_STEP = T::BK / B_COPIES;
    static_assert(B_COPIES * WIDTH * T::THREADS == T::BK * T::BN, "B's tile is covered");
    static_assert(B_STEP * (T::BN / WIDTH) == T::THREADS, "all threads copy each time");
    static_assert(T::A_COPIES <= T::BK && B_COPIES <= T::BK, "one copy a step");
    if (step < T::A_COPIES) {
        const int row = threadIdx.x / T::BK + step * T::A_STEP;
        __pipeline_memcpy_async(&stage[threadIdx.x % T::BK * T::A_ROW + row],
                                from->A[step], sizeof(float),
                                from->a_k < k_end ? 0 : sizeof(float));
        from->A[step] += T::BK;
    }
    if (step < B_COPIES) {
        const int k = threadIdx.x / (T::BN / WIDTH) + step * B_STEP;
        const size_t bytes = WIDTH * sizeof(float);
        __pipeline_memcpy_async(&stage[T::A_FLOATS + k * T::BN + from->b_col],
                                from->B + (size_t)step * B_STEP * B_row, bytes,
                                from->b_k + step * B_STEP < k_end ? 0 : bytes);
    }
    if (step == T::BK - 1) {
        from->a_k += T::BK;
        from->b_k += T::BK;
        from->B += (size_t)T::BK * B_row;
        __pipeline_commit();
    }
}

// On a Hopper GPU the kernel that adds up the parts begins before this one has ended
// (programmatic dependent launch): as soon as all blocks have called this, it is launched,
// and wait_for_parts() keeps it from reading what is not there yet. That saves the
// microsecond that a launch takes. On older GPUs it begins as any other.
static __device__ __forceinline__ void launch_add_parts(void)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

static __device__ __forceinline__ void wait_for_parts(void)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

// Block (x, y) multiplies tile x over part y of K: w.share steps, the last part perhaps
// fewer. Part y goes to the y-th M x N matrix from C on.
template <class T, int WIDTH, bool ALIGNED>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS)
    small_kernel(const __grid_constant__ struct work w)
{
    extern __shared__ __align__(16) float small_tiles[];

    // 1. Find my results and my copies. Rows and columns past the end of the matrix are
    //    copied from the last ones: they are multiplied, and never stored.
    const int tile_row = blockIdx.x % w.tiles_down * T::BM;
    const int tile_col = blockIdx.x / w.tiles_down * T::BN;
    const int k_begin = blockIdx.y * w.share, k_end = min(w.K, k_begin + w.share);
    const int thread_row = row_of<T>(threadIdx.x), thread_col = col_of<T>(threadIdx.x);
    small_source<T> from;
    from.a_k = k_begin + threadIdx.x % T::BK;
    from.b_k = k_begin + threadIdx.x / (T::BN / WIDTH);
    from.b_col = threadIdx.x % (T::BN / WIDTH) * WIDTH;
#pragma unroll
    for (int i = 0; i < T::A_COPIES; ++i) {
        const int row = tile_row + threadIdx.x / T::BK + i * T::A_STEP;
        from.A[i] = &w.A[(size_t)min(row, w.M - 1) * w.K + from.a_k];
    }
    const int from_col = min(tile_col + from.b_col, (w.N - 1) / WIDTH * WIDTH);
    from.B = &w.B[(size_t)from.b_k * w.B_row + from_col];

    // 2. Send the first k-blocks on their way, and wait for the oldest.
    for (int stage = 0; stage < T::STAGES - 1; ++stage)
#pragma unroll
        for (int step = 0; step < T::BK; ++step)
            start_small<T, WIDTH>(step, &from, &small_tiles[stage * T::FLOATS], w.B_row,
                                  k_end);
    __pipeline_wait_prior(T::STAGES - 2);
    __syncthreads();

    // 3. Multiply the k-block in use, step by step, reading one step ahead and starting a
    //    few copies in each.
    float acc[T::TM][T::TN];
#pragma unroll
    for (int m = 0; m < T::TM; ++m)
#pragma unroll
        for (int n = 0; n < T::TN; ++n)
            acc[m][n] = 0.0f;
    float a_frag[2][T::TM], b_frag[2][T::TN];
    load_fragment<T::TM>(a_frag[0], &small_tiles[thread_row], T::ROW_STEP);
    load_fragment<T::TN>(b_frag[0], &small_tiles[T::A_FLOATS + thread_col], T::COL_STEP);
    int now = 0, next = T::STAGES - 1;
    for (int k0 = k_begin; k0 < k_end; k0 += T::BK) {
#pragma unroll
        for (int k = 0; k < T::BK; ++k) {
            if (k == T::BK - 1) {
                __pipeline_wait_prior(T::STAGES - 3);
                __syncthreads();
                now = now + 1 < T::STAGES ? now + 1 : 0;
            }
            const float *stage = &small_tiles[now * T::FLOATS];
            const int ahead = (k + 1) % T::BK;
            load_fragment<T::TM>(a_frag[(k + 1) % 2],
                                 &stage[ahead * T::A_ROW + thread_row], T::ROW_STEP);
            load_fragment<T::TN>(b_frag[(k + 1) % 2],
                                 &stage[T::A_FLOATS + ahead * T::BN + thread_col],
                                 T::COL_STEP);
            start_small<T, WIDTH>(k, &from, &small_tiles[next * T::FLOATS], w.B_row,
                                  k_end);
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
    launch_add_parts();

    // 4. Store.
    store_tile<T, ALIGNED>(&w, w.C + (size_t)blockIdx.y * w.M * w.N, tile_row, tile_col,
                           thread_row, thread_col, acc);
}

const int ADDERS = 8; // warps of a block that add up parts

// C = alpha * (the sum of `count` parts of `size` floats) + beta * C, WIDTH floats a
// lane. Each warp of a block adds every eighth part, the first adds these sums.
template <int WIDTH>
static __global__ void __launch_bounds__(32 * ADDERS)
    add_parts(size_t size, int count, const float *parts, float alpha, float beta,
              float *C)
{
    __shared__ float of_warp[ADDERS][32][WIDTH];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t i = ((size_t)blockIdx.x * 32 + lane) * WIDTH;
    float sum[WIDTH] = {};
    wait_for_parts();
    if (i < size) {
#pragma unroll 4
        for (int part = warp; part < count; part += ADDERS) {
            float v[WIDTH];
            const float *p = &parts[part * size + i];
            if (WIDTH == 4)
                *(float4 *)v = __ldcg((const float4 *)p);
            else
                v[0] = __ldcg(p);
#pragma unroll
            for (int n = 0; n < WIDTH; ++n)
                sum[n] += v[n];
        }
    }
#pragma unroll
    for (int n = 0; n < WIDTH; ++n)
        of_warp[warp][lane][n] = sum[n];
    __syncthreads();
    if (warp > 0 || i >= size)
        return;
#pragma unroll
    for (int other = 1; other < ADDERS; ++other)
#pragma unroll
        for (int n = 0; n < WIDTH; ++n)
            sum[n] += of_warp[other][lane][n];
    if (WIDTH == 4)
        store4(&C[i], sum, alpha, beta);
    else
        store_sum(&C[i], sum[0], alpha, beta);
}

/* ---- the host's side ---- */

// K in at most `parts` parts of at least 32 steps, all but the last multiples of `unit`:
// less would cost more to add up than to compute. And a short K in one: the second kernel
// takes as long as 60 steps or more. Returns the steps of a part.
static int part_of_k(int K, long long parts, int unit)
{
    const int most = K <= 64 ? 1 : (K - 1) / 32 + 1;
    const int count = parts < 1 ? 1 : parts < most ? (int)parts : most;
    return ((K - 1) / count / unit + 1) * unit;
}

// What a block of a kernel with `parts` parts of K stores: w as it is if there is one
// part, else its sums, in memory that add_up_parts() reads.
static struct work work_on_parts(const struct work *w, int parts)
{
    static struct scratch memory;
    struct work part = *w;
    if (parts > 1) {
        part.C = scratch(&memory, (size_t)parts * w->M * w->N * sizeof(float));
        part.alpha = 1.0f;
        part.beta = 0.0f;
    }
    return part;
}

static void add_up_parts(const struct work *w, int parts, const float *sums)
{
    const size_t size = (size_t)w->M * w->N;
    if (parts == 1)
        return;
    static int major; // of the GPU's compute capability
    if (!major)
        CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = (unsigned)((size / (w->aligned ? 4 : 1) - 1) / 32 + 1);
    config.blockDim = 32 * ADDERS;
    config.attrs = &early;
    config.numAttrs = major >= 9;
    CUDA_CHECK(cudaLaunchKernelEx(&config, w->aligned ? add_parts<4> : add_parts<1>, size,
                                  parts, sums, w->alpha, w->beta, w->C));
}

// The parts of K that a tile is divided into: as many as there is room for blocks.
static long long parts_of(int sms, int blocks, int BM, int BN, int M, int N)
{
    const long long tiles = ((M - 1) / BM + 1LL) * ((N - 1) / BN + 1LL);
    return (long long)sms * blocks / tiles;
}

template <class T, int WIDTH, bool ALIGNED>
static void launch_small_of(int sms, const struct work *w)
{
    void (*const kernel)(struct work) = small_kernel<T, WIDTH, ALIGNED>;
    const long long wanted = parts_of(sms, T::BLOCKS, T::BM, T::BN, w->M, w->N);
    const int share = part_of_k(w->K, wanted, T::BK), parts = (w->K - 1) / share + 1;
    struct work part = work_on_parts(w, parts);
    part.share = share;
    part.tiles_down = (w->M - 1) / T::BM + 1;
    const unsigned tiles = part.tiles_down * ((w->N - 1u) / T::BN + 1);
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    T::SHARED_BYTES));
    kernel<<<dim3(tiles, parts), T::THREADS, T::SHARED_BYTES>>>(part);
    add_up_parts(w, parts, part.C);
}

template <class T> static void launch_small(int sms, const struct work *w)
{
    if (!wide_rows(w))
        launch_small_of<T, 1, false>(sms, w);
    else if (w->aligned)
        launch_small_of<T, 4, true>(sms, w);
    else
        launch_small_of<T, 4, false>(sms, w);
}

// One block, one tile: the time is that of the SM with the most of them.
static double one_tile_each(const struct kind *kind, int sms, int M, int N, int K,
                            bool wide)
{
    const double tile = (double)kind->BM * kind->BN;
    const double tiles = ((M - 1) / kind->BM + 1.0) * ((N - 1) / kind->BN + 1.0);
    const long long wanted = parts_of(sms, kind->blocks, kind->BM, kind->BN, M, N);
    const int share = part_of_k(K, wanted, kind->BK), parts = (K - 1) / share + 1;
    const double on_an_sm = ceil(tiles * parts / sms);
    double time = at_scale(sms, kind->start) +
                  on_an_sm * tile * share / speed_at(kind, M, wide) +
                  moving((double)M * K + (double)K * N + (double)M * N) +
                  preparing(kind, sms, M, N, K, wide);
    if (parts > 1)
        time += at_scale(sms, kind->dividing) + moving(2.0 * M * N * parts);
    return time;
}

#define SMALL(T, start, speed, singly, dividing)                                         \
    {launch_small<T>, one_tile_each, T::BM,  T::BN,    T::BK, T::BLOCKS,                 \
     start,           speed,         singly, dividing, false}

#endif
