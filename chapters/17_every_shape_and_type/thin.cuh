/* Products with few rows or columns (is_thin says how few). One matrix is large, and
 * each of its numbers is used a few times only: reading it is all the time they take. So
 * it goes from memory straight to the registers, in the order in which the tensor core's
 * fragments want it; only the small matrix passes through shared memory. The warps of a
 * block, and blocks, divide K; a second kernel adds up the blocks' parts, always in the
 * same order.
 *
 * mma.sync serves, not wgmma: a fragment comes from registers there, both sides, and the
 * tensor core has little to do. What k means in an instruction is free, as long as A and
 * B agree: a lane takes 16 bytes as they lie in memory, and calls them what it likes. */
#ifndef THIN_CUH
#define THIN_CUH

#include "mma_sync.h"
#include "prepare.cuh"
#include "shares.cuh"

#include <cuda_bf16.h>

const int THIN = 64;     // rows or columns, of C and of a block
const int DEEP = 256;    // steps of k: parts but the last are multiples of it
const int FEW_WARPS = 8; // of a block
const int FEW_THREADS = FEW_WARPS * 32;
const int CHUNK = 1024; // steps of k of the small matrix in shared memory

// A row of A's part, padded so that ldmatrix meets no conflict.
typedef __nv_bfloat16 few_rows_chunk[CHUNK + 8];
const int SUMS_BYTES = FEW_WARPS * 16 * (THIN + 8) * sizeof(float); // few rows' sums

struct thin {
    int M, N, K;
    int share; // steps of k in a block's part: a multiple of DEEP
    int parts, pitch;
    const __nv_bfloat16 *A, *B;
    float *sums; // [parts][M][pitch]: what the blocks made
};

// By how many elements `at` lies behind a multiple of 16 bytes.
static __device__ __forceinline__ int behind(const __nv_bfloat16 *at)
{
    return (uintptr_t)at % 16 / 2;
}

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

// Loads aligned words, of 16 bytes, from a matrix of `count` elements: number i from
// where(i), or zeros if that is 0. All loads go out before one is waited for, but those at
// a matrix' ends, where a word is part of it and part not. INSIDE: there are no such words.
template <bool INSIDE, int COUNT, class Where>
static __device__ __forceinline__ void
load(uint4 (&to)[COUNT], const __nv_bfloat16 *matrix, size_t count, Where where)
{
    const uintptr_t begin = (uintptr_t)matrix, end = (uintptr_t)(matrix + count);
    bool edge = false;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const uintptr_t at = where(i);
        const bool inside = INSIDE || (at >= begin && at + 16 <= end);
        to[i] = make_uint4(0, 0, 0, 0);
        if (at && inside)
            to[i] = *(const uint4 *)at;
        edge |= at && !inside;
    }
#pragma unroll
    for (int i = 0; i < COUNT && edge; ++i) {
        const uintptr_t at = where(i);
        if (at && !(INSIDE || (at >= begin && at + 16 <= end)))
            to[i] = word_at_the_edge(at, begin, end);
    }
}

// Loads eights of neighbours from anywhere in `matrix`: number i from where(i, &left) on, of
// which the first `left` are wanted and the others zeros. An eight lies in two words.
template <int COUNT, class Where>
static __device__ __forceinline__ void
load_eights(uint4 (&to)[COUNT], const __nv_bfloat16 *matrix, size_t count, Where where)
{
    uint4 words[2 * COUNT];
    load<false>(words, matrix, count, [&](int i) -> uintptr_t {
        int left;
        const __nv_bfloat16 *at = &matrix[where(i / 2, &left)];
        const int offset = behind(at);
        if (left <= 0 || (i % 2 && (offset == 0 || left + offset <= 8)))
            return 0;
        return (uintptr_t)(at - offset + i % 2 * 8);
    });
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        int left;
        const unsigned offset = 2 * behind(&matrix[where(i, &left)]);
        to[i] = only(shift_bytes(words[2 * i], words[2 * i + 1], offset), 0, left);
    }
}

// Adds up the warps' sums, COUNT of each lane. A thread gets four neighbours of a lane,
// from number `first` on, and hands them to `take(first, four)`.
template <int COUNT, class Take>
static __device__ __forceinline__ void add_warps(const float (&mine)[COUNT], void *room,
                                                 Take take)
{
    float(*of_warp)[COUNT][32] = (float(*)[COUNT][32])room;
    static_assert(COUNT <= 4 * FEW_WARPS, "a thread adds up four of each lane");
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = warp * 4;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        of_warp[warp][i][lane] = mine[i];
    __syncthreads();
    if (first < COUNT) {
        float four[4] = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
        for (int w = 0; w < FEW_WARPS; ++w)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                four[i] += of_warp[w][first + i][lane];
        take(first, four);
    }
}

