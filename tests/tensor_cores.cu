// Tensor cores, to the last bit: sums of products of numbers that are hard to add, by every
// instruction that the chapters use, and a hash of each kind of them. HASHES are those that
// an H200 computed.
//
// On a GPU: nvcc -arch=sm_90a -std=c++17 -Icommon tests/tensor_cores.cu, a Hopper.
//
//   tensor_cores           compares, and says PASS or which kinds are different
//   tensor_cores blocks    prints a hash for each 1,024 results, as CSV
#include "mma_sync.h"
#include "wgmma.h"

#include <stdio.h>
#include <string.h>

enum form { MMA_BF16, MMA_TF32, WGMMA_BF16, WGMMA_F16, WGMMA_TF32, FORMS };
enum kind { NEAR, WIDE, FINITE, CANCELLING, TINY, CORNERS, ZEROS, HUGE_ONES, ALL, KINDS };

static const char *const FORM_NAMES[FORMS] = {"mma bf16", "mma tf32", "wgmma bf16",
                                              "wgmma f16", "wgmma tf32"};
static const char *const KIND_NAMES[KINDS] = {"near 1",     "wide",           "finite",
                                              "cancelling", "near underflow", "corners",
                                              "zeros",      "overflow",       "all bits"};

// How many results are chains of how many instructions, each of 16 or 8 steps of k.
static const struct {
    int results, steps;
} RUNS[] = {{24576, 1}, {8192, 8}, {4096, 64}};
const int RUN_COUNT = sizeof RUNS / sizeof *RUNS;
const int RESULTS = 24576 + 8192 + 4096; // of a form and a kind
const int BLOCK = 1024;

// ---- numbers: the same ones on every machine ----

struct format {
    int exponent_bits, fraction_bits;
};

static __device__ format format_of(form f)
{
    const bool tf32 = f == MMA_TF32 || f == WGMMA_TF32;
    return f == WGMMA_F16 ? format{5, 10} : format{8, tf32 ? 23 : 7};
}

// 32 random bits that depend on nothing but the arguments.
static __device__ uint32_t random_bits(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t words[4] = {a, b, c, d};
    uint32_t x = 1;
    for (int i = 0; i < 4; ++i)
        for (int round = 0; round < 2; ++round) {
            x = (x ^ words[i]) * 2654435761u;
            x ^= x >> 15;
        }
    return x;
}

static __device__ uint32_t number(format f, int sign, int exponent, uint32_t fraction)
{
    const int top = (1 << f.exponent_bits) - 2; // the exponent above is Inf's and NaN's
    const int e = max(0, min(top, exponent));
    return (uint32_t)sign << (f.exponent_bits + f.fraction_bits) |
           (uint32_t)e << f.fraction_bits | (fraction & ((1u << f.fraction_bits) - 1));
}

// Element (i, k) of A or B, or (i, 0) of what C holds at first; as bits.
static __device__ uint32_t element(format f, kind kind, uint32_t seed, int matrix, int i,
                                   int k)
{
    const int bias = (1 << (f.exponent_bits - 1)) - 1;
    // Of numbers that cancel, two with neighbouring k are made of the same bits.
    const int which = kind == CANCELLING && matrix < 2 ? k / 2 : k;
    const uint32_t r = random_bits(seed, matrix, i, which), s = random_bits(r, 1, 2, 3);
    const int sign = s & 1, choice = s >> 1 & 511;
    switch (kind) {
    case NEAR: return number(f, sign, bias - 2 + choice % 5, r);
    case WIDE: return number(f, sign, bias - 13 + choice % 27, r);
    case FINITE: return number(f, sign, choice % (bias + bias / 2), r);
    case CANCELLING:
        if (matrix == 2) return s & 6 ? number(f, sign, bias - 2 + choice % 5, r) : 0;
        // Now and then the last bit that counts is another, and a little is left.
        return number(f, matrix == 0 && k % 2 ? !sign : sign, bias - 6 + choice % 13,
                      matrix == 0 && k % 8 == 3 ? r ^ 1u << (f.fraction_bits == 23) * 13
                                                : r);
    case TINY:
        if (matrix == 2) return number(f, sign, 0, (r & 0x7fffff) >> choice % 23);
        return number(f, sign, bias > 15 ? bias - 80 + choice % 16 : choice % 4, r);
    case CORNERS:
        switch (choice % 128) {
        case 0:
            return choice < 128 ? number(f, sign, 2 * bias, 0) + (1u << f.fraction_bits)
                                : 0;
        case 1:
            return choice < 128
                       ? number(f, sign, 2 * bias, 0) +
                             (1u << f.fraction_bits | 1u << (f.fraction_bits - 1))
                       : 0;
        default: break;
        }
        switch (choice % 8) {
        case 0: return number(f, sign, 0, 0);
        case 1: return number(f, sign, 0, 1);
        case 2: return number(f, sign, 0, ~0u);
        case 3: return number(f, sign, bias - (bias > 15 ? 100 : 14), 0);
        case 4: return number(f, sign, bias + (bias > 15 ? 40 : 12), 0);
        default: return number(f, sign, bias, r);
        }
    case ZEROS:
        return choice % 5 < 3 ? number(f, sign, 0, 0)
                              : number(f, sign, bias - 30 + (choice >> 3) % 61, r);
    case HUGE_ONES:
        return number(
            f, sign, (matrix == 2 ? 2 * bias : bias + (bias > 15 ? 62 : 15)) - choice % 4,
            r);
    default: return r >> (31 - f.exponent_bits - f.fraction_bits);
    }
}

