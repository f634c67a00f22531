/* The split pass: A and B as halves, two for each float.
 *
 * y = x * 2^e     e makes the largest of a row of A, or a column of B, 2^14 to 2^15
 * hi = RN16(y)    the first 11 bits
 * lo = RN16((y - hi) * 2^11)    the next 11, moved up to where hi's are
 *
 * y - hi is exact, and so are both multiplications: nothing but the rounding of lo is
 * lost, 2^-23 of y at most. fp16 ends at 2^-24, so that far below the largest of its row
 * a small y has fewer bits. How many are missing is what this pass computes anyway, and
 * if they are too many for the bound of an fp32 product, the row's tiles are marked: they
 * are for plain.cuh. Infinities and NaN are marked by the same comparison.
 */
#ifndef SPLIT_CUH
#define SPLIT_CUH

#include "13_copy_engine/fp32.cuh"

#include <cuda_fp16.h>

const int SPLIT_THREADS = 512;
const int SPLIT_LANES = SPLIT_THREADS / 32;
// Three blocks that split B keep memory busier than two, which is what the registers would
// do. Turing's SMs hold 1,024 threads, two blocks, and compilers refuse three.
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
const int SPLIT_BLOCKS = 2;
#else
const int SPLIT_BLOCKS = 3;
#endif
// Reads that a thread starts before the first store: the compiler moves none past it.
const int AT_ONCE = 4;
const int LOOK_DEEP = 256;      // k of B that a block looks at
const int DEEP = 128;           // and that it splits
const float LO_SCALE = 2048.0f; // 2^11

// What an fp32 product may lose is K * 2^-24 of |A| |B|. A quarter of it is for the core's
// sums, see the README. An element may lose this part of itself, in A and in B; and so may
// a product by leaving out lo * lo, so a lo may be the root of it.
struct tolerance {
    float lost, lo;
};

static struct tolerance tolerance_for(int K)
{
    const float part = (K < 65536 ? K : 65536) * 0x1p-26f;
    const struct tolerance t = {part, sqrtf(part)};
    return t;
}

// Below this K the core's cuts are larger than the roundings of a sum in fp32.
const int LEAST_K = 256;

// Whether splitting, which is K * (M + N) of work, pays for what it makes faster: the
// time of either, in nanoseconds, as measured on an H200 with its 132 SMs. With few rows
// or columns most of it is splitting, and what chapter 13 says of its time is too much.
static bool pays(int sms, int M, int N, int K, const float *B)
{
    const double tiles = ((M - 1) / BM + 1.0) * ((N - 1) / BN + 1.0);
    const double split = (8.0 * M + 12.0 * N) * K / 3500;
    const double rounds = ceil(tiles / sms) * K * 18.5;
    return K >= LEAST_K && M > 64 && N > 64 &&
           fp32::at_scale(sms, 18000) + split + rounds <
               fp32_nanoseconds(sms, M, N, K, B);
}

// Positive floats are ordered as their bits are; NaN comes last.
static __device__ __forceinline__ unsigned size_of(float x)
{
    return __float_as_uint(x) & 0x7fffffffu;
}

// The e that brings `largest` to 2^14 and above, below 2^15; at most 126, so that 2^e is
// a float: for rows that are smaller than 2^-112, all of them.
static __device__ __forceinline__ int exponent_for(unsigned largest)
{
    return min(14 + 127 - (int)(largest >> 23), 126);
}

static __device__ __forceinline__ float power_of_two(int e)
{
    return __uint_as_float((unsigned)(e + 127) << 23);
}

// Splits x; false if too much is lost, or too much is left to lo. Written so that a NaN,
// which is what infinities leave in `rest`, is false too.
static __device__ __forceinline__ bool
split(float x, float scale, struct tolerance tolerance, __half *hi, __half *lo)
{
    const float y = x * scale;
    *hi = __float2half_rn(y);
    const float rest = (y - __half2float(*hi)) * LO_SCALE;
    *lo = __float2half_rn(rest);
    const float lost = fabsf(rest - __half2float(*lo)), size = LO_SCALE * fabsf(y);
    return lost <= tolerance.lost * size && fabsf(rest) <= tolerance.lo * size;
}

// Two neighbours, of which so many are there; zeros for the others. `pairs`: both or none,
// at a multiple of 8 bytes.
static __device__ __forceinline__ float2 two_of(const float *x, int there, bool pairs)
{
    if (pairs)
        return there > 0 ? *(const float2 *)x : make_float2(0.0f, 0.0f);
    return make_float2(there > 0 ? x[0] : 0.0f, there > 1 ? x[1] : 0.0f);
}

// The numbers of a row that a thread splits at once: from here on two in every 2 *
// SPLIT_THREADS, of which so many are left.
static __device__ __forceinline__ void read_row(const float *from, int left, bool pairs,
                                                float2 (&x)[AT_ONCE])
{
    if (pairs) {
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j)
            x[j] =
                two_of(from + j * 2 * SPLIT_THREADS, left - j * 2 * SPLIT_THREADS, true);
    } else {
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j)
            x[j] =
                two_of(from + j * 2 * SPLIT_THREADS, left - j * 2 * SPLIT_THREADS, false);
    }
}

