/* tf32's products with few tiles of 64 x 64, or few rows or columns. As in split_k.cuh the
 * blocks of a cluster, and clusters, divide K, and ordinary asynchronous copies serve. A
 * large A's rows may begin anywhere, and lie apart in tiles then; B, if it has few columns,
 * is copied first. Others whose rows begin anywhere are brought 4 bytes at a time.
 *
 * mma.sync multiplies: it does not ask for k along B's rows, and where bytes are what takes
 * the time it is fast enough. */
#ifndef TF32_SPLIT_K_CUH
#define TF32_SPLIT_K_CUH

#include "mma_sync.h"
#include "split_k.cuh"

const int TF32_DEEP = 32; // k of a step: 128 bytes of a row of A

template <int STAGES> struct tf32_split_k_shared {
    struct stage {
        float A[SIDE][TF32_DEEP], B[TF32_DEEP][SIDE];
    } stages[STAGES];
    struct cluster_sums sums;
};

// A float as the tensor core will take it, rounded as the copy engine does; compiled for
// anything older than Hopper it traps. PTX ISA, cvt.
static __device__ __forceinline__ uint32_t rounded_to_tf32(uint32_t bits)
{
    uint32_t rounded = 0;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(bits)));
#else
    __trap();
#endif
    return rounded;
}

// Where an element lies in a stage, in elements. Of A, as in a swizzle of 128 bytes, so that
// ldmatrix meets eight rows in all banks; of B, so that four rows of eight columns lie in
// all banks.
static __device__ __forceinline__ int place_in_A(int row, int k)
{
    return row * TF32_DEEP + (k / 4 ^ row % 8) * 4 + k % 4;
}

static __device__ __forceinline__ int place_in_B(int k, int col)
{
    return k * SIDE + (col ^ k % 4 * 8);
}

// How the matrices lie: by rows that begin at multiples of 16 bytes; by rows that begin
// anywhere; or A's rows begin anywhere, and those of a tile lie apart: see split_k.cuh.
enum tf32_lies { TF32_BY_ROWS, TF32_WORDS, TF32_APART };

