/* Products with few rows or columns (is_thin says how few). One matrix is large, and each of its numbers is
 * used a few times only: reading it is all the time they take. So it goes from memory
 * straight to the registers, in the order in which the tensor core's fragments want it;
 * only the small matrix passes through shared memory. The warps of a block, and blocks,
 * divide K; a second kernel adds up the blocks' parts, always in the same order.
 *
 * mma.sync serves, not wgmma: a fragment comes from registers there, both sides, and the
 * tensor core has little to do. What k means in an instruction is free, as long as A and B
 * agree: a lane takes 16 bytes as they lie in memory, and calls them what it likes. */
#ifndef THIN_CUH
#define THIN_CUH

#include "mma_sync.h"
#include "prepare.cuh"
#include "shares.cuh"

#include <cuda_bf16.h>
#include <cuda_pipeline.h>

const int THIN = 64; // rows or columns, of C and of a block
const int FEW_COLUMNS = 8;
const int DEEP = 256;    // steps of k: parts but the last are multiples of it
const int FEW_WARPS = 8; // of a block
const int FEW_THREADS = FEW_WARPS * 32;
const int CHUNK = 1024; // steps of k of the small matrix in shared memory

// A row of A's part, padded so that ldmatrix meets no conflict.
typedef __nv_bfloat16 few_rows_chunk[CHUNK + 8];
const int SUMS_BYTES = FEW_WARPS * 32 * 32 * sizeof(float); // see add_warps
static_assert(CHUNK * FEW_COLUMNS * sizeof(__nv_bfloat16) <= SUMS_BYTES,
              "B's part fits where the sums are added up");

struct thin {
    int M, N, K;
    int share; // steps of k in a block's part: a multiple of DEEP
    int parts, pitch;
    const __nv_bfloat16 *A, *B;
    float *sums;    // [parts][M][pitch]: what the blocks made
    bool A_aligned; // A's rows begin at multiples of 16 bytes
};

// Eight numbers of a row of a matrix on their way: the aligned words that hold them. They are
// shifted into place where they are used: that would wait for the load.
struct eight {
    uint4 low, high;
};

// The aligned 16 bytes at `at`, element by element: those outside of [begin, end) are zeros.
static __device__ __noinline__ uint4 word_at_the_edge(uintptr_t at, uintptr_t begin,
                                                      uintptr_t end)
{
    uint32_t words[4] = {0, 0, 0, 0};
    for (int i = 0; i < 8; ++i, at += 2)
        if (at >= begin && at < end)
            words[i / 2] |= (uint32_t)*(const uint16_t *)at << i % 2 * 16;
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// Loads some eights of `matrix`, which has `count` elements: number i from element
// where(i, &left) on, of which the first `left` are wanted. All loads go out before one
// is waited for, but those at a matrix' ends. ALIGNED: rows begin at multiples of 16 bytes.
template <bool ALIGNED, int COUNT, class Where>
static __device__ __forceinline__ void
load(struct eight (&to)[COUNT], const __nv_bfloat16 *matrix, size_t count, Where where)
{
    const uintptr_t begin = (uintptr_t)matrix, end = (uintptr_t)(matrix + count);
    bool edge = false;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        int left;
        const uintptr_t at = (uintptr_t)&matrix[where(i, &left)], start = at - at % 16;
        const bool inside = ALIGNED || (start >= begin && start + 32 <= end);
        to[i].low = to[i].high = make_uint4(0, 0, 0, 0);
        if (left > 0 && inside) {
            to[i].low = *(const uint4 *)start;
            if (!ALIGNED)
                to[i].high = *(const uint4 *)(start + 16);
        }
        edge |= left > 0 && !inside;
    }
#pragma unroll
    // Only the first and the last words of a matrix come here.
    for (int i = 0; i < COUNT && edge; ++i) {
        int left;
        const uintptr_t at = (uintptr_t)&matrix[where(i, &left)], start = at - at % 16;
        if (left > 0 && !(start >= begin && start + 32 <= end)) {
            to[i].low = word_at_the_edge(start, begin, end);
            to[i].high = word_at_the_edge(start + 16, begin, end);
        }
    }
}

