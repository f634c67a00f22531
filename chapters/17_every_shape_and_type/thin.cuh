/* Products with at most 64 rows or columns. One matrix is large, and each of its numbers is
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

const int THIN = 64;     // rows or columns, of C and of a block
const int DEEP = 256;    // steps of k that a block takes at a time: a part has no fewer
const int FEW_WARPS = 8; // of a block
const int FEW_THREADS = FEW_WARPS * 32;

struct thin {
    int M, N, K;
    int share; // steps of k in a block's part: a multiple of DEEP
    int parts, pitch;
    const __nv_bfloat16 *A, *B;
    float *sums; // [parts][M][pitch]: what the blocks made
};

// Eight numbers of a row of `matrix`, which has `count`, from element `at` on; those from
// the `left`th on are zeros. ALIGNED: its rows begin at multiples of 16 bytes.
template <bool ALIGNED>
static __device__ __forceinline__ uint4 eight(const __nv_bfloat16 *matrix, size_t count,
                                              size_t at, int left)
{
    if (left <= 0)
        return make_uint4(0, 0, 0, 0);
    if (ALIGNED)
        return *(const uint4 *)&matrix[at];
    uint4 v = sixteen_bytes((uintptr_t)&matrix[at], (uintptr_t)matrix,
                            (uintptr_t)&matrix[count]);
    if (left < 8) {
        uint32_t *words = &v.x;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            words[i] &= 2 * i + 1 < left ? 0xffffffffu : 2 * i < left ? 0xffffu : 0;
    }
    return v;
}

// Adds up the warps' sums, 32 of each lane at a time. A thread gets four of a lane, number
// `first`, first + STRIDE, ..., and hands them to `take(first, four)`.
template <int COUNT, int STRIDE, class Take>
static __device__ __forceinline__ void add_warps(const float (&acc)[COUNT],
                                                 float (*of_warp)[32][32], Take take)
{
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

// Block (x, y, z): 16 * HIGH rows from z times as many on, 64 columns from 64 x on, part y of K. A warp takes 16
// steps of k at a time: a lane loads eight neighbours from each of four rows of B. Tile j of
// the eight that it multiplies has the columns j, 8 + j, 16 + j ...
template <int HIGH, bool ALIGNED>
__global__ void __launch_bounds__(FEW_THREADS, HIGH < 2 ? 2 : 1)
    few_rows_kernel(const __grid_constant__ struct thin w)
{
    const int CHUNK = 1024 / HIGH, ROW = CHUNK + 8; // padded: ldmatrix meets no conflict
    const int TURN = 16 * FEW_WARPS, AHEAD = DEEP / TURN;
    static_assert(CHUNK % DEEP == 0, "a chunk is whole turns through `next`");
    __shared__ __align__(16) union {
        __nv_bfloat16 A[16 * HIGH][ROW];
        float of_warp[FEW_WARPS][32][32];
    } memory;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int top = blockIdx.z * 16 * HIGH, col = blockIdx.x * THIN + lane / 4 * 8;
    const int k_begin = blockIdx.y * w.share, k_end = min(w.K, k_begin + w.share);

    uint4 next[AHEAD][4];
    const auto load = [&](uint4(&to)[4], int k) {
        k += warp * 16 + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int row = k + i / 2 * 8 + i % 2;
            to[i] = eight<ALIGNED>(w.B, (size_t)w.K * w.N, (size_t)row * w.N + col,
                                   row < k_end ? w.N - col : 0);
        }
    };
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
        load(next[i], k_begin + i * TURN);
    float acc[HIGH * 32] = {};
    for (int chunk = k_begin; chunk < k_end; chunk += CHUNK) {
        const int steps = min(CHUNK, (k_end - chunk + DEEP - 1) / DEEP * DEEP);
        const int k = threadIdx.x % (CHUNK / 8) * 8;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const int row = threadIdx.x / (CHUNK / 8) + i * 2 * HIGH, m = top + row;
            if (k < steps)
                *(uint4 *)&memory.A[row][k] =
                    eight<false>(w.A, (size_t)w.M * w.K, (size_t)m * w.K + chunk + k,
                                 m < w.M ? k_end - chunk - k : 0);
        }
        __syncthreads();
        for (int turn = 0; turn < steps; turn += DEEP) {
#pragma unroll
            for (int slot = 0; slot < AHEAD; ++slot) {
                uint32_t now[4][4], a[HIGH][4];
                const int at = turn + slot * TURN + warp * 16;
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const uint4 v = next[slot][i];
                    now[i][0] = v.x, now[i][1] = v.y, now[i][2] = v.z, now[i][3] = v.w;
                }
                load(next[slot], chunk + turn + DEEP + slot * TURN);
#pragma unroll
                for (int m = 0; m < HIGH; ++m)
                    ldmatrix_x4(a[m],
                                shared_address(
                                    &memory.A[m * 16 + lane % 16][at + lane / 16 * 8]));
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
    add_warps<HIGH * 32, 4>(acc, memory.of_warp, [&](int first, const float(&four)[4]) {
        const int row = top + first / 32 * 16 + lane / 4 + first % 4 / 2 * 8;
        const int to =
            blockIdx.x * THIN + (lane % 4 * 2 + first % 2) * 8 + first % 32 / 4;
        if (row < w.M)
            *(float4 *)&w.sums[((size_t)blockIdx.y * w.M + row) * w.pitch + to] =
                make_float4(four[0], four[1], four[2], four[3]);
    });
}

/* ---- few columns ---- */