// A row of A, by a block that keeps its first AT_ONCE * 2 * SPLIT_THREADS numbers in
// registers and reads the others twice, the second time from the L1 or L2. The lo of all
// rows follow the hi of all rows.
static __device__ void split_row(int row, int M, int K, const float *A,
                                 struct tolerance tolerance, __half *halves, int stride,
                                 int *exponents, int *unfit, int *some_unfit)
{
    __shared__ unsigned part[SPLIT_LANES];
    const int t = threadIdx.x;
    const float *a = &A[(size_t)row * K];
    const int PART = AT_ONCE * 2 * SPLIT_THREADS;
    const bool pairs = K % 2 == 0 && (size_t)A % 8 == 0;
    float2 x[AT_ONCE];
    unsigned largest = 0;
    read_row(a + 2 * t, K - 2 * t, pairs, x);
#pragma unroll
    for (int j = 0; j < AT_ONCE; ++j)
        largest = max(largest, max(size_of(x[j].x), size_of(x[j].y)));
#pragma unroll 8
    for (int k = PART + t; k < K; k += SPLIT_THREADS)
        largest = max(largest, size_of(a[k]));
    for (int i = 1; i < 32; i *= 2)
        largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, i));
    if (t % 32 == 0)
        part[t / 32] = largest;
    __syncthreads();
    for (int i = 0; i < SPLIT_LANES; ++i)
        largest = max(largest, part[i]);
    const int e = exponent_for(largest);
    if (t == 0)
        exponents[row] = e;

    const float scale = power_of_two(e);
    __half2 *hi = (__half2 *)&halves[(size_t)row * stride];
    __half2 *lo = (__half2 *)&halves[((size_t)M + row) * stride];
    bool fits = true;
    for (int k0 = 2 * t; k0 < K; k0 += PART) {
        if (k0 >= PART)
            read_row(a + k0, K - k0, pairs, x);
#pragma unroll
        for (int j = 0; j < AT_ONCE; ++j) {
            const int k = k0 + j * 2 * SPLIT_THREADS;
            __half2 h, l;
            fits &= split(x[j].x, scale, tolerance, &h.x, &l.x);
            fits &= split(x[j].y, scale, tolerance, &h.y, &l.y);
            if (k >= K)
                continue;
            hi[k / 2] = h;
            lo[k / 2] = l;
        }
    }
    if (!fits)
        unfit[row / BM] = *some_unfit = 1;
}

// The largest of 32 columns of B in LOOK_DEEP steps of k, by a block; `largest` is zeros at
// first.
static __device__ void find_largest(int block, int N, int K, const float *B,
                                    unsigned *largest)
{
    __shared__ unsigned part[SPLIT_LANES][32];
    const int lane = threadIdx.x % 32;
    const int y = threadIdx.x / 32;
    const int across = (N - 1) / 32 + 1;
    const int col = block % across * 32 + lane;
    const int k0 = block / across * LOOK_DEEP;
    unsigned most = 0;
#pragma unroll
    for (int i = 0; i < LOOK_DEEP; i += SPLIT_LANES)
        if (k0 + i + y < K && col < N)
            most = max(most, size_of(B[(size_t)(k0 + i + y) * N + col]));
    part[y][lane] = most;
    __syncthreads();
    if (y > 0 || col >= N)
        return;
    for (int i = 1; i < SPLIT_LANES; ++i)
        most = max(most, part[i][lane]);
    atomicMax(&largest[col], most);
}

// The first M blocks split A, the others look at B: while A's last blocks end, B's first
// begin, and the end of B is what the L2 holds afterwards.
static __global__ void __launch_bounds__(SPLIT_THREADS)
    split_rows(int M, int N, int K, const float *A, const float *B,
               struct tolerance tolerance, __half *halves, int stride, int *exponents,
               int *unfit, int *some_unfit, unsigned *largest)
{
    if (blockIdx.x < (unsigned)M)
        split_row(blockIdx.x, M, K, A, tolerance, halves, stride, exponents, unfit,
                  some_unfit);
    else
        find_largest(blockIdx.x - M, N, K, B, largest);
}

