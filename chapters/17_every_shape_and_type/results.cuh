/* What becomes of a warp's sums: alpha and beta, bf16, and the way to C. */
#ifndef RESULTS_CUH
#define RESULTS_CUH

#include "hopper.h"

#include <cuda_bf16.h>

const int SLAB = 64; // columns that lie together on the way out: 128 bytes

struct results {
    int M, N;
    float alpha, beta;
    __nv_bfloat16 *C;
    bool through_engine; // C may be written by the copy engine
};

static __device__ __forceinline__ float as_float(__nv_bfloat16 c)
{
    return __bfloat162float(c);
}

static __device__ __forceinline__ float as_float(float c)
{
    return c;
}

static __device__ __forceinline__ void store_one(__nv_bfloat16 *to, float one)
{
    *to = __float2bfloat16_rn(one);
}

static __device__ __forceinline__ void store_one(float *to, float one)
{
    *to = one;
}

// alpha and beta, in fp32, before anything is rounded, for number i of a lane's sums of the
// 16 rows and the columns that begin with `row` and `col`. beta == 0 must not read C. PLAIN:
// beta is 0.
template <bool PLAIN>
static __device__ __forceinline__ float finished(const struct results *to, float sum,
                                                 int i, int row, int col)
{
    const int lane = threadIdx.x % 32;
    const int r = row + lane / 4 + i / 2 % 2 * 8;
    const int c = col + lane % 4 * 2 + i / 4 * 8 + i % 2;
    sum *= to->alpha;
    if (!PLAIN && to->beta != 0.0f && r < to->M && c < to->N)
        sum += to->beta * __bfloat162float(to->C[(size_t)r * to->N + c]);
    return sum;
}

static __device__ __forceinline__ uint32_t two_bf16(float low, float high)
{
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}

// 16 rows of 64 results from shared memory to a C that the copy engine refuses. All reads
// of a batch go out before the first result is stored.
static __device__ __forceinline__ void
store_rows(const struct results *to, const __nv_bfloat16 (*from)[SLAB], int row, int col)
{
    const int BATCH = 8, lane = threadIdx.x % 32;
    __nv_bfloat16 *C = &to->C[(size_t)row * to->N + col];
#pragma unroll
    for (int first = 0; first < 16 * SLAB / 32; first += BATCH) {
        __nv_bfloat16 some[BATCH];
#pragma unroll
        for (int i = 0; i < BATCH; ++i) {
            const int at = (first + i) * 32 + lane, r = at / SLAB, c = at % SLAB;
            some[i] = from[r][(c / 8 ^ r % 8) * 8 + c % 8];
        }
#pragma unroll
        for (int i = 0; i < BATCH; ++i) {
            const int at = (first + i) * 32 + lane, r = at / SLAB, c = at % SLAB;
            if (row + r < to->M && col + c < to->N)
                C[(size_t)r * to->N + c] = some[i];
        }
    }
}

// As in chapter 16: through shared memory, 64 columns at a time, by so many WAYS in turns.
// C is not read again here, so it is to leave the L2 before A and B. PLAIN: beta is 0, and
// C is written by the engine or BY_HAND. Otherwise C is read by 16 columns: the more at
// once, the more registers.
template <bool PLAIN, bool BY_HAND, int WAYS, int COUNT>
static __device__ __forceinline__ void
store_slabs(const struct results *to, const CUtensorMap *C_map, const float (&acc)[COUNT],
            __nv_bfloat16 (&out)[WAYS][16][SLAB], int row, int col)
{
    const int SLABS = 2 * COUNT / SLAB, lane = threadIdx.x % 32;
    static_assert(SLABS % WAYS == 0, "the next tile takes the ways in the same order");
#pragma unroll
    for (int slab = 0; slab < SLABS; ++slab, col += SLAB) {
        __nv_bfloat16(*part)[SLAB] = out[slab % WAYS];
        const bool through_engine = PLAIN ? !BY_HAND : to->through_engine;
        // What left from here before has been read.
        if (through_engine && lane == 0)
            cp_async_bulk_wait_group_read<WAYS - 1>();
        __syncwarp();
#pragma unroll
        for (int n = 0; n < SLAB; n += 16) {
            uint32_t matrices[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int at = n / 2 + i * 2;
                const float *two = &acc[slab * SLAB / 2 + at];
                matrices[i] = two_bf16(finished<PLAIN>(to, two[0], at, row, col),
                                       finished<PLAIN>(to, two[1], at + 1, row, col));
            }
            const int cell = n / 8 + lane / 16;
            stmatrix_x4(&part[lane % 16][(cell ^ lane % 8) * 8], matrices);
        }
        fence_proxy_async();
        __syncwarp();
        if (!through_engine) {
            store_rows(to, part, row, col);
        } else if (lane == 0) {
            cp_async_bulk_tensor_2d_store_evict_first(C_map, col, row, part);
            cp_async_bulk_commit_group();
        }
    }
}

// Three functions that share no code: what runs lies together then, and comes from memory
// together.
template <int WAYS, int COUNT>
static __device__ __forceinline__ void
store(const struct results *to, const CUtensorMap *C_map, const float (&acc)[COUNT],
      __nv_bfloat16 (&out)[WAYS][16][SLAB], int row, int col)
{
    if (__builtin_expect(to->through_engine && to->beta == 0.0f, 1))
        store_slabs<true, false>(to, C_map, acc, out, row, col);
    else if (to->beta == 0.0f)
        store_slabs<true, true>(to, C_map, acc, out, row, col);
    else
        store_slabs<false, false>(to, C_map, acc, out, row, col);
}

// The same for results that are TURNED, of 64 columns from `col` on, ROWS at a time. The four
// warps of a team have 16 columns each and bring a piece out together; stmatrix turns it
// back. Only where the engine can write C, and beta is 0: so there is little code, and what
// runs once comes soon from memory.
template <int WAYS, int ROWS, int COUNT>
static __device__ __forceinline__ void
store_turned(const struct results *to, const CUtensorMap *C_map,
             const float (&acc)[COUNT], __nv_bfloat16 (&out)[WAYS][ROWS][SLAB], int row,
             int col)
{
    const int PIECES = 2 * COUNT / ROWS, thread = threadIdx.x % 128, lane = thread % 32;
    const int team = threadIdx.x / 128; // 1 or 2; the barriers 1 and 2 are their turns
    static_assert(PIECES % WAYS == 0, "the next tile takes the ways in the same order");
#pragma unroll
    for (int piece = 0; piece < PIECES; ++piece, row += ROWS) {
        __nv_bfloat16(*part)[SLAB] = out[piece % WAYS];
        if (thread == 0)
            cp_async_bulk_wait_group_read<WAYS - 1>();
        bar_sync(2 + team, 128);
#pragma unroll
        for (int n = 0; n < ROWS; n += 16) {
            uint32_t matrices[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float *two = &acc[(piece * ROWS + n) / 2 + i * 2];
                matrices[i] = two_bf16(to->alpha * two[0], to->alpha * two[1]);
            }
            const int r = n + lane / 16 * 8 + lane % 8;
            const int cell = thread / 32 * 2 + lane / 8 % 2;
            stmatrix_x4_trans(&part[r][(cell ^ lane % 8) * 8], matrices);
        }
        fence_proxy_async();
        bar_sync(2 + team, 128);
        if (thread == 0) {
            cp_async_bulk_tensor_2d_store_evict_first(C_map, col, row, part);
            cp_async_bulk_commit_group();
        }
    }
}

#endif