// Block (x, y): 64 rows from 64 x on, the 8 * WIDE >= N columns, part y of K. A warp takes 32
// steps of k at a time: a lane loads eight neighbours from each of eight rows of A, the k of
// two instructions: 0, 1 and 2, 3 of the eight are the first's, 4, 5 and 6, 7 the second's.
template <int WIDE, bool ALIGNED>
__global__ void __launch_bounds__(FEW_THREADS, WIDE < 4 ? 2 : 1)
    few_columns_kernel(const __grid_constant__ struct thin w)
{
    const int CHUNK = WIDE < 2 ? 1024 : 2048 / WIDE;
    static_assert(CHUNK % DEEP == 0, "all warps have equally many turns");
    __shared__ __align__(16) union {
        __nv_bfloat16 B[WIDE][CHUNK][8]; // the k in the order of the instructions
        float of_warp[FEW_WARPS][32][32];
    } memory;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = blockIdx.x * THIN + lane / 4;
    const int k_begin = blockIdx.y * w.share, k_end = min(w.K, k_begin + w.share);

    uint4 next[8];
    const auto load = [&](int k) {
        k += warp * 32 + lane % 4 * 8;
#pragma unroll
        for (int i = 0; i < 8; ++i)
            next[i] =
                eight<ALIGNED>(w.A, (size_t)w.M * w.K, (size_t)(row + i * 8) * w.K + k,
                               row + i * 8 < w.M ? k_end - k : 0);
    };
    load(k_begin);
    float acc[4 * WIDE * 4] = {};
    for (int chunk = k_begin; chunk < k_end; chunk += CHUNK) {
        const int steps = min(CHUNK, (k_end - chunk + DEEP - 1) / DEEP * DEEP);
        __syncthreads();
#pragma unroll 4
        for (int i = threadIdx.x; i < steps * WIDE; i += FEW_THREADS) {
            const int k = i / WIDE, col = i % WIDE * 8;
            const int slot = k / 32 * 32 + k % 8 / 2 * 8 + k % 32 / 8 * 2 + k % 2;
            *(uint4 *)memory.B[col / 8][slot] =
                eight<false>(w.B, (size_t)w.K * w.N, (size_t)(chunk + k) * w.N + col,
                             chunk + k < k_end ? w.N - col : 0);
        }
        __syncthreads();
        for (int at = warp * 32; at < steps; at += DEEP) {
            uint4 now[8];
#pragma unroll
            for (int i = 0; i < 8; ++i)
                now[i] = next[i];
            load(chunk + at - warp * 32 + DEEP);
#pragma unroll
            for (int n = 0; n < WIDE; ++n) {
                uint32_t b[4];
                ldmatrix_x4_trans(b, shared_address(memory.B[n][at + lane]));
#pragma unroll
                for (int m = 0; m < 4; ++m) {
                    const uint4 up = now[2 * m], down = now[2 * m + 1];
                    const uint32_t a[2][4] = {{up.x, down.x, up.y, down.y},
                                              {up.z, down.z, up.w, down.w}};
                    float(&sums)[4] = *(float(*)[4]) & acc[(m * WIDE + n) * 4];
                    mma_m16n8k16_bf16(sums, a[0], b);
                    mma_m16n8k16_bf16(sums, a[1], b + 2);
                }
            }
        }
    }
    add_warps<16 * WIDE, 1>(acc, memory.of_warp, [&](int first, const float(&four)[4]) {
        const int tile = first / 4, to = tile % WIDE * 8 + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const int m = row + tile / WIDE * 16 + i * 8;
            if (m < w.M)
                *(float2 *)&w.sums[((size_t)blockIdx.y * w.M + m) * w.pitch + to] =
                    make_float2(four[2 * i], four[2 * i + 1]);
        }
    });
}

