/* Slices: small tiles with large results a thread. Where C has about as many small tiles
 * as the GPU has SMs, each block gets one whole tile, and nothing has to be dealt. But so
 * small a tile is too few results for 8 warps, if a thread is to have as many as it can
 * hold. So several warps have the same results, each for its own slice of a stage's steps
 * of k, and at the end their sums are added up in shared memory. */
#ifndef SLICES_CUH
#define SLICES_CUH

#include "12_persistent_blocks/small.cuh"
#include "prepare.cuh"
#include "stages.cuh"
#include "turning.cuh"

const int ROUND = 8; // steps of k without a branch, of a slice

// DOWN x ACROSS warps cover the tile. There are SLICES times as many, and each has ROUND
// steps of k, then the next; or, if TURNS, one stretch of a stage's steps (turning.cuh).
template <int TM_, int TN_, int DOWN, int ACROSS, int BK_, int STAGES_,
          bool TURNS_ = false>
struct sliced_tile {
    static const int BK = BK_, STAGES = STAGES_;
    static const bool TURNS = TURNS_;
    typedef on_diagonals LANES;
    static const int TM = TM_, TN = TN_, WARPS = 8, THREADS = 32 * WARPS;
    static const int WM = 4 * TM, WN = 8 * TN;
    static const int ROW_STEP = WM / (TM / 4), COL_STEP = WN / (TN / 4);
    static const int BM = WM * DOWN, BN = WN * ACROSS, SLICES = WARPS / (DOWN * ACROSS);
    static const int STEPS = BK / SLICES; // of a stage, for each slice
    static const int A_FLOATS = BK * BM, B_FLOATS = BK * BN, FLOATS = A_FLOATS + B_FLOATS;
    static const int SHARED_BYTES = STAGES * FLOATS * sizeof(float);
    static_assert(SLICES * DOWN * ACROSS == WARPS, "as many warps for each slice");
    static_assert(STAGES >= 2, "the next stage is ordered before this one is read");
    static_assert(BK % (ROUND * SLICES) == 0, "as many rounds for each slice");
    static_assert(BM <= 256 && BN <= 256, "the copy engine moves boxes of at most 256");
    static_assert(TM % 4 == 0 && TN % 4 == 0, "TM and TN: whole float4s");
    static_assert(!TURNS || ACROSS == 1, "a warp turns rows of A that no other reads");
    static_assert(!TURNS || WM % 8 == 0, "a warp's rows begin where the swizzle does");
    static_assert(!TURNS || STEPS == 16 || STEPS == 32, "a slice's steps lie in one box");
    static_assert(SLICES * BM * BN <= STAGES * FLOATS, "the sums lie where stages lay");
    static_assert(SHARED_BYTES <= (227 - 1) * 1024, "a block has at most 227 KB");
};

// The block's thread 0 orders k-block `number`, if there is one, into the stage that was
// read longest ago: see fill_stage().
template <class T>
static __device__ __forceinline__ void
fill_slices(struct stage *to, int number, int count, const CUtensorMap *A_map,
            const CUtensorMap *B_map, int tile_row, int tile_col, int k0, float *tiles,
            uint64_t *full, uint64_t *empty)
{
    if (threadIdx.x > 0 || number >= count)
        return;
    float *stage = &tiles[to->index * T::FLOATS];
    uint64_t *come = &full[to->index];
    mbarrier_wait_parity(&empty[to->index], to->parity ^ 1);
    mbarrier_arrive_expect_tx(come, T::FLOATS * sizeof(float));
    if (T::TURNS)
#pragma unroll
        for (int k = 0; k < T::BK; k += BOX)
            cp_async_bulk_tensor_2d(stage + k * T::BM, A_map, k0 + number * T::BK + k,
                                    tile_row, come);
    else
        cp_async_bulk_tensor_2d(stage, A_map, tile_row, k0 + number * T::BK, come);
    cp_async_bulk_tensor_2d(stage + T::A_FLOATS, B_map, tile_col, k0 + number * T::BK,
                            come);
    next_stage<T>(to);
}