// ---- one warp, or one warpgroup, a chain ----

__global__ void mma_chains(form form, kind kind, uint32_t seed, int steps, uint32_t *C)
{
    const format f = format_of(form), fp32 = {8, 23};
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    seed = random_bits(seed, form, kind, blockIdx.x);
    float d[4];
    for (int r = 0; r < 4; ++r)
        d[r] = __uint_as_float(element(fp32, kind, seed, 2, threadIdx.x * 4 + r, 0));
    for (int step = 0; step < steps; ++step) {
        uint32_t a[4], b[2];
        for (int r = 0; r < 4; ++r) {
            const int row = g + 8 * (r % 2);
            if (form == MMA_TF32) {
                a[r] = element(f, kind, seed, 0, row, step * 8 + t + 4 * (r / 2));
            } else {
                const int k = step * 16 + 2 * t + 8 * (r / 2);
                a[r] = element(f, kind, seed, 0, row, k) |
                       element(f, kind, seed, 0, row, k + 1) << 16;
            }
        }
        for (int r = 0; r < 2; ++r) {
            if (form == MMA_TF32) {
                b[r] = element(f, kind, seed, 1, g, step * 8 + t + 4 * r);
            } else {
                const int k = step * 16 + 2 * t + 8 * r;
                b[r] = element(f, kind, seed, 1, g, k) |
                       element(f, kind, seed, 1, g, k + 1) << 16;
            }
        }
        if (form == MMA_TF32)
            mma_m16n8k8_tf32(d, a, b);
        else
            mma_m16n8k16_bf16(d, a, b);
    }
    for (int r = 0; r < 4; ++r)
        C[(blockIdx.x * 32 + threadIdx.x) * 4 + r] = __float_as_uint(d[r]);
}

// AT_ONCE steps are a group, and what one filling of the tiles is for.
template <form FORM, int AT_ONCE>
__global__ void wgmma_chains(kind kind, uint32_t seed, int steps, uint32_t *C)
{
    // 64 rows of 128 bytes each, swizzled: four steps.
    __shared__ __align__(1024) unsigned char tiles[2][64][128];
    const format f = format_of(FORM), fp32 = {8, 23};
    const int bytes = FORM == WGMMA_TF32 ? 4 : 2, per_row = 128 / bytes;
    seed = random_bits(seed, FORM, kind, blockIdx.x);
    float d[32];
    for (int r = 0; r < 32; ++r)
        d[r] = __uint_as_float(element(fp32, kind, seed, 2, threadIdx.x * 32 + r, 0));
    for (int step = 0; step < steps; step += AT_ONCE) {
        __syncthreads();
        for (int i = threadIdx.x; i < 2 * 64 * per_row; i += 128) {
            const int matrix = i / (64 * per_row), row = i / per_row % 64;
            const int k = i % per_row, at = k * bytes;
            const uint32_t x =
                element(f, kind, seed, matrix, row, step / AT_ONCE * per_row + k);
            unsigned char *to = &tiles[matrix][row][(at / 16 ^ row % 8) * 16 + at % 16];
            if (bytes == 4)
                *(uint32_t *)to = x;
            else
                *(uint16_t *)to = (uint16_t)x;
        }
        fence_proxy_async();
        __syncthreads();
        const uint64_t a = wgmma_descriptor(tiles[0], 16, 1024, WGMMA_SWIZZLE_128B);
        const uint64_t b = wgmma_descriptor(tiles[1], 16, 1024, WGMMA_SWIZZLE_128B);
        wgmma_touch(d);
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            if (FORM == WGMMA_TF32)
                wgmma_mma_async_tf32(d, a + 2 * i, b + 2 * i, 1);
            else if (FORM == WGMMA_F16)
                wgmma_mma_async_f16<0, 0>(d, a + 2 * i, b + 2 * i, 1);
            else
                wgmma_mma_async_bf16<0, 0>(d, a + 2 * i, b + 2 * i, 1);
        wgmma_commit_group();
        wgmma_wait_group<0>();
        wgmma_touch(d);
    }
    for (int r = 0; r < 32; ++r)
        C[(blockIdx.x * 128 + threadIdx.x) * 32 + r] = __float_as_uint(d[r]);
}

