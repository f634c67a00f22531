/* What tensor cores calculate, to the last bit: for every form of mma.sync and wgmma, and
 * for inputs of seven kinds, a sum over all results. `make tensor-cores` runs this on a
 * Hopper GPU, into results/tensor_cores.csv; a test runs it on the emulator and compares.
 * test_tensor_cores.py makes the same inputs and says what the results should be. */
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

const int TILES = 8;

enum type { BF16, F16, TF32, E4M3, E5M2, S8 };
enum sum { SUM_F32, SUM_F16, SUM_S32 };
enum kind { NEAR, WIDE, WINDOW, CANCEL, SMALL, SPECIAL, ZEROS, KINDS };

// ---- inputs ----

static __device__ uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

struct format {
    int fraction, exponents; // bits; of tf32 all 32 bits are random
    int bias, most;          // the largest exponent field of a finite number
};

static __device__ format format_of(int type)
{
    switch (type) {
    case BF16: return {7, 8, 127, 254};
    case F16: return {10, 5, 15, 30};
    case E4M3: return {3, 4, 7, 14};
    case E5M2: return {2, 5, 15, 30};
    default: return {23, 8, 127, 254}; // tf32, and sums in fp32
    }
}

static __device__ uint32_t between(uint64_t random, int least, int most)
{
    return (uint32_t)(least + (int)(random % (uint64_t)(most - least + 1)));
}

// A number of that format. `sum`: of the accumulator, whose exponents are those of products.
static __device__ uint32_t number(format f, int kind, uint64_t random, bool sum)
{
    const uint32_t fraction = (uint32_t)(random >> 40) & ((1u << f.fraction) - 1);
    const uint32_t sign = (uint32_t)(random >> 39 & 1) << (f.fraction + f.exponents);
    const int reach = kind == NEAR ? 3 : 8;
    uint64_t r = mix(random);
    uint32_t exponent;
    if (kind == SPECIAL && r % 16 == 0) {
        const uint32_t top = (1u << f.exponents) - 1;
        return sign | top << f.fraction | (r >> 8 & 1 ? 0 : fraction);
    }
    if ((kind == SPECIAL && r % 4 == 1) || (kind == ZEROS && r % 5 < 3)) return sign;
    r >>= 16;
    if (kind == NEAR || kind == WINDOW || kind == CANCEL) {
        const int width = sum ? 2 * reach : reach;
        const int least = f.bias - width < 0 ? 0 : f.bias - width;
        const int most = f.bias + width > f.most ? f.most : f.bias + width;
        exponent = between(r, least, most);
    } else if (kind == SMALL) {
        // Products of the smallest numbers of a wide format are nothing: half way down.
        const int low = f.exponents == 8 ? (sum ? 0 : 52) : 0;
        exponent = between(r, low, low + (f.exponents == 8 && !sum ? 12 : 2));
    } else {
        // Where the product of two would leave the range, not so wide.
        const int width = f.exponents == 8 ? 60 : f.bias;
        const int most = f.bias + width > f.most ? f.most : f.bias + width;
        exponent = between(r, f.bias - width, most);
    }
    return sign | exponent << f.fraction | fraction;
}

// Element (i, k) of A (matrix 0) or (j, k) of B (matrix 1).
static __device__ uint32_t element(int type, int kind, int tile, int matrix, int i, int k)
{
    const uint64_t place = (((uint64_t)tile * 2 + matrix) * 256 + i) * 256;
    const uint64_t base = mix((uint64_t)(type * 16 + kind + 1) * 0x9e3779b97f4a7c15ull);
    if (type == S8) return (uint32_t)mix(base + place + k) & 255;
    const format f = format_of(type);
    if (kind != CANCEL || k % 2 == 0)
        return number(f, kind, mix(base + place + k), false);
    // The one before it with the other sign in A; now and then a little different.
    uint32_t x = number(f, kind, mix(base + place + k - 1), false);
    if (matrix == 0) x ^= 1u << (f.fraction + f.exponents);
    if (mix(base + place + k) % 8 == 0) x ^= 1u << (type == TF32 ? 13 : 0);
    return x;
}