// Block (x, y): tile x over part y of K, as in small_kernel.
template <class T, bool ALIGNED>
__global__ void __launch_bounds__(T::THREADS, 1)
    sliced_kernel(const __grid_constant__ CUtensorMap A_map,
                  const __grid_constant__ CUtensorMap B_map,
                  const __grid_constant__ struct work w)
{
    extern __shared__ __align__(1024) float bulk_tiles[];
    __shared__ uint64_t full[T::STAGES], empty[T::STAGES];
    if (threadIdx.x == 0) {
        for (int s = 0; s < T::STAGES; ++s) {
            mbarrier_init(&full[s], 1);
            mbarrier_init(&empty[s], T::WARPS);
        }
        fence_mbarrier_init();
    }
    __syncthreads();

    // 1. Find my tile, my slice, and my place in the tile.
    const int tile_row = blockIdx.x % w.tiles_down * T::BM;
    const int tile_col = blockIdx.x / w.tiles_down * T::BN;
    const int k_begin = blockIdx.y * w.share, k_end = min(w.K, k_begin + w.share);
    const int count = (k_end - k_begin + T::BK - 1) / T::BK;
    const int THREADS_OF_SLICE = T::THREADS / T::SLICES;
    const int lane = threadIdx.x % 32, slice = threadIdx.x / THREADS_OF_SLICE;
    int thread_row = row_of<T>(threadIdx.x % THREADS_OF_SLICE);
    int thread_col = col_of<T>(threadIdx.x % THREADS_OF_SLICE);
    asm("" : "+r"(thread_row), "+r"(thread_col)); // as in matmul_kernel
    const int warp_row = threadIdx.x % THREADS_OF_SLICE / 32 * T::WM; // if TURNS
    const struct turning turning = turning_of<T>(lane, slice);

    // 2. Order the first stages, as soon as prepare() has ended.
    griddepcontrol_wait();
    struct stage stage = {0, 0}, to = {0, 0};
    for (int i = 0; i < T::STAGES - 1; ++i)
        fill_slices<T>(&to, i, count, &A_map, &B_map, tile_row, tile_col, k_begin,
                       bulk_tiles, full, empty);

    float acc[T::TM][T::TN];
#pragma unroll
    for (int m = 0; m < T::TM; ++m)
#pragma unroll
        for (int n = 0; n < T::TN; ++n)
            acc[m][n] = 0.0f;

    // 3. Multiply my slice of each stage.
    for (int i = 0; i < count; ++i) {
        fill_slices<T>(&to, i + T::STAGES - 1, count, &A_map, &B_map, tile_row, tile_col,
                       k_begin, bulk_tiles, full, empty);
        mbarrier_wait_parity(&full[stage.index], stage.parity);
        const int depth = min(T::BK, k_end - k_begin - i * T::BK);
        // My steps of the stage begin at `first`, and rounds of them lie `jump` apart.
        const int first = slice * (T::TURNS ? T::STEPS : ROUND);
        const int jump = T::TURNS ? ROUND : T::SLICES * ROUND;
        const int end = T::TURNS ? min(depth, first + T::STEPS) : depth;
        float *A_stage = &bulk_tiles[stage.index * T::FLOATS];
        float *A_tile = &A_stage[T::TURNS ? first / BOX * BOX * T::BM + warp_row * BOX
                                          : first * T::BM + thread_row];
        const float *B_tile = &A_stage[T::A_FLOATS + first * T::BN + thread_col];
        if (T::TURNS)
            turn<T>(A_tile, &turning, lane);
#pragma unroll 1
        for (int k0 = first; k0 < end; k0 += jump) {
#pragma unroll
            for (int k = 0; k < ROUND; ++k) {
                float a_frag[T::TM], b_frag[T::TN];
                if (T::TURNS)
                    load_turned<T>(a_frag, A_tile, &turning, k0 - first, k);
                else
                    load_fragment<T::TM>(a_frag, A_tile + k * T::BM, T::ROW_STEP);
                load_fragment<T::TN>(b_frag, B_tile + k * T::BN, T::COL_STEP);
#pragma unroll
                for (int m = 0; m < T::TM; ++m)
#pragma unroll
                    for (int j = 0; j < T::TN; ++j) {
                        const int n = m % 2 ? j : T::TN - 1 - j;
                        acc[m][n] += a_frag[m] * b_frag[n];
                    }
            }
            if (!T::TURNS)
                A_tile += jump * T::BM;
            B_tile += jump * T::BN;
        }
        if (T::TURNS)
            fence_proxy_async(); // the copy engine writes next where I have written
        __syncwarp();
        if (lane == 0)
            mbarrier_arrive(&empty[stage.index]);
        next_stage<T>(&stage);
    }
    launch_add_parts();

    // 4. All stages have been read: the slices' sums lie there now, [slice][row][column].
    __syncthreads();
    //    Adding 0 changes no sum, but it keeps the compiler from storing straight out of
    //    acc's registers, in fours that begin at a multiple of four: in that order the
    //    high tile takes 5 % longer (tried/sums_in_fours.diff).
    float *mine = &bulk_tiles[(slice * T::BM + thread_row) * T::BN + thread_col];
#pragma unroll
    for (int m = 0; m < T::TM; ++m) {
        float *row = &mine[(m / 4 * T::ROW_STEP + m % 4) * T::BN];
#pragma unroll
        for (int n = 0; n < T::TN; n += 4)
            *(float4 *)&row[n / 4 * T::COL_STEP] =
                make_float4(acc[m][n] + 0.0f, acc[m][n + 1] + 0.0f, acc[m][n + 2] + 0.0f,
                            acc[m][n + 3] + 0.0f);
    }
    __syncthreads();

    // 5. Neighbouring threads add up and store neighbours.
    const int WIDTH = ALIGNED ? 4 : 1;
    float *C = w.C + (size_t)blockIdx.y * w.M * w.N;
#pragma unroll 4
    for (int at = threadIdx.x * WIDTH; at < T::BM * T::BN; at += T::THREADS * WIDTH) {
        const int row = tile_row + at / T::BN, col = tile_col + at % T::BN;
        float sum[4] = {};
#pragma unroll
        for (int s = 0; s < T::SLICES; ++s) {
            const float *part = &bulk_tiles[s * T::BM * T::BN + at];
            if (ALIGNED) {
                const float4 v = *(const float4 *)part;
                sum[0] += v.x;
                sum[1] += v.y;
                sum[2] += v.z;
                sum[3] += v.w;
            } else {
                sum[0] += *part;
            }
        }
        if (row < w.M && col < w.N) {
            if (ALIGNED)
                store4(&C[(size_t)row * w.N + col], sum, w.alpha, w.beta);
            else
                store_sum(&C[(size_t)row * w.N + col], sum[0], w.alpha, w.beta);
        }
    }
}