// ---- hashes ----

static const uint32_t HASHES[FORMS][KINDS] = {
    {0x80e2d8ef, 0x6e1b9a1e, 0x3a8ecf81, 0xa24e3bbf, 0x5afd8dcd, 0x89c207f2, 0x2632f31e,
     0xaf4bc84e, 0x7b92b311},
    {0x3cc81012, 0xace95905, 0xc1f8a373, 0x30fc9c83, 0xe4eb498b, 0x01cb04b8, 0x0f67951f,
     0x6333815f, 0x4d3190ad},
    {0x4af868f0, 0xe17fcb2f, 0x47c4b81d, 0xf0bbd0b7, 0x070d371e, 0xccc34715, 0xf8ad7a77,
     0xa958e00c, 0x6d5aca9a},
    {0xe7298b35, 0x3140395d, 0x95722880, 0xcbdaafce, 0x5dc816ed, 0x636758a5, 0x2e71edf1,
     0xd4092270, 0x0481e758},
    {0x7b3fee34, 0x55ce521e, 0x2bc2f9bc, 0x512345e0, 0x73742e41, 0xaeb91e86, 0xcb09ce87,
     0x5df410c8, 0x97614bed},
};

// The FNV-1a of words.
static uint32_t hash(const uint32_t *words, int count)
{
    uint32_t h = 2166136261u;
    for (int i = 0; i < count; ++i)
        for (int byte = 0; byte < 4; ++byte)
            h = (h ^ (words[i] >> 8 * byte & 255)) * 16777619u;
    return h;
}

static int check(cudaError_t error)
{
    if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}

template <form FORM> static void launch_wgmma(kind kind, int run, uint32_t *C)
{
    const int blocks = RUNS[run].results / (64 * 64), steps = RUNS[run].steps;
    if (steps == 1)
        wgmma_chains<FORM, 1><<<blocks, 128>>>(kind, run, steps, C);
    else
        wgmma_chains<FORM, 4><<<blocks, 128>>>(kind, run, steps, C);
}

static void launch(form form, kind kind, int run, uint32_t *C)
{
    if (form == WGMMA_BF16)
        launch_wgmma<WGMMA_BF16>(kind, run, C);
    else if (form == WGMMA_F16)
        launch_wgmma<WGMMA_F16>(kind, run, C);
    else if (form == WGMMA_TF32)
        launch_wgmma<WGMMA_TF32>(kind, run, C);
    else
        mma_chains<<<RUNS[run].results / (16 * 8), 32>>>(form, kind, run, RUNS[run].steps,
                                                         C);
}

int main(int argc, char **argv)
{
    static uint32_t C[RESULTS];
    uint32_t *on_device;
    const bool blocks = argc > 1 && strcmp(argv[1], "blocks") == 0;
    int wrong = 0;
    if (check(cudaMalloc(&on_device, sizeof C))) return 1;
    if (blocks) printf("form,kind,block,hash\n");
    for (int form = 0; form < FORMS; ++form)
        for (int kind = 0; kind < KINDS; ++kind) {
            int at = 0;
            for (int run = 0; run < RUN_COUNT; ++run) {
                launch((enum form)form, (enum kind)kind, run, on_device + at);
                at += RUNS[run].results;
            }
            if (check(cudaGetLastError()) ||
                check(cudaMemcpy(C, on_device, sizeof C, cudaMemcpyDeviceToHost)))
                return 1;
            for (int block = 0; blocks && block < RESULTS / BLOCK; ++block)
                printf("%s,%s,%d,%08x\n", FORM_NAMES[form], KIND_NAMES[kind], block,
                       hash(C + block * BLOCK, BLOCK));
            const uint32_t got = hash(C, RESULTS);
            if (!blocks && got != HASHES[form][kind]) {
                printf("%s, %s: the hash is 0x%08x, not 0x%08x\n", FORM_NAMES[form],
                       KIND_NAMES[kind], got, HASHES[form][kind]);
                wrong = 1;
            }
        }
    check(cudaFree(on_device));
    if (!blocks && !wrong) printf("PASS: %d results\n", FORMS * KINDS * RESULTS);
    return wrong;
}