// B: two columns a thread. B stays as it lies, for the tensor core takes either way.
static __global__ void __launch_bounds__(SPLIT_THREADS, SPLIT_BLOCKS)
    split_cols(int K, int N, const float *B, struct tolerance tolerance, __half *halves,
               int stride, const unsigned *largest, int *exponents, int *unfit,
               int *some_unfit)
{
    const int col = blockIdx.x * 64 + threadIdx.x % 32 * 2;
    const int y = threadIdx.x / 32;
    if (col >= N)
        return;
    const int there = min(N - col, 2);
    const bool pairs = N % 2 == 0 && (size_t)B % 8 == 0;
    const int e0 = exponent_for(largest[col]);
    const int e1 = there == 2 ? exponent_for(largest[col + 1]) : 0;
    if (blockIdx.y == 0 && y == 0) {
        exponents[col] = e0;
        if (there == 2)
            exponents[col + 1] = e1;
    }
    const float scale0 = power_of_two(e0), scale1 = power_of_two(e1);
    bool fits = true;
    // Backwards: find_largest went forwards, so the end is still in the L2.
    for (int block = gridDim.y - 1 - blockIdx.y; block * DEEP < K; block += gridDim.y)
        for (int k0 = block * DEEP + y; k0 < (block + 1) * DEEP;
             k0 += AT_ONCE * SPLIT_LANES) {
            const float *b = &B[(size_t)k0 * N + col];
            __half *to = &halves[(size_t)k0 * stride + col];
            float2 x[AT_ONCE];
            if (pairs) {
#pragma unroll
                for (int j = 0; j < AT_ONCE; ++j)
                    x[j] = two_of(b + j * SPLIT_LANES * (size_t)N,
                                  k0 + j * SPLIT_LANES < K ? 2 : 0, true);
            } else {
#pragma unroll
                for (int j = 0; j < AT_ONCE; ++j)
                    x[j] = two_of(b + j * SPLIT_LANES * (size_t)N,
                                  k0 + j * SPLIT_LANES < K ? there : 0, false);
            }
#pragma unroll
            for (int j = 0; j < AT_ONCE; ++j, to += SPLIT_LANES * (size_t)stride) {
                __half2 h, l;
                fits &= split(x[j].x, scale0, tolerance, &h.x, &l.x);
                fits &= split(x[j].y, scale1, tolerance, &h.y, &l.y);
                if (k0 + j * SPLIT_LANES >= K)
                    break;
                // B's end shall stay in the L2, the halves need not.
                __stcs((__half2 *)to, h);
                __stcs((__half2 *)(to + (size_t)K * stride), l);
            }
        }
    if (!fits)
        unfit[col / BN] = *some_unfit = 1;
}

/* ---- the host's side ---- */

// Device memory that lasts from one product to the next.
static struct {
    char *memory;
    size_t bytes;
} scratch;

static void free_scratch(void)
{
    cudaFree(scratch.memory); // too late to complain
}

static char *reserve(size_t bytes)
{
    if (!scratch.memory)
        atexit(free_scratch);
    if (scratch.bytes < bytes) {
        CUDA_CHECK(cudaFree(scratch.memory));
        scratch.bytes = 0;
        CUDA_CHECK(cudaMalloc(&scratch.memory, bytes));
        scratch.bytes = bytes;
    }
    return scratch.memory;
}

// The halves: 2 M rows of A_stride, and 2 K rows of B_stride.
struct halves {
    __half *A, *B;
    int A_stride, B_stride;
};

// Splits A and B, and notes in `w` what the kernels must know of it.
static struct halves split_matrices(struct work *w, const float *A, const float *B)
{
    const int M = w->M, N = w->N, K = w->K;
    struct halves h;
    h.A_stride = (K + 63) / 64 * 64; // rows of whole 128 bytes: the copy engine asks for
    h.B_stride = (N + 63) / 64 * 64; // 16, and memory for whole lines
    const size_t A_count = 2 * (size_t)M * h.A_stride,
                 B_count = 2 * (size_t)K * h.B_stride;
    const size_t ints = (size_t)M + 2 * (size_t)N + w->tiles_down + w->tiles_across + 1;
    h.A = (__half *)reserve((A_count + B_count) * sizeof(__half) + ints * sizeof(int));
    h.B = h.A + A_count;
    int *row_exponents = (int *)(h.B + B_count);
    int *col_exponents = row_exponents + M;
    int *largest = col_exponents + N; // from here on zeros before
    int *unfit_rows = largest + N;
    int *unfit_cols = unfit_rows + w->tiles_down;
    int *some_unfit = unfit_cols + w->tiles_across;
    CUDA_CHECK(cudaMemsetAsync(largest, 0, (some_unfit + 1 - largest) * sizeof(int)));
    const struct tolerance tolerance = tolerance_for(K);
    const unsigned looks = (K - 1) / LOOK_DEEP + 1, deep = (K - 1) / DEEP + 1;
    split_rows<<<M + ((N - 1) / 32 + 1) * looks, SPLIT_THREADS>>>(
        M, N, K, A, B, tolerance, h.A, h.A_stride, row_exponents, unfit_rows, some_unfit,
        (unsigned *)largest);
    split_cols<<<dim3((N - 1) / 64 + 1, deep < 65535 ? deep : 65535), SPLIT_THREADS>>>(
        K, N, B, tolerance, h.B, h.B_stride, (const unsigned *)largest, col_exponents,
        unfit_cols, some_unfit);
    w->row_exponents = row_exponents;
    w->col_exponents = col_exponents;
    w->unfit_rows = unfit_rows;
    w->unfit_cols = unfit_cols;
    w->some_unfit = some_unfit;
    return h;
}

#endif