// WIDE: columns of a tile that are copied and multiplied, 64 or 32.
template <int STAGES, enum tf32_lies LIES, int WIDE>
__global__ void __launch_bounds__(SPLIT_THREADS, STAGES <= FEW_STAGES ? 2 : 1)
    tf32_split_k_kernel(const __grid_constant__ struct split_k<float> w)
{
    typedef tf32_split_k_shared<STAGES> shared;
    static_assert(sizeof(shared) <= (STAGES <= FEW_STAGES ? 113 : 227) * 1024,
                  "shared memory holds two blocks of few stages, or one of many");
    extern __shared__ __align__(1024) unsigned char split_bytes[];
    shared *const memory = (shared *)split_bytes;
    const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    const bool MOVED = LIES == TF32_APART;
    const int apart = MOVED ? w.apart : 1;
    const int down = blockIdx.z, row = (down & -apart) * SIDE + (down & (apart - 1));
    const int col = blockIdx.x * SIDE;
    if (MOVED && row >= w.M)
        return; // with the whole cluster: there are not as many rows of each kind
    const int rows = MOVED ? divided_up(w.M - row, apart) : w.M - row; // from here on
    // k is negative until the rows begin, and B has no rows there.
    const float *A = w.A + (size_t)row * w.K;
    const int moved = MOVED ? ((int)(uintptr_t)A & (4 * apart - 1)) / 4 : 0;

    const int BYTES = LIES == TF32_WORDS ? 4 : 16, CELL = BYTES / 4; // of a copy
    const int A_ACROSS = TF32_DEEP / CELL, A_AT_A_TIME = SPLIT_THREADS / A_ACROSS;
    const int B_WIDE = BYTES == 16 ? WIDE : 32; // columns that are copied at a time
    const int B_ACROSS = B_WIDE / CELL, B_AT_A_TIME = SPLIT_THREADS / B_ACROSS;
    static_assert(A_AT_A_TIME % 4 == 0 && B_AT_A_TIME % 4 == 0,
                  "a thread's rows of B lie alike, and of A all or every other");
    static_assert(WIDE % B_WIDE == 0, "columns are copied in whole turns");
    const int all = divided_up(w.K + moved, TF32_DEEP);
    const int begin = min(all, (int)blockIdx.y * w.share);
    const int steps = min(w.share, all - begin);
    const int A_first = thread / A_ACROSS, A_cell = thread % A_ACROSS * CELL;
    const int B_first = thread / B_ACROSS, B_cell = thread % B_ACROSS * CELL;
    const long long k_first = (long long)begin * TF32_DEEP - moved;
    const size_t A_step = (size_t)apart * w.K, B_step = w.B_pitch / sizeof *w.B;
    A += (long long)(A_first * A_step) + k_first + A_cell;
    const float *B = w.B + ((k_first + B_first) * (long long)B_step + col + B_cell);
    const int A_rows = rows - A_first, B_columns = w.N - col - B_cell;
    int k_left = (int)(w.K - k_first);
    int fill = 0, next = 0; // stages
    const auto bring = [&](int step) {
        if (step < steps) {
            typename shared::stage *to = &memory->stages[fill];
            const uint32_t A_to = shared_address(to->A), B_to = shared_address(to->B);
            const int bytes = MOVED ? max(0, min(BYTES, 4 * (k_left - A_cell)))
                              : A_cell < k_left ? BYTES
                                                : 0;
#pragma unroll
            for (int i = 0; i < SIDE; i += A_AT_A_TIME)
                cp_async<BYTES>(A_to + 4 * place_in_A(A_first + i, A_cell),
                                A + i * A_step, i < A_rows ? bytes : 0);
#pragma unroll
            for (int i = 0; i < TF32_DEEP; i += B_AT_A_TIME)
#pragma unroll
                for (int j = 0; j < WIDE; j += B_WIDE) {
                    const int k = B_first + i;
                    const bool there =
                        j < B_columns && k < k_left && (!MOVED || k >= k_left - w.K);
                    cp_async<BYTES>(B_to + 4 * place_in_B(k, B_cell + j),
                                    B + i * B_step + j, there ? BYTES : 0);
                }
            A += TF32_DEEP;
            B += TF32_DEEP * B_step;
            k_left -= TF32_DEEP;
            fill = fill + 1 == STAGES ? 0 : fill + 1;
        }
        __pipeline_commit(); // perhaps of nothing, so that the count stays right
    };
    griddepcontrol_wait(); // for the copy of B
#pragma unroll 1
    for (int step = 0; step < STAGES - 1; ++step)
        bring(step);
    const struct adding adding = expect_sums(&w, &memory->sums, rows, w.N - col);

    float acc[EIGHTS][4];
#pragma unroll
    for (int i = 0; i < EIGHTS; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
            acc[i][j] = 0.0f;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        __pipeline_wait_prior(STAGES - 2);
        typename shared::stage *now = &memory->stages[next];
        // Before a row of A lies another's end: perhaps no number, and zero times that
        // would not be zero.
        if (MOVED && begin + step == 0 && A_cell < moved)
            for (int i = A_first; i < SIDE; i += A_AT_A_TIME)
                for (int k = A_cell; k < min(A_cell + CELL, moved); ++k)
                    now->A[0][place_in_A(i, k)] = 0.0f;
        // The stage is here for all threads, and the one before has been read.
        __syncthreads();
        bring(step + STAGES - 1);
        next = next + 1 == STAGES ? 0 : next + 1;
        if (warp >= adding.warps)
            continue;
        const uint32_t A_from = shared_address(now->A), B_from = shared_address(now->B);
#pragma unroll
        for (int k = 0; k < TF32_DEEP; k += 8) {
            // Of 16 bits each, but two and two are a float; a lane gets those of its k.
            uint32_t a[4];
            ldmatrix_x4(a, A_from +
                               4 * place_in_A(warp * 16 + lane % 16, k + lane / 16 * 4));
#pragma unroll
            for (int i = 0; i < 4; ++i)
                a[i] = rounded_to_tf32(a[i]);
#pragma unroll
            for (int n = 0; n < WIDE / 8; ++n) {
                uint32_t b[2];
#pragma unroll
                for (int i = 0; i < 2; ++i)
                    b[i] = rounded_to_tf32(ld_shared(
                        B_from + 4 * place_in_B(k + lane % 4 + i * 4, n * 8 + lane / 4)));
                mma_m16n8k8_tf32(acc[n], a, b);
            }
        }
    }
    bring_out(&w, &memory->sums, &adding, (float(&)[SIDE / 2]) acc,
              row + warp * 16 * apart, apart, col);
}