static __device__ uint32_t start(int sum, int type, int kind, int tile, int i, int j)
{
    const uint64_t random = mix(mix((uint64_t)(type * 16 + kind + 200)) +
                                ((uint64_t)tile * 256 + i) * 256 + j);
    if (sum == SUM_S32) return (uint32_t)random;
    return number(format_of(sum == SUM_F16 ? F16 : TF32), kind, random, true);
}

// ---- results ----

// Whose order does not matter.
static __device__ void note(unsigned long long *digest, int tile, int i, int j,
                            uint32_t bits)
{
    atomicAdd(digest, (unsigned long long)mix(
                          (((uint64_t)tile * 256 + i) * 256 + j) << 32 | bits));
}

static __device__ int width_of(int type)
{
    return type == TF32 ? 32 : type == BF16 || type == F16 ? 16 : 8;
}

static __device__ uint32_t packed(int type, int kind, int tile, int matrix, int i, int k)
{
    uint32_t word = 0;
    for (int e = 0; e < 32 / width_of(type); e++)
        word |= element(type, kind, tile, matrix, i, k + e) << e * width_of(type);
    return word;
}

// ---- mma.sync: m16n8k, one warp ----

#define D4 "{%0, %1, %2, %3}"
#define D2 "{%0, %1}"

#define MMA(name, TYPE, SUM, K, REGISTERS, statement)                                    \
    static __global__ void name(unsigned long long *digest)                              \
    {                                                                                    \
        const int lane = threadIdx.x, g = lane / 4, t = lane % 4;                        \
        const int kind = blockIdx.x, each = 32 / width_of(TYPE);                         \
        for (int tile = 0; tile < TILES; tile++) {                                       \
            uint32_t a[4], b[2], c[4], d[4];                                             \
            for (int r = 0; r < 4; r++) {                                                \
                const int k = (r / 2 * 4 + t) * each;                                    \
                a[r] = k < K ? packed(TYPE, kind, tile, 0, g + r % 2 * 8, k) : 0;        \
            }                                                                            \
            for (int r = 0; r < 2; r++) {                                                \
                const int k = (r * 4 + t) * each;                                        \
                b[r] = k < K ? packed(TYPE, kind, tile, 1, g, k) : 0;                    \
            }                                                                            \
            for (int r = 0; r < 4; r++)                                                  \
                c[r] = start(SUM, TYPE, kind, tile, g + r / 2 * 8, 2 * t + r % 2);       \
            if (SUM == SUM_F16) c[0] |= c[1] << 16, c[1] = c[2] | c[3] << 16;            \
            for (int r = 0; r < REGISTERS; r++) d[r] = c[r];                             \
            statement;                                                                   \
            for (int r = 0; r < 4; r++) {                                                \
                const uint32_t bits =                                                    \
                    SUM == SUM_F16 ? d[r / 2] >> r % 2 * 16 & 0xffff : d[r];             \
                note(&digest[kind], tile, g + r / 2 * 8, 2 * t + r % 2, bits);           \
            }                                                                            \
        }                                                                                \
    }

#define FLOATS                                                                           \
    float f[4];                                                                          \
    memcpy(f, d, sizeof f)
#define BACK memcpy(d, f, sizeof f)
#define FOUR(text)                                                                       \
    FLOATS;                                                                              \
    asm volatile(text " " D4 ", {%4, %5, %6, %7}, {%8, %9}, " D4 ";"                     \
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])                        \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));    \
    BACK
#define TWO(text)                                                                        \
    FLOATS;                                                                              \
    asm volatile(text " " D4 ", {%4, %5}, {%6}, " D4 ";"                                 \
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])                        \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));                                     \
    BACK

MMA(mma_bf16_k16, BF16, SUM_F32, 16, 4,
    FOUR("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"))
MMA(mma_bf16_k8, BF16, SUM_F32, 8, 4,
    TWO("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32"))