// The eight that come from `at`; those from the `left`th on are zeros.
template <bool ALIGNED>
static __device__ __forceinline__ uint4 shifted(const struct eight *v,
                                                const __nv_bfloat16 *at, int left)
{
    if (ALIGNED)
        return v->low;
    const uint4 to = shift_bytes(v->low, v->high, (uintptr_t)at % 16);
    uint32_t words[4] = {to.x, to.y, to.z, to.w};
#pragma unroll
    for (int i = 0; i < 4; ++i)
        words[i] &= 2 * i + 1 < left ? 0xffffffffu : 2 * i < left ? 0xffffu : 0;
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// Adds up the warps' sums, 32 of each lane at a time. A thread gets four of a lane, number
// `first`, first + STRIDE, ..., and hands them to `take(first, four)`.
template <int COUNT, int STRIDE, class Take>
static __device__ __forceinline__ void add_warps(const float (&acc)[COUNT], void *room,
                                                 Take take)
{
    float(*of_warp)[32][32] = (float(*)[32][32])room;
    static_assert(COUNT <= 32 || COUNT % 32 == 0, "whole rounds of 32 sums");
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int mine = STRIDE == 1 ? warp * 4 : warp / 4 * 16 + warp % 4;
#pragma unroll
    for (int round = 0; round < COUNT; round += 32) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 32 && i < COUNT; ++i)
            of_warp[warp][i][lane] = acc[round + i];
        __syncthreads();
        if (mine < COUNT) {
            float four[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
            for (int w = 0; w < FEW_WARPS; ++w)
#pragma unroll
                for (int i = 0; i < 4; ++i)
                    four[i] += of_warp[w][mine + i * STRIDE][lane];
            take(round + mine, four);
        }
    }
}

/* ---- few rows ---- */

