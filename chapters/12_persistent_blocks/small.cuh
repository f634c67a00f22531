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

// Where a thread's copies come from, for the next k-block to copy. a_k and b_k count steps
// that lie `apart`.
template <class T> struct small_source {
    const float *A[T::A_COPIES], *B;
    int a_k, b_k, b_col;
    size_t b_zeros; // that come instead of the last bytes: the row ends before them
};

// Starts the copies of step `step` of BK; the last step ends the k-block.
template <class T, int WIDTH, bool APART>
static __device__ __forceinline__ void
start_small(int step, small_source<T> *from, float *stage, int B_row, int apart, int end)
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
                                from->a_k < end ? 0 : sizeof(float));
        from->A[step] += T::BK * apart;
    }
    if (step < B_COPIES) {
        const int k = threadIdx.x / (T::BN / WIDTH) + step * B_STEP;
        const size_t bytes = WIDTH * sizeof(float), zeros = APART ? from->b_zeros : 0;
        __pipeline_memcpy_async(&stage[T::A_FLOATS + k * T::BN + from->b_col],
                                from->B + (size_t)(step * B_STEP * apart) * B_row, bytes,
                                from->b_k + step * B_STEP < end ? zeros : bytes);
    }
    if (step == T::BK - 1) {
        from->a_k += T::BK;
        from->b_k += T::BK;
        from->B += (size_t)(T::BK * apart) * B_row;
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

// How far row k of B begins behind a multiple of 16 bytes, if B itself begins at one.
static __device__ __forceinline__ int moved_by(int k, int N)
{
    return k % 4 * (N % 4) % 4;
}

// Block (x, y) multiplies tile x over part y of K: w.share steps, the last part perhaps
// fewer. Part y goes to the y-th matrix of M rows from C on.
//
// Where N is no multiple of four, rows of B begin anywhere within 16 bytes; but every second
// or fourth begins at the same place. So APART, a part takes only every w.apart-th step of
// K. It copies 16 bytes at a time, the first from the multiple of 16 before a row begins:
// all its columns, and so its sums, lie up to three places further to the right than in B
// and C, and add_parts() knows how many.
template <class T, int WIDTH, bool ALIGNED, bool APART>
__global__ void __launch_bounds__(T::THREADS, T::BLOCKS)
    small_kernel(const __grid_constant__ struct work w)
{
    extern __shared__ __align__(16) float small_tiles[];

    // 1. Find my results and my copies. Rows and columns past the end of the matrix are
    //    copied from the last ones: they are multiplied, and never stored.
    const int tile_row = blockIdx.x % w.tiles_down * T::BM;
    const int apart = APART ? w.apart : 1;
    const int first = blockIdx.y % apart; // my steps are every w.apart-th from here on
    const int begin = blockIdx.y / apart * w.share;
    const int end = min((w.K - first + apart - 1) / apart, begin + w.share);
    const int moved = APART ? moved_by(first, w.N) : 0;
    const int tile_col = blockIdx.x / w.tiles_down * T::BN;
    const int thread_row = row_of<T>(threadIdx.x), thread_col = col_of<T>(threadIdx.x);
    small_source<T> from;
    from.a_k = begin + threadIdx.x % T::BK;
    from.b_k = begin + threadIdx.x / (T::BN / WIDTH);
    from.b_col = threadIdx.x % (T::BN / WIDTH) * WIDTH;
#pragma unroll
    for (int i = 0; i < T::A_COPIES; ++i) {
        const int row = tile_row + threadIdx.x / T::BK + i * T::A_STEP;
        from.A[i] = &w.A[(size_t)min(row, w.M - 1) * w.K + first + from.a_k * apart];
    }
    const int last = (w.N - 1 + moved) / WIDTH * WIDTH - moved;
    const int from_col = min(tile_col + from.b_col - moved, last);
    from.B = &w.B[(size_t)(first + from.b_k * apart) * w.B_row] + from_col;
    from.b_zeros = max(0, from_col + WIDTH - w.N) * sizeof(float);

    // 2. Send the first k-blocks on their way, and wait for the oldest.
    for (int stage = 0; stage < T::STAGES - 1; ++stage)
#pragma unroll
        for (int step = 0; step < T::BK; ++step)
            start_small<T, WIDTH, APART>(step, &from, &small_tiles[stage * T::FLOATS],
                                         w.B_row, apart, end);
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
    for (int k0 = begin; k0 < end; k0 += T::BK) {
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
            start_small<T, WIDTH, APART>(k, &from, &small_tiles[next * T::FLOATS],
                                         w.B_row, apart, end);
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
    store_tile<T, ALIGNED>(&w, w.C + (size_t)blockIdx.y * w.M * w.C_row, tile_row,
                           tile_col, thread_row, thread_col, acc);
}

const int ADDERS = 8; // warps of a block that add up parts

// C = alpha * (the sum of `count` parts, M x N matrices) + beta * C, four floats a lane:
// WIDE, neighbours; else every 32nd, so that a warp's lie beside each other. Each warp of a
// block adds every eighth part, the first adds these sums. A part's rows are `pitch` floats
// apart, and moved if its steps of k are `apart`; of WIDE parts they are neither.
template <bool WIDE>
static __global__ void __launch_bounds__(32 * ADDERS)
    add_parts(int M, int N, int count, int pitch, int apart, const float *parts,
              float alpha, float beta, float *C)
{
    const int LOADS = WIDE ? 1 : 4; // of a lane, from each part
    __shared__ float4 of_warp[ADDERS][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const size_t size = (size_t)M * N;
    const size_t at = blockIdx.x * (size_t)128 + (WIDE ? 4 * lane : lane);
    size_t from[LOADS]; // in a part; past the end, the last ones again
#pragma unroll
    for (int n = 0; n < LOADS; ++n) {
        const size_t i = min(at + n * 32, size - 4 / LOADS);
        // In 32 bits if they are enough: that division has far fewer instructions.
        from[n] = WIDE                 ? i
                  : size > 0xffffffffu ? i / N * pitch + i % N
                                       : (unsigned)i / (unsigned)N * (size_t)pitch +
                                             (unsigned)i % (unsigned)N;
    }
    float sum[4] = {};
    wait_for_parts();
#pragma unroll 4
    for (int part = warp; part < count; part += ADDERS) {
        float v[4];
        const float *p = &parts[(size_t)part * M * pitch];
        if (WIDE) {
            *(float4 *)v = __ldcg((const float4 *)&p[from[0]]);
        } else {
            p += apart > 1 ? moved_by(part % apart, N) : 0;
#pragma unroll
            for (int n = 0; n < LOADS; ++n)
                v[n] = __ldcg(&p[from[n]]);
        }
#pragma unroll
        for (int n = 0; n < 4; ++n)
            sum[n] += v[n];
    }
    of_warp[warp][lane] = *(float4 *)sum;
    __syncthreads();
    if (warp > 0)
        return;
#pragma unroll
    for (int other = 1; other < ADDERS; ++other) {
        const float4 v = of_warp[other][lane];
        sum[0] += v.x, sum[1] += v.y, sum[2] += v.z, sum[3] += v.w;
    }
#pragma unroll
    for (int n = 0; n < LOADS; ++n)
        if (at + n * 32 < size) {
            if (WIDE)
                store4(&C[at], sum, alpha, beta);
            else
                store_sum(&C[at + n * 32], sum[n], alpha, beta);
        }
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
// part, else its sums, in memory that add_up_parts() reads, in rows of `pitch` floats.
static struct work work_on_parts(const struct work *w, int parts, int pitch)
{
    static struct scratch memory;
    struct work part = *w;
    if (parts > 1) {
        part.C = scratch(&memory, (size_t)parts * w->M * pitch * sizeof(float));
        part.C_row = pitch;
        part.alpha = 1.0f;
        part.beta = 0.0f;
    }
    return part;
}

static void add_up_parts(const struct work *w, int parts, const struct work *part,
                         int apart)
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
    config.gridDim = (unsigned)((size - 1) / 128 + 1);
    config.blockDim = 32 * ADDERS;
    config.attrs = &early;
    config.numAttrs = major >= 9;
    CUDA_CHECK(cudaLaunchKernelEx(
        &config, w->aligned ? add_parts<true> : add_parts<false>, w->M, w->N, parts,
        part->C_row, apart, (const float *)part->C, w->alpha, w->beta, w->C));
}

// The parts of K that a tile is divided into: as many as there is room for blocks.
static long long parts_of(int sms, int blocks, int BM, int BN, int M, int N)
{
    const long long tiles = ((M - 1) / BM + 1LL) * ((N - 1) / BN + 1LL);
    return (long long)sms * blocks / tiles;
}

// How a product is divided for small_kernel: in tiles, and K in parts of `share` steps.
struct small_plan {
    int tiles_down, tiles_across, share, parts;
};

// The rows of B from one to the next that begins at the same place in 16 bytes.
static int rows_alike(int N)
{
    return N % 4 == 0 ? 1 : N % 2 == 0 ? 2 : 4;
}

// `apart`: see small_kernel. Tiles are moved by as many columns as there can be.
static struct small_plan small_plan_of(int sms, int blocks, int BM, int BN, int BK, int M,
                                       int N, int K, int apart)
{
    const int moved = 4 - 4 / apart, steps = (K - 1) / apart + 1;
    struct small_plan p = {(M - 1) / BM + 1, (int)((N - 1LL + moved) / BN + 1)};
    const long long wanted = parts_of(sms, blocks, BM, BN, M, N);
    p.share = part_of_k(steps, wanted / apart, BK);
    p.parts = ((steps - 1) / p.share + 1) * apart;
    return p;
}

// The parts' rows begin at multiples of 16 bytes even where C's do not, and have room for
// what is moved.
template <class T, int WIDTH, bool APART>
static void launch_small_of(int sms, const struct work *w)
{
    const int apart = APART ? rows_alike(w->N) : 1;
    const struct small_plan p =
        small_plan_of(sms, T::BLOCKS, T::BM, T::BN, T::BK, w->M, w->N, w->K, apart);
    struct work part = work_on_parts(w, p.parts, (w->N + 4 - 4 / apart + 3) / 4 * 4);
    part.share = p.share;
    part.apart = apart;
    part.tiles_down = p.tiles_down;
    // APART, there are parts always; so there is no kernel for that and a C as it lies.
    void (*const kernel)(struct work) = APART || w->aligned || p.parts > 1
                                            ? small_kernel<T, WIDTH, true, APART>
                                            : small_kernel<T, WIDTH, APART, APART>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    T::SHARED_BYTES));
    kernel<<<dim3((unsigned)p.tiles_down * p.tiles_across, p.parts), T::THREADS,
             T::SHARED_BYTES>>>(part);
    add_up_parts(w, p.parts, &part, apart);
}

template <class T> static void launch_small(int sms, const struct work *w)
{
    if (wide_rows(w))
        launch_small_of<T, 4, false>(sms, w);
    else
        launch_small_of<T, 1, false>(sms, w);
}

// The same for rows of B that begin anywhere, if the first does at a multiple of 16 bytes:
// what lies before B must not be read.
template <class T> static void launch_apart(int sms, const struct work *w)
{
    if (rows_alike(w->N) > 1 && (size_t)w->B % 16 == 0)
        launch_small_of<T, 4, true>(sms, w);
    else
        launch_small_of<T, 1, false>(sms, w);
}

// One block, one tile: the time is that of the SM with the most of them. Adding up the parts
// takes longer if C's rows begin anywhere, and longer still if the parts' do. Of A, if steps
// lie `apart`, more is moved than is used: a fifth of that is seen.
static double small_time(const struct kind *kind, int sms, int M, int N, int K, int apart,
                         double speed)
{
    const struct small_plan p =
        small_plan_of(sms, kind->blocks, kind->BM, kind->BN, kind->BK, M, N, K, apart);
    const double tile = (double)kind->BM * kind->BN;
    const double on_an_sm = ceil((double)p.tiles_down * p.tiles_across * p.parts / sms);
    double time = at_scale(sms, kind->start) + on_an_sm * tile * p.share / speed +
                  moving((double)M * K + (double)K * N + (double)M * N) +
                  moving(0.2 * (apart - 1) * M * K * p.tiles_across);
    const double effort = apart > 1 ? 5.0 : rows_alike(N) > 1 ? 3.0 : 2.0;
    if (p.parts > 1)
        time += at_scale(sms, kind->dividing) + moving(effort * M * N * p.parts);
    return time;
}

static double one_tile_each(const struct kind *kind, int sms, int M, int N, int K,
                            bool wide)
{
    return small_time(kind, sms, M, N, K, 1, speed_at(kind, M, wide)) +
           preparing(kind, sms, M, N, K, wide);
}

// Not where rows of B all begin at the same place, wide or not.
static double apart_tile_each(const struct kind *kind, int sms, int M, int N, int K, bool)
{
    const int apart = rows_alike(N);
    return small_time(kind, sms, M, N, K, apart, apart > 1 ? kind->singly : 0.0);
}

#define SMALL(T, start, speed, singly, dividing)                                         \
    {launch_small<T>, one_tile_each, T::BM,  T::BN,    T::BK, T::BLOCKS,                 \
     start,           speed,         singly, dividing, false}

// Without `speed`: for rows of B that are not wide, and not for a copy of B.
#define APART(T, start, speed, dividing)                                                 \
    {launch_apart<T>, apart_tile_each, T::BM, T::BN, T::BK, T::BLOCKS, start, 0,         \
     speed,           dividing,        false}

#endif