MMA(mma_f16_k16, F16, SUM_F32, 16, 4,
    FOUR("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"))
MMA(mma_f16_k8, F16, SUM_F32, 8, 4,
    TWO("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"))
MMA(mma_f16_k16_f16, F16, SUM_F16, 16, 2,
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 " D2
                 ", {%2, %3, %4, %5}, {%6, %7}, " D2 ";" : "+r"(d[0]),
                 "+r"(d[1]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                 "r"(b[1])))
MMA(mma_tf32_k8, TF32, SUM_F32, 8, 4,
    FOUR("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"))
MMA(mma_tf32_k4, TF32, SUM_F32, 4, 4,
    TWO("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32"))
MMA(mma_e4m3_k32, E4M3, SUM_F32, 32, 4,
    FOUR("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"))
MMA(mma_e5m2_k32, E5M2, SUM_F32, 32, 4,
    FOUR("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32"))
MMA(mma_s8_k32, S8, SUM_S32, 32, 4,
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 " D4
                 ", {%4, %5, %6, %7}, {%8, %9}, " D4 ";" : "+r"(d[0]),
                 "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]),
                 "r"(a[3]), "r"(b[0]), "r"(b[1])))

// ---- wgmma: m64n8k, four warps; both matrices in shared memory, without a swizzle ----

static __device__ uint64_t descriptor(const void *matrix, int rows)
{
    const uint64_t address = __cvta_generic_to_shared(matrix);
    return (address & 0x3ffff) >> 4 | (uint64_t)(rows / 8 * 128 >> 4) << 16 |
           (uint64_t)(128 >> 4) << 32;
}

static __device__ void store(uint32_t *to, int type, int kind, int tile, int matrix,
                             int rows)
{
    const int each = 32 / width_of(type); // a row has 32 bytes: eight words
    for (int w = threadIdx.x; w < rows * 8; w += blockDim.x) {
        const int i = w / 8, word = w % 8;
        const int at = i % 8 * 4 + i / 8 * 32 + word / 4 * rows / 8 * 32 + word % 4;
        to[at] = packed(type, kind, tile, matrix, i, word * each);
    }
}

#define WGMMA(name, TYPE, SUM, REGISTERS, statement)                                     \
    static __global__ void name(unsigned long long *digest)                              \
    {                                                                                    \
        __shared__ __align__(128) uint32_t a_tile[64 * 8], b_tile[8 * 8];                \
        const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;                   \
        const int row = threadIdx.x / 32 * 16 + g, kind = blockIdx.x;                    \
        for (int tile = 0; tile < TILES; tile++) {                                       \
            store(a_tile, TYPE, kind, tile, 0, 64);                                      \
            store(b_tile, TYPE, kind, tile, 1, 8);                                       \
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                 \
            __syncthreads();                                                             \
            const uint64_t a = descriptor(a_tile, 64), b = descriptor(b_tile, 8);        \
            uint32_t c[4], d[4];                                                         \
            for (int r = 0; r < 4; r++)                                                  \
                c[r] = start(SUM, TYPE, kind, tile, row + r / 2 * 8, 2 * t + r % 2);     \
            if (SUM == SUM_F16) c[0] |= c[1] << 16, c[1] = c[2] | c[3] << 16;            \
            for (int r = 0; r < REGISTERS; r++) d[r] = c[r];                             \
            float f[4];                                                                  \
            memcpy(f, d, sizeof f);                                                      \
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                      \
            statement;                                                                   \
            asm volatile("wgmma.commit_group.sync.aligned;\n"                            \
                         "wgmma.wait_group.sync.aligned 0;" ::                           \
                             : "memory");                                                \
            if (SUM == SUM_F32) memcpy(d, f, sizeof d);                                  \
            for (int r = 0; r < 4; r++) {                                                \
                const uint32_t bits =                                                    \
                    SUM == SUM_F16 ? d[r / 2] >> r % 2 * 16 & 0xffff : d[r];             \
                note(&digest[kind], tile, row + r / 2 * 8, 2 * t + r % 2, bits);         \
            }                                                                            \
            __syncthreads();                                                             \
        }                                                                                \
    }