/* ---- few rows ---- */

// Block (x, y, z): 16 * HIGH rows from row 64 z on, 64 columns from column 64 x on, part y
// of K. A warp takes 16 steps of k at a time: a lane loads eight neighbours from each of
// four rows of B. Tile j of the eight that it multiplies has the columns j, 8 + j, 16 + j ...
//
// A row begins somewhere in a word of 16 bytes, but every eighth row at the same place: 8 N
// elements are a multiple of 16 bytes. So each of the eight warps takes every eighth step.
// Its words are aligned, and hold columns that lie up to seven to the left of the block's
// 64, as far for all of them. The sums are moved by as much when they are written down.
const int OVERLAP = 8, PITCH = THIN + OVERLAP; // columns of a block's sums
static_assert(FEW_WARPS == 8, "each warp has its own place in a word");

template <int HIGH>
__global__ void __launch_bounds__(FEW_THREADS, HIGH < 2 ? 2 : 1)
    few_rows_kernel(const __grid_constant__ struct thin w)
{
    const int TURN = 16 * FEW_WARPS, AHEAD = 2;
    static_assert(DEEP % (TURN * AHEAD) == 0, "a chunk is whole turns through `next`");
    extern __shared__ __align__(16) unsigned char thin_bytes[];
    few_rows_chunk *const A = (few_rows_chunk *)thin_bytes;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int top = blockIdx.z * THIN;
    const int k_begin = blockIdx.y * w.share, k_end = min(w.K, k_begin + w.share);
    const size_t A_count = (size_t)w.M * w.K, B_count = (size_t)w.K * w.N;
    griddepcontrol_launch_dependents(); // the sums are added up when I have ended

    // How far the columns of warp `of` lie to the left.
    const auto moved = [&](int of) { return behind(&w.B[(size_t)(k_begin + of) * w.N]); };
    const int col = blockIdx.x * THIN + lane / 4 * 8 - moved(warp);
    uint4 next[AHEAD][4];
    const auto load_next = [&](uint4(&to)[4], int turn) {
        load<false>(to, w.B, B_count, [&](int i) -> uintptr_t {
            const int step = lane % 4 * 2 + i / 2 * 8 + i % 2; // of the warp's 16
            const int k = turn + warp + step * FEW_WARPS;
            return k < k_end && col < w.N
                       ? (uintptr_t)w.B + ((long long)k * w.N + col) * 2
                       : 0;
        });
    };
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
        load_next(next[i], k_begin + i * TURN);
    float acc[HIGH * 32] = {};
    // Rows that A does not have stay zeros.
    const auto in_A = [&](int row) { return row < 16 * HIGH && row < w.M - top; };
    for (int i = threadIdx.x; i < 16 * HIGH * (int)sizeof A[0] / 16; i += FEW_THREADS)
        ((uint4 *)A)[i] = make_uint4(0, 0, 0, 0);
    for (int chunk = k_begin; chunk < k_end; chunk += CHUNK) {
        const int steps = min(CHUNK, (k_end - chunk + DEEP - 1) / DEEP * DEEP);
        // 128 threads for a row of A's part; two rows at a time.
        const int k = threadIdx.x % (CHUNK / 8) * 8, first = threadIdx.x / (CHUNK / 8);
        const auto place_A = [&](int row, int *left) {
            *left = in_A(row) ? k_end - chunk - k : 0;
            return (size_t)(top + row) * w.K + chunk + k;
        };
        __syncthreads();
        for (int row = first; in_A(row) && k < steps; row += 8) {
            uint4 four[4];
            load_eights(four, w.A, A_count,
                        [&](int i, int *left) { return place_A(row + 2 * i, left); });
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                // In the order of the warps, and of each warp's steps.
                __nv_bfloat16 *const to = &A[row + 2 * i][k / TURN * TURN + k % TURN / 8];
                const uint32_t words[4] = {four[i].x, four[i].y, four[i].z, four[i].w};
#pragma unroll
                for (int e = 0; e < 8; ++e)
                    *(uint16_t *)&to[e * 16] = (uint16_t)(words[e / 2] >> e % 2 * 16);
            }
        }
        __syncthreads();
        for (int turn = 0; turn < steps; turn += AHEAD * TURN) {
#pragma unroll
            for (int slot = 0; slot < AHEAD; ++slot) {
                uint32_t now[4][4], a[HIGH][4];
                const int at = turn + slot * TURN;
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const uint4 v = next[slot][i];
                    now[i][0] = v.x, now[i][1] = v.y, now[i][2] = v.z, now[i][3] = v.w;
                }
                load_next(next[slot], chunk + at + AHEAD * TURN);
                __syncwarp();
#pragma unroll
                for (int m = 0; m < HIGH; ++m)
                    ldmatrix_x4(
                        a[m],
                        shared_address(
                            &A[m * 16 + lane % 16][at + warp * 16 + lane / 16 * 8]));
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
    // The warps' sums, of 16 rows at a time: column j of 8, upper or lower rows; row; which of
    // the nine eights of columns. The first eight belong to the block on the left.
    float(*const of_warp)[16][8][PITCH / 8] = (float(*)[16][8][PITCH / 8]) thin_bytes;
#pragma unroll
    for (int m = 0; m < HIGH; ++m) {
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 32; ++r) {
            const int to = OVERLAP + r / 4 - moved(warp);
            of_warp[warp][to % 8 * 2 + r % 4 / 2][lane / 4]
                   [lane % 4 * 2 + r % 2 + to / 8] = acc[m * 32 + r];
        }
        __syncthreads();
        for (int i = threadIdx.x; i < 16 * PITCH / 4; i += FEW_THREADS) {
            const int eight = i % (PITCH / 8), row = i / (PITCH / 8) % 16;
            const int j = i / (PITCH / 8) / 16 * 4;
            float four[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            for (int of = 0; of < FEW_WARPS; ++of)
#pragma unroll
                for (int c = 0; c < 4; ++c) {
                    const int from = eight * 8 + j + c - OVERLAP + moved(of);
                    if (from >= 0 && from < THIN)
                        four[c] += of_warp[of][(j + c) * 2 + row / 8][row % 8][eight];
                }
            if (top + m * 16 + row < w.M)
                *(float4 *)&w
                     .sums[((size_t)blockIdx.y * w.M + top + m * 16 + row) * w.pitch +
                           blockIdx.x * PITCH + eight * 8 + j] =
                    make_float4(four[0], four[1], four[2], four[3]);
        }
    }
}

/* ---- few columns ---- */

// Block (x, y): 64 rows from 64 x on, the N <= 8 columns, part y of K. A row of A begins
// somewhere in a word of 16 bytes, every eighth row at the same place. So number i of the
// eight words that a lane loads is from row 8 * (lane / 4) + i: the rows of one instruction
// are moved by the same number of elements, and rows of B, which lie in shared memory, are
// taken from as much further up. A warp takes 32 steps of k at a time, the k of two
// instructions: 0, 1 and 2, 3 of the eight are the first's, the rest the second's.
//
// FLAT: A has 8 rows at most, which begin all at the same place; then the eight words lie in
// one row, 32 elements apart.
//
// k is counted from the words' beginning on, so that it is a multiple of 8 at each.
template <bool FLAT> struct few_columns {
    static const int STEPS = FLAT ? 256 : 32; // of a warp at a time
    static const int CHUNK = FLAT ? 2048 : 1024;
    static const int ROWS = CHUNK + 8; // of B, in shared memory
    // Two rows stay empty after each eight: those that an instruction reads, 0, 1, 8, 9,
    // 16, 17, 24 and 25, or as many further on, lie in all banks then.
    static const int BYTES = ROWS / 8 * 10 * 16;
};
static __device__ __forceinline__ int slot_of(int row)
{
    return row + row / 8 * 2;
}

template <bool FLAT>
__global__ void __launch_bounds__(FEW_THREADS, 2)
    few_columns_kernel(const __grid_constant__ struct thin w)
{
    typedef struct few_columns<FLAT> f;
    const int TURN = f::STEPS * FEW_WARPS;
    static_assert(f::CHUNK % TURN == 0, "a chunk is whole turns");
    static_assert(f::BYTES >= FEW_WARPS * 16 * 32 * (int)sizeof(float),
                  "the sums fit where B was");
    extern __shared__ __align__(16) unsigned char thin_bytes[];
    __nv_bfloat16(*const B)[FEW_COLUMNS] = (__nv_bfloat16(*)[FEW_COLUMNS])thin_bytes;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int top = blockIdx.x * THIN;
    const int k_begin = blockIdx.y * w.share, k_end = k_begin + w.share;
    const size_t A_count = (size_t)w.M * w.K, B_count = (size_t)w.K * w.N;
    griddepcontrol_launch_dependents(); // the sums are added up when I have ended

    const auto row_of = [&](int i) { return top + (FLAT ? lane / 4 : lane / 4 * 8 + i); };
    const auto moved = [&](int i) { // A's row is moved by so many elements in its words
        return behind(&w.A[(size_t)(FLAT ? 0 : top + i) * w.K]);
    };
    const auto k_of = [&](int k, int i) {
        return k + (FLAT ? i * 32 : 0) + lane % 4 * 8;
    };
    // Where my part of my first row of A lies; and for each row, what it meets in B. (To
    // keep all eight places would take more registers than there are.)
    const uintptr_t A_at =
        (uintptr_t)w.A + ((long long)row_of(0) * w.K + lane % 4 * 8) * sizeof *w.A;
    const int B_row = 8 + lane % 8 / 2 * 8 + lane / 8 * 2 + lane % 2;
    const auto B_at = [&](int i) { return shared_address(B[slot_of(B_row - moved(i))]); };
    uint4 next[2][4]; // two times four: fewer registers hold what is being multiplied
    const auto load_next = [&](int from, int half) {
        const bool inside =
            from > 0 && from + f::STEPS <= min(k_end, w.K) && (FLAT || top + THIN <= w.M);
        const auto where = [&](int j) -> uintptr_t {
            const int i = half * 4 + j;
            if (!(FLAT ? row_of(i) < w.M : inside || row_of(i) < w.M) ||
                !(inside || k_of(from, i) < min(k_end, w.K + moved(i))))
                return 0;
            const uintptr_t row = A_at + (FLAT ? 0 : (size_t)i * w.K * sizeof *w.A);
            return row / 16 * 16 + (from + (FLAT ? i * 32LL : 0)) * sizeof *w.A;
        };
        if (inside)
            load<true>(next[half], w.A, A_count, where);
        else
            load<false>(next[half], w.A, A_count, where);
    };
    load_next(k_begin + warp * f::STEPS, 0);
    load_next(k_begin + warp * f::STEPS, 1);
    float acc[FLAT ? 1 : 8][4] = {};
    for (int chunk = k_begin; chunk < k_end; chunk += f::CHUNK) {
        const int steps = min(f::CHUNK, k_end - chunk);
        __syncthreads();
        // Of one column, a load brings eight rows.
        for (int first = threadIdx.x * 8; w.N == 1 && first < steps + 8;
             first += 8 * FEW_THREADS) {
            uint4 eight[1];
            load_eights(eight, w.B, B_count, [&](int, int *left) {
                const int k = chunk - 8 + first;
                *left = k < 0 ? 0 : min(chunk + steps, w.K) - k;
                return (size_t)max(k, 0);
            });
            const uint32_t words[4] = {eight[0].x, eight[0].y, eight[0].z, eight[0].w};
#pragma unroll
            for (int i = 0; i < 8; ++i)
                *(uint4 *)B[slot_of(first) + i] =
                    make_uint4(words[i / 2] >> i % 2 * 16 & 0xffffu, 0, 0, 0);
        }
        for (int first = threadIdx.x; w.N > 1 && first < steps + 8;
             first += 4 * FEW_THREADS) {
            uint4 four[4];
            load_eights(four, w.B, B_count, [&](int i, int *left) {
                const int k = chunk - 8 + first + i * FEW_THREADS;
                *left = k < chunk + steps && k >= 0 && k < w.K ? w.N : 0;
                return (size_t)k * w.N;
            });
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (first + i * FEW_THREADS < steps + 8)
                    *(uint4 *)B[slot_of(first + i * FEW_THREADS)] = four[i];
        }
        __syncthreads();
        for (int at = warp * f::STEPS; at < steps; at += TURN) {
            const bool at_an_end = chunk + at == 0 || chunk + at + f::STEPS > w.K;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                uint4(&now)[4] = next[half];
                if (at_an_end)
#pragma unroll
                    for (int j = 0; j < 4; ++j) {
                        const int i = half * 4 + j, k = k_of(chunk + at, i) - moved(i);
                        now[j] = only(now[j], -k, w.K - k);
                    }
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    const int i = half * 4 + j;
                    // Ten slots for eight rows; `at` is a multiple of eight.
                    const int from = (at + (FLAT ? i * 32 : 0)) / 8 * 10 * 16;
                    const uint32_t a[2][4] = {{now[j].x, 0, now[j].y, 0},
                                              {now[j].z, 0, now[j].w, 0}};
                    uint32_t b[4];
                    __syncwarp();
                    ldmatrix_x4_trans(b, B_at(i) + from);
                    mma_m16n8k16_bf16(acc[FLAT ? 0 : i], a[0], b);
                    mma_m16n8k16_bf16(acc[FLAT ? 0 : i], a[1], b + 2);
                }
                load_next(chunk + at + TURN, half);
            }
        }
    }
    float mine[FLAT ? 4 : 16]; // of two columns