template <class T> static void launch_sliced(int sms, const struct work *work)
{
    const long long wanted = parts_of(sms, 1, T::BM, T::BN, work->M, work->N);
    const int share = part_of_k(work->K, wanted, T::BK);
    const int parts = (work->K - 1) / share + 1;
    struct work w = work_on_parts(work, parts, work->N);
    CUtensorMap A_map, B_map;
    if (T::TURNS) {
        A_map = tensor_map_2d_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, w.A, w.M, w.K, w.K,
                                 T::BM, BOX, CU_TENSOR_MAP_SWIZZLE_128B);
        B_map = tensor_map_2d(w.B, w.K, w.N, w.B_row, T::BK, T::BN);
    } else {
        const float *At, *B;
        prepare_matrices(w.M, w.N, w.K, w.A, w.B, &At, &B);
        A_map = tensor_map_2d(At, w.K, w.M, padded(w.M), T::BK, T::BM);
        B_map = tensor_map_2d(B, w.K, w.N, B == w.B ? w.N : padded(w.N), T::BK, T::BN);
    }
    w.share = share;
    w.tiles_down = (w.M - 1) / T::BM + 1;
    void (*const kernel)(CUtensorMap, CUtensorMap, struct work) =
        w.aligned ? sliced_kernel<T, true> : sliced_kernel<T, false>;
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    T::SHARED_BYTES));
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(w.tiles_down * ((w.N - 1u) / T::BN + 1), parts);
    config.blockDim = T::THREADS;
    config.dynamicSmemBytes = T::SHARED_BYTES;
    config.attrs = &early;
    config.numAttrs = 1;
    CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, A_map, B_map, w));
    add_up_parts(work, parts, &w, 1);
}

// As one_tile_each(), but an SM has room for one block only: the next begins when the last
// has ended, and waits for its first stage as that one did.
static double waves(const struct kind *kind, int sms, int M, int N, int K, bool wide)
{
    const double tiles = ((M - 1) / kind->BM + 1.0) * ((N - 1) / kind->BN + 1.0);
    return one_tile_each(kind, sms, M, N, K, wide) +
           (ceil(tiles / sms) - 1) * at_scale(sms, kind->start);
}

#define SLICED(T, start, speed, dividing)                                                \
    {launch_sliced<T>, waves, T::BM, T::BN, T::BK, 1, start, speed, speed, dividing, true}

// Where A is turned in shared memory, it comes while the block multiplies: its way takes
// no time of its own.
static double turning_waves(const struct kind *kind, int sms, int M, int N, int K,
                            bool wide)
{
    return waves(kind, sms, M, N, K, wide) -
           moving((double)M * K + (double)K * N + (double)M * N);
}

#define TURNING(T, start, speed, dividing)                                               \
    {launch_sliced<T>, turning_waves, T::BM, T::BN, T::BK, 1, start, speed, 0,           \
     dividing,         false}

#endif