#define INTO_FLOATS(text, rest)                                                          \
    asm volatile(text " " D4 ", %4, %5, " rest ";"                                       \
                 : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3])                        \
                 : "l"(a), "l"(b))

WGMMA(wgmma_bf16, BF16, SUM_F32, 4,
      INTO_FLOATS("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16", "1, 1, 1, 0, 0"))
WGMMA(wgmma_bf16_minus_a, BF16, SUM_F32, 4,
      INTO_FLOATS("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16",
                  "1, -1, 1, 0, 0"))
WGMMA(wgmma_bf16_from_zero, BF16, SUM_F32, 4,
      INTO_FLOATS("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16", "0, 1, 1, 0, 0"))
WGMMA(wgmma_f16, F16, SUM_F32, 4,
      INTO_FLOATS("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "1, 1, 1, 0, 0"))
WGMMA(wgmma_f16_f16, F16, SUM_F16, 2,
      asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 " D2
                   ", %2, %3, 1, 1, 1, 0, 0;" : "+r"(d[0]),
                   "+r"(d[1]) : "l"(a), "l"(b)))
WGMMA(wgmma_tf32, TF32, SUM_F32, 4,
      INTO_FLOATS("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32", "1, 1, 1"))
WGMMA(wgmma_e4m3, E4M3, SUM_F32, 4,
      INTO_FLOATS("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3", "1, 1, 1"))
WGMMA(wgmma_e5m2, E5M2, SUM_F32, 4,
      INTO_FLOATS("wgmma.mma_async.sync.aligned.m64n8k32.f32.e5m2.e5m2", "1, 1, 1"))
WGMMA(wgmma_e4m3_f16, E4M3, SUM_F16, 2,
      asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f16.e4m3.e4m3 " D2
                   ", %2, %3, 1, 1, 1;" : "+r"(d[0]),
                   "+r"(d[1]) : "l"(a), "l"(b)))
WGMMA(wgmma_s8, S8, SUM_S32, 4,
      asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 " D4
                   ", %4, %5, 1;" : "+r"(d[0]),
                   "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "l"(a), "l"(b)))

static void run(const char *name, void (*form)(unsigned long long *), int threads)
{
    static const char *const kinds[KINDS] = {"near",  "wide",    "window", "cancel",
                                             "small", "special", "zeros"};
    unsigned long long *device, host[KINDS];
    cudaMalloc(&device, sizeof host);
    cudaMemset(device, 0, sizeof host);
    form<<<KINDS, threads>>>(device);
    const cudaError_t error =
        cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(device);
    for (int kind = 0; kind < KINDS; kind++)
        if (error == cudaSuccess)
            printf("%s,%s,%016llx\n", name, kinds[kind], host[kind]);
        else
            printf("%s,%s,%s\n", name, kinds[kind], cudaGetErrorString(error));
}

int main(void)
{
    printf("form,inputs,digest\n");
#define RUN(form, threads) run(#form, form, threads)
    RUN(mma_bf16_k16, 32);
    RUN(mma_bf16_k8, 32);
    RUN(mma_f16_k16, 32);
    RUN(mma_f16_k8, 32);
    RUN(mma_f16_k16_f16, 32);
    RUN(mma_tf32_k8, 32);
    RUN(mma_tf32_k4, 32);
    RUN(mma_e4m3_k32, 32);
    RUN(mma_e5m2_k32, 32);
    RUN(mma_s8_k32, 32);
    RUN(wgmma_bf16, 128);
    RUN(wgmma_bf16_minus_a, 128);
    RUN(wgmma_bf16_from_zero, 128);
    RUN(wgmma_f16, 128);
    RUN(wgmma_f16_f16, 128);
    RUN(wgmma_tf32, 128);
    RUN(wgmma_e4m3, 128);
    RUN(wgmma_e5m2, 128);
    RUN(wgmma_e4m3_f16, 128);
    RUN(wgmma_s8, 128);
    return 0;
}