// Block (x, y, z): 16 * HIGH rows from row 64 z on, 64 columns from column 64 x on, part y
// of K. A warp takes 16 steps of k at a time: a lane loads eight neighbours from each of
// four rows of B. Tile j of the eight that it multiplies has the columns j, 8 + j, 16 + j ...
template <int HIGH, bool ALIGNED>
__global__ void __launch_bounds__(FEW_THREADS, HIGH < 2 ? 2 : 1)
    few_rows_kernel(const __grid_constant__ struct thin w)
{
    const int TURN = 16 * FEW_WARPS, AHEAD = ALIGNED ? 2 : 1;
    static_assert(DEEP % (TURN * AHEAD) == 0, "a chunk is whole turns through `next`");
    extern __shared__ __align__(16) unsigned char thin_bytes[];
    few_rows_chunk *const A = (few_rows_chunk *)thin_bytes;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int top = blockIdx.z * THIN, col = blockIdx.x * THIN + lane / 4 * 8;
    const int k_begin = blockIdx.y * w.share, k_end = min(w.K, k_begin + w.share);
    const size_t A_count = (size_t)w.M * w.K, B_count = (size_t)w.K * w.N;

    // My eight number i of the warp's 16 steps from k on, and how many of them are in B.
    const auto place = [&](int k, int i, int *left) {
        k += lane % 4 * 2 + i / 2 * 8 + i % 2;
        *left = k < k_end ? w.N - col : 0;
        return (size_t)k * w.N + col;
    };
    struct eight next[AHEAD][4];
    const auto load_next = [&](struct eight(&to)[4], int k) {
        load<ALIGNED>(to, w.B, B_count,
                      [&](int i, int *left) { return place(k, i, left); });
    };
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
        load_next(next[i], k_begin + i * TURN + warp * 16);
    float acc[HIGH * 32] = {};
    for (int chunk = k_begin; chunk < k_end; chunk += CHUNK) {
        const int steps = min(CHUNK, (k_end - chunk + DEEP - 1) / DEEP * DEEP);
        // 128 threads for a row of A's part; two rows at a time.
        const int k = threadIdx.x % (CHUNK / 8) * 8, first = threadIdx.x / (CHUNK / 8);
        const auto place_A = [&](int row, int *left) {
            *left = top + row < w.M ? k_end - chunk - k : 0;
            return (size_t)(top + row) * w.K + chunk + k;
        };
        __syncthreads();
        if (k < steps && w.A_aligned) {
            for (int row = first; row < 16 * HIGH; row += 2) {
                int left;
                const size_t at = place_A(row, &left);
                cp_async<16>(shared_address(&A[row][k]), left > 0 ? &w.A[at] : w.A,
                             left > 0 ? 16 : 0);
            }
        } else if (k < steps) {
            for (int row = first; row < 16 * HIGH; row += 8) {
                struct eight four[4];
                load<false>(four, w.A, A_count,
                            [&](int i, int *left) { return place_A(row + 2 * i, left); });
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    int left;
                    const size_t at = place_A(row + 2 * i, &left);
                    *(uint4 *)&A[row + 2 * i][k] =
                        shifted<false>(&four[i], &w.A[at], left);
                }
            }
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int turn = 0; turn < steps; turn += AHEAD * TURN) {
#pragma unroll
            for (int slot = 0; slot < AHEAD; ++slot) {
                uint32_t now[4][4], a[HIGH][4];
                const int at = turn + slot * TURN + warp * 16;
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    int left;
                    const size_t from = place(chunk + at, i, &left);
                    const uint4 v = shifted<ALIGNED>(&next[slot][i], &w.B[from], left);
                    now[i][0] = v.x, now[i][1] = v.y, now[i][2] = v.z, now[i][3] = v.w;
                }
                load_next(next[slot], chunk + at + AHEAD * TURN);
                __syncwarp();
#pragma unroll
                for (int m = 0; m < HIGH; ++m)
                    ldmatrix_x4(
                        a[m], shared_address(&A[m * 16 + lane % 16][at + lane / 16 * 8]));
#pragma unroll
                for (int j = 0; j < 8; ++j) {
                    const int half = j % 2 ? 0x7632 : 0x5410;
                    const uint32_t b[2] = {
                        __byte_perm(now[0][j / 2], now[1][j / 2], half),
                        __byte_perm(now[2][j / 2], now[3][j / 2], half)};
#pragma unroll
                    for (int m = 0; m < HIGH; ++m)
                        mma_m16n8k16_bf16(*(float(*)[4]) & acc[m * 32 + j * 4], a[m], b);
                }
            }
        }
    }
    add_warps<HIGH * 32, 4>(acc, thin_bytes, [&](int first, const float(&four)[4]) {
        const int row = top + first / 32 * 16 + lane / 4 + first % 4 / 2 * 8;
        const int to =
            blockIdx.x * THIN + (lane % 4 * 2 + first % 2) * 8 + first % 32 / 4;
        if (row < w.M)
            *(float4 *)&w.sums[((size_t)blockIdx.y * w.M + row) * w.pitch + to] =
                make_float4(four[0], four[1], four[2], four[3]);
    });
}

/* ---- few columns ---- */