/* ---- the end ---- */

// `lanes` neighbours add up the parts of one result.
static __global__ void __launch_bounds__(FEW_THREADS)
    add_parts_kernel(const __grid_constant__ struct thin w, int lanes, float alpha,
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

template <bool ALIGNED> static void launch_rows(dim3 blocks, const struct thin *w)
{
    if (w->M <= 16)
        few_rows_kernel<1, ALIGNED><<<blocks, FEW_THREADS>>>(*w);
    else if (w->M <= 32)
        few_rows_kernel<2, ALIGNED><<<blocks, FEW_THREADS>>>(*w);
    else
        few_rows_kernel<4, ALIGNED><<<blocks, FEW_THREADS>>>(*w);
}

template <bool ALIGNED> static void launch_columns(dim3 blocks, const struct thin *w)
{
    if (w->N <= 8)
        few_columns_kernel<1, ALIGNED><<<blocks, FEW_THREADS>>>(*w);
    else if (w->N <= 16)
        few_columns_kernel<2, ALIGNED><<<blocks, FEW_THREADS>>>(*w);
    else if (w->N <= 32)
        few_columns_kernel<4, ALIGNED><<<blocks, FEW_THREADS>>>(*w);
    else
        few_columns_kernel<8, ALIGNED><<<blocks, FEW_THREADS>>>(*w);
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

// Returns whether this is a thin product, or a small one with a long way along K, and has been
// launched. Without many steps of k it is the results that take the time, and tiles write them
// better.
static bool launch_thin(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                        const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    const bool small = M <= 2 * THIN && N <= 2 * THIN && K >= 4096;
    if (tile_columns || K < DEEP || (M > THIN && N > THIN && !small))
        return false;
    const bool columns = N <= M && N <= THIN;
    const int few = columns ? N : M, high = columns ? 1 : divided_up(M, THIN);
    const int across = divided_up(columns ? M : N, THIN);
    const int room = number_of_blocks() * (few > 16 ? 1 : 2);
    const int share = divided_up(divided_up(K, parts_of(across * high, room, K)), DEEP);
    struct thin w = {M, N, K, share * DEEP, divided_up(K, share * DEEP), 0, A, B, NULL};
    w.pitch = !columns ? across * THIN : N <= 8 ? 8 : N <= 16 ? 16 : N <= 32 ? 32 : 64;
    w.sums = (float *)scratch(PARTS, (size_t)w.parts * M * w.pitch * sizeof(float));
    const dim3 blocks(across, w.parts, high);
    if (columns && engine_can(A, K * sizeof *A))
        launch_columns<true>(blocks, &w);
    else if (columns)
        launch_columns<false>(blocks, &w);
    else if (engine_can(B, N * sizeof *B))
        launch_rows<true>(blocks, &w);
    else
        launch_rows<false>(blocks, &w);
    int lanes = 1; // about eight parts for each
    while (lanes < 32 && lanes * 8 < w.parts)
        lanes *= 2;
    const size_t threads = (size_t)M * N * lanes;
    add_parts_kernel<<<(int)((threads - 1) / FEW_THREADS + 1), FEW_THREADS>>>(
        w, lanes, alpha, beta, C);
    return true;
}

#endif