/* ---- the host's side ---- */

template <int STAGES, enum tf32_lies LIES, int WIDE>
static void tf32_launch_split_k_of(const struct split_k<float> *w, dim3 grid, bool copied)
{
    const int bytes = sizeof(tf32_split_k_shared<STAGES>);
    CUDA_CHECK(cudaFuncSetAttribute(tf32_split_k_kernel<STAGES, LIES, WIDE>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    cudaLaunchAttribute how[2] = {};
    how[0].id = cudaLaunchAttributeClusterDimension;
    how[0].val.clusterDim.x = how[0].val.clusterDim.z = 1;
    how[0].val.clusterDim.y = w->blocks;
    how[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    how[1].val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = SPLIT_THREADS;
    config.dynamicSmemBytes = bytes;
    config.attrs = how;
    config.numAttrs = copied ? 2 : 1;
    CUDA_CHECK(cudaLaunchKernelEx(&config, tf32_split_k_kernel<STAGES, LIES, WIDE>, *w));
}

struct tf32_split_k_plan {
    struct split_k<float> w;
    dim3 grid;
    enum tf32_lies lies;
    bool copy_B, many_stages; // one block on an SM
};

// Returns whether the product is one for this kernel, and how it is done. Measured on an
// H200, it is the fastest where several blocks divide K, and their parts are not too long;
// or, however long they are, for up to 32 columns, and for up to 64 rows or columns where
// rows begin anywhere. Up to eight are for chapter 13's kernels.
static bool tf32_plan_split_k(int M, int N, int K, const float *A, const float *B,
                              const float *C, struct tf32_split_k_plan *plan)
{
    const int LONG = 16; // steps that are worth a cluster more
    const int FAR = 800; // of K, for a block
    const int across = divided_up(N, SIDE), sms = number_of_blocks();
    const bool A_can = engine_can(A, K * sizeof *A), B_can = engine_can(B, N * sizeof *B);
    // A large A's rows may begin anywhere. Every fourth begins at the same place in 16
    // bytes, every 32nd in a cache line, which is faster if it takes no more tiles.
    const bool large = N <= SIDE && M >= 4 * SIDE;
    const bool apart = large && !A_can && (uintptr_t)A % 16 == 0;
    const bool lines =
        (uintptr_t)A % 128 == 0 && tiles_of_rows(M, 32) <= tiles_of_rows(M, 4);
    struct split_k<float> w = {
        M, N, K
    };
    w.apart = !apart ? 1 : lines ? 32 : 4;
    const int down = divided_up(divided_up(M, w.apart), SIDE) * w.apart;
    const int steps = divided_up(K + w.apart - 1, TF32_DEEP);
    const long long tiles = (long long)across * tiles_of_rows(M, w.apart);
    // Steps beyond K are counted in 32 bits.
    if (tile_columns || tiles > sms || M <= FEW_COLUMNS || N <= FEW_COLUMNS ||
        K > 1 << 30)
        return false;
    w.blocks = blocks_of_cluster((int)tiles, steps, sms);
    // What reads a large A waits for memory, and two blocks on an SM wait for more of it.
    while (large && w.blocks < 4 && steps / w.blocks >= 64 &&
           (w.blocks == 1 || 2 * w.blocks * tiles <= sms))
        w.blocks *= 2;
    w.clusters = 1;
    if (w.blocks == MOST_BLOCKS)
        w.clusters =
            max(1, min(sms / (MOST_BLOCKS * (int)tiles), steps / (MOST_BLOCKS * LONG)));
    w.share = divided_up(steps, w.blocks * w.clusters);
    w.pairs = N % 2 == 0 && (uintptr_t)C % 8 == 0;
    const bool fit = w.blocks * tiles <= (w.blocks <= 2 ? sms : sms_for_clusters(sms));
    plan->w = w;
    plan->grid = dim3(across, w.blocks * w.clusters, down);
    plan->copy_B = !B_can && large && (A_can || apart);
    plan->lies = apart                              ? TF32_APART
                 : A_can && (B_can || plan->copy_B) ? TF32_BY_ROWS
                                                    : TF32_WORDS;
    plan->many_stages = fit && w.clusters == 1 && w.share > FEW_STAGES;
    return w.blocks > 1 && (w.share * TF32_DEEP <= FAR || N <= SIDE / 2 ||
                            ((M <= SIDE || N <= SIDE) && !(A_can && B_can)));
}

template <int STAGES>
static void tf32_launch_split_k_with(const struct tf32_split_k_plan *plan,
                                     const struct split_k<float> *w, bool copied)
{
    const bool narrow = w->N <= SIDE / 2;
    void (*launch)(const struct split_k<float> *w, dim3 grid, bool copied) = NULL;
    switch (plan->lies) {
    case TF32_BY_ROWS:
        launch = narrow ? tf32_launch_split_k_of<STAGES, TF32_BY_ROWS, SIDE / 2>
                        : tf32_launch_split_k_of<STAGES, TF32_BY_ROWS, SIDE>;
        break;
    case TF32_WORDS: launch = tf32_launch_split_k_of<STAGES, TF32_WORDS, SIDE>; break;
    case TF32_APART:
        launch = narrow ? tf32_launch_split_k_of<STAGES, TF32_APART, SIDE / 2>
                        : tf32_launch_split_k_of<STAGES, TF32_APART, SIDE>;
        break;
    }
    launch(w, plan->grid, copied);
}

// Launches the product, if it is one for this kernel, and returns whether it is.
static bool tf32_launch_split_k(int M, int N, int K, float alpha, const float *A,
                                const float *B, float beta, float *C)
{
    struct tf32_split_k_plan plan;
    if (!tf32_plan_split_k(M, N, K, A, B, C, &plan))
        return false;
    struct split_k<float> *w = &plan.w;
    size_t A_pitch;
    bool copied = false;
    w->alpha = alpha, w->beta = beta;
    w->B_pitch = N * sizeof *B;
    if (plan.copy_B)
        copied = make_readable((const void **)&A, 0, K * sizeof *A, &A_pitch,
                               (const void **)&B, K, N * sizeof *B, &w->B_pitch);
    w->A = A, w->B = B, w->C = C;
    if (w->clusters > 1) {
        const size_t eights = (size_t)plan.grid.x * plan.grid.z * EIGHTS;
        w->parts = (float4 *)scratch(PARTS, eights * w->clusters * SPLIT_THREADS *
                                                sizeof *w->parts);
        w->arrived = (int *)scratch(ARRIVED, eights * (SPLIT_THREADS / 32) * sizeof(int));
    }
    if (plan.many_stages)
        tf32_launch_split_k_with<MANY_STAGES>(&plan, w, copied);
    else
        tf32_launch_split_k_with<FEW_STAGES>(&plan, w, copied);
    return true;
}

#endif