// Block (x, y): 64 rows from 64 x on, the N <= 8 columns, part y of K. A warp takes 32 steps
// of k at a time: a lane loads eight neighbours from each of eight rows of A, the k of two
// instructions: 0, 1 and 2, 3 of the eight are the first's, the rest the second's.
template <bool ALIGNED>
__global__ void __launch_bounds__(FEW_THREADS, ALIGNED ? 2 : 1)
    few_columns_kernel(const __grid_constant__ struct thin w)
{
    const int TURN = 32 * FEW_WARPS;
    static_assert(CHUNK % TURN == 0 && TURN <= DEEP, "a chunk is whole turns");
    static_assert(CHUNK == 4 * FEW_THREADS, "a thread brings four rows of B's part");
    extern __shared__ __align__(16) unsigned char thin_bytes[];
    __nv_bfloat16(*const B)[FEW_COLUMNS] = (__nv_bfloat16(*)[FEW_COLUMNS])thin_bytes;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = blockIdx.x * THIN + lane / 4;
    const int k_begin = blockIdx.y * w.share, k_end = min(w.K, k_begin + w.share);
    const size_t A_count = (size_t)w.M * w.K, B_count = (size_t)w.K * w.N;

    const auto place = [&](int k, int i, int *left) {
        k += lane % 4 * 8;
        *left = row + i * 8 < w.M ? k_end - k : 0;
        return (size_t)(row + i * 8) * w.K + k;
    };
    struct eight next[8];
    const auto load_next = [&](int k) {
        load<ALIGNED>(next, w.A, A_count,
                      [&](int i, int *left) { return place(k, i, left); });
    };
    load_next(k_begin + warp * 32);
    float acc[16] = {};
    for (int chunk = k_begin; chunk < k_end; chunk += CHUNK) {
        const int steps = min(CHUNK, (k_end - chunk + DEEP - 1) / DEEP * DEEP);
        const auto place_B = [&](int k, int *left) {
            *left = k < steps && chunk + k < k_end ? w.N : 0;
            return (size_t)(chunk + k) * w.N;
        };
        const auto slot_of = [&](int k) { // in the order of the instructions
            return B[k / 32 * 32 + k % 8 / 2 * 8 + k % 32 / 8 * 2 + k % 2];
        };
        __syncthreads();
        struct eight four[4];
        load<false>(four, w.B, B_count, [&](int i, int *left) {
            return place_B(threadIdx.x + i * FEW_THREADS, left);
        });
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            int left;
            const int k = threadIdx.x + i * FEW_THREADS;
            const size_t at = place_B(k, &left);
            if (k < steps)
                *(uint4 *)slot_of(k) = shifted<false>(&four[i], &w.B[at], left);
        }
        __syncthreads();
        for (int at = warp * 32; at < steps; at += TURN) {
            uint4 now[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                int left;
                const size_t from = place(chunk + at, i, &left);
                now[i] = shifted<ALIGNED>(&next[i], &w.A[from], left);
            }
            load_next(chunk + at + TURN);
            uint32_t b[4];
            __syncwarp();
            ldmatrix_x4_trans(b, shared_address(B[at + lane]));
#pragma unroll
            for (int m = 0; m < 4; ++m) {
                const uint4 up = now[2 * m], down = now[2 * m + 1];
                const uint32_t a[2][4] = {{up.x, down.x, up.y, down.y},
                                          {up.z, down.z, up.w, down.w}};
                float(&sums)[4] = *(float(*)[4]) & acc[m * 4];
                mma_m16n8k16_bf16(sums, a[0], b);
                mma_m16n8k16_bf16(sums, a[1], b + 2);
            }
        }
    }
    add_warps<16, 1>(acc, thin_bytes, [&](int first, const float(&four)[4]) {
        const int to = lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int m = row + first / 4 * 16 + i * 8;
            if (m < w.M)
                *(float2 *)&w.sums[((size_t)blockIdx.y * w.M + m) * w.pitch + to] =
                    make_float2(four[2 * i], four[2 * i + 1]);
        }
    });
}

/* ---- the end ---- */

// `lanes` neighbours add up the parts of one result.
static __global__ void __launch_bounds__(FEW_THREADS)
    finish_thin_kernel(const __grid_constant__ struct thin w, int lanes, float alpha,
                       float beta, __nv_bfloat16 *C)
{
    const size_t i = (blockIdx.x * (size_t)FEW_THREADS + threadIdx.x) / lanes;
    const size_t size = (size_t)w.M * w.pitch, results = (size_t)w.M * w.N;
    float sum = 0.0f;
    if (i < results) {
        const float *from = &w.sums[i / w.N * w.pitch + i % w.N];
#pragma unroll 8
        for (int part = threadIdx.x % lanes; part < w.parts; part += lanes)
            sum += from[part * size];
    }
    for (int span = lanes / 2; span > 0; span /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, span);
    if (i < results && threadIdx.x % lanes == 0) {
        const float before = beta == 0.0f ? 0.0f : beta * __bfloat162float(C[i]);
        C[i] = __float2bfloat16_rn(alpha * sum + before);
    }
}