#pragma unroll
    for (int i = 0; i < (FLAT ? 4 : 16); ++i)
        mine[i] = FLAT && i >= 2 ? 0.0f : acc[i / 2 % (FLAT ? 1 : 8)][i % 2];
    add_warps(mine, thin_bytes, [&](int first, const float(&four)[4]) {
        const int to = lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int m = row_of(first / 2 + i);
            if (m < w.M && (i == 0 || !FLAT))
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
    griddepcontrol_wait(); // for all sums
    if (i < results) {
        const int col = (int)(i % w.N);
        const bool by_columns = w.pitch == FEW_COLUMNS;
        const int at = by_columns ? col : col / THIN * PITCH + OVERLAP + col % THIN;
        const bool two = !by_columns && col % THIN + OVERLAP > THIN;
        const float *from = &w.sums[i / w.N * w.pitch + at];
#pragma unroll 8
        for (int part = threadIdx.x % lanes; part < w.parts; part += lanes) {
            sum += from[part * size];
            if (two) // eight on: the next block's columns begin with these
                sum += from[part * size + PITCH - THIN];
        }
    }
    for (int span = lanes / 2; span > 0; span /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, span);
    if (i < results && threadIdx.x % lanes == 0) {
        const float before = beta == 0.0f ? 0.0f : beta * __bfloat162float(C[i]);
        C[i] = __float2bfloat16_rn(alpha * sum + before);
    }
}

template <int HIGH> static void launch_rows_of(dim3 blocks, const struct thin *w)
{
    const int A_bytes = 16 * HIGH * sizeof(few_rows_chunk);
    const int bytes = A_bytes > SUMS_BYTES ? A_bytes : SUMS_BYTES;
    CUDA_CHECK(cudaFuncSetAttribute(few_rows_kernel<HIGH>,
                                    cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    few_rows_kernel<HIGH><<<blocks, FEW_THREADS, bytes>>>(*w);
}

static void launch_rows(dim3 blocks, const struct thin *w)
{
    if (w->M <= 16)
        launch_rows_of<1>(blocks, w);
    else if (w->M <= 32)
        launch_rows_of<2>(blocks, w);
    else
        launch_rows_of<THIN / 16>(blocks, w);
}

template <bool FLAT> static void launch_columns(dim3 blocks, const struct thin *w)
{
    static_assert(few_columns<FLAT>::BYTES <= 48 << 10, "what a kernel gets unasked");
    few_columns_kernel<FLAT><<<blocks, FEW_THREADS, few_columns<FLAT>::BYTES>>>(*w);
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
        const double time = rounds * (divided_up(most, parts) * (double)DEEP + START);
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
    if ((tile_columns && tile_columns != FEW_COLUMNS) ||
        !is_thin(M, N, K, engine_can(B, N * sizeof *B)))
        return false;
    const bool columns = N <= FEW_COLUMNS && N <= M;
    // Rows that begin anywhere in a word are up to 7 elements longer, with that before them.
    const int across = divided_up(columns ? M : N + 7, THIN);
    const int steps = columns ? K + 7 : K, high = columns ? 1 : divided_up(M, THIN);
    const bool one_block = !columns && M > 16; // to an SM
    const int room = (tile_columns ? 1 : number_of_blocks()) * (one_block ? 1 : 2);
    const int share =
        divided_up(divided_up(steps, parts_of(across * high, room, steps)), DEEP);
    struct thin w = {M, N, K, share * DEEP, divided_up(steps, share * DEEP)};
    w.pitch = columns ? FEW_COLUMNS : across * PITCH;
    w.A = A;
    w.B = B;
    w.sums = (float *)scratch(PARTS, (size_t)w.parts * M * w.pitch * sizeof(float));
    const dim3 blocks(across, w.parts, high);
    if (columns)
        (M <= 8 && (M == 1 || K % 8 == 0) ? launch_columns<true>
                                          : launch_columns<false>)(blocks, &w);
    else
        launch_rows(blocks, &w);
    int lanes = 1; // about eight parts for each
    while (lanes < 32 && lanes * 8 < w.parts)
        lanes *= 2;
    const size_t threads = (size_t)M * N * lanes;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = (int)((threads - 1) / FEW_THREADS + 1);
    config.blockDim = FEW_THREADS;
    config.attrs = &early;
    config.numAttrs = 1;
    CUDA_CHECK(cudaLaunchKernelEx(&config, finish_thin_kernel, w, lanes, alpha, beta, C));
    return true;
}

#endif