template <int HIGH, bool ALIGNED>
static void launch_rows_of(dim3 blocks, const struct thin *w)
{
    const int A_bytes = 16 * HIGH * sizeof(few_rows_chunk);
    const int bytes = A_bytes > SUMS_BYTES ? A_bytes : SUMS_BYTES;
    CUDA_CHECK(cudaFuncSetAttribute(few_rows_kernel<HIGH, ALIGNED>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    few_rows_kernel<HIGH, ALIGNED><<<blocks, FEW_THREADS, bytes>>>(*w);
}

template <bool ALIGNED> static void launch_rows(dim3 blocks, const struct thin *w)
{
    if (w->M <= 16)
        launch_rows_of<1, ALIGNED>(blocks, w);
    else if (w->M <= 32)
        launch_rows_of<2, ALIGNED>(blocks, w);
    else
        launch_rows_of<THIN / 16, ALIGNED>(blocks, w);
}

template <bool ALIGNED> static void launch_columns(dim3 blocks, const struct thin *w)
{
    few_columns_kernel<ALIGNED><<<blocks, FEW_THREADS, SUMS_BYTES>>>(*w);
}

// In how many parts `groups` blocks should do K, when `room` blocks run at a time. A block
// takes as long as START steps for its first loads and its end.
static int parts_of(int groups, int room, int K)
{
    const double START = 512;
    const int most = divided_up(K, DEEP);
    int best = 1;
    double least = 0.0;
    for (int parts = 1; parts <= most && parts <= room; ++parts) {
        const int rounds = (int)(((long long)groups * parts + room - 1) / room);
        const double time = rounds * ((double)K / parts + START);
        if (parts > 1 && time >= least)
            continue;
        least = time;
        best = parts;
    }
    return best;
}

// Is it read faster than tiles would do it? Without many steps of k it is the results that
// take the time, and tiles write them better. From 33 rows on they read as fast, if they
// have B as it is, and enough columns to divide.
static bool is_thin(int M, int N, int K, bool B_aligned)
{
    if (K < DEEP || K > 1 << 30) // steps beyond K are counted in 32 bits
        return false;
    const bool small = M <= 2 * THIN && N <= 2 * THIN && K >= 16 * DEEP;
    return N <= FEW_COLUMNS || M <= THIN / 2 || (M <= THIN && !B_aligned) || small;
}

// Returns whether the product is thin, and has been launched.
static bool launch_thin(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                        const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    const bool A_aligned = engine_can(A, K * sizeof *A);
    const bool B_aligned = engine_can(B, N * sizeof *B);
    if ((tile_columns && tile_columns != FEW_COLUMNS) || !is_thin(M, N, K, B_aligned))
        return false;
    const bool columns = N <= FEW_COLUMNS && N <= M;
    const int across = divided_up(columns ? M : N, THIN);
    const int high = columns ? 1 : divided_up(M, THIN);
    const bool one_block = columns ? !A_aligned : M > 16; // to an SM
    const int room = (tile_columns ? 1 : number_of_blocks()) * (one_block ? 1 : 2);
    const int share = divided_up(divided_up(K, parts_of(across * high, room, K)), DEEP);
    struct thin w = {M, N, K, share * DEEP, divided_up(K, share * DEEP)};
    w.pitch = columns ? FEW_COLUMNS : across * THIN;
    w.A = A;
    w.B = B;
    w.sums = (float *)scratch(PARTS, (size_t)w.parts * M * w.pitch * sizeof(float));
    w.A_aligned = A_aligned;
    const dim3 blocks(across, w.parts, high);
    if (columns)
        (A_aligned ? launch_columns<true> : launch_columns<false>)(blocks, &w);
    else
        (B_aligned ? launch_rows<true> : launch_rows<false>)(blocks, &w);
    int lanes = 1; // about eight parts for each
    while (lanes < 32 && lanes * 8 < w.parts)
        lanes *= 2;
    const size_t threads = (size_t)M * N * lanes;
    finish_thin_kernel<<<(int)((threads - 1) / FEW_THREADS + 1), FEW_THREADS>>>(
        w, lanes, alpha, beta, C);
    return true;
}

#endif
