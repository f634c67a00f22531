// wgmma in its forms: types, layouts in shared memory, A in registers, scales; small whole
// numbers, whose sums are exact, against a plain loop.
#include "ptx.h"

enum type { F16, BF16, TF32, E4M3, S8, U8 };

const int M = 64, N = 16, STEPS = 4; // a row holds STEPS times the 32 bytes of one wgmma

static __device__ int element(int matrix, int i, int k, type t)
{
    const int x = (i * 7 + k * 5 + matrix * 3 + i * k + (i + k) / 8 * 3 + k / 3) % 8;
    return t == U8 ? x : x - 4;
}

static __device__ unsigned coded(type t, int x)
{
    const unsigned f = __float_as_uint((float)x), sign = f >> 31,
                   exponent = (f >> 23 & 255) - 127, fraction = f & 0x7fffff;
    if (t == TF32) return f;
    if (t == BF16) return f >> 16;
    if (t == S8 || t == U8) return (unsigned)x & 255;
    if (x == 0) return 0;
    if (t == F16) return sign << 15 | (exponent + 15) << 10 | fraction >> 13;
    return sign << 7 | (exponent + 7) << 3 | fraction >> 20;
}

static __device__ int size_of(type t)
{
    return t == TF32 ? 4 : t == F16 || t == BF16 ? 2 : 1;
}

// A matrix in shared memory, and what describes it.
struct layout {
    int swizzle;     // 0: none; 1, 2, 3: 32, 64, 128 bytes
    bool transposed; // elements with the same k lie side by side
    int leading, stride;
};

static __device__ layout layout_of(int swizzle, bool transposed, int rows, int k_count)
{
    const int width = 16 << swizzle;
    if (!transposed)
        return swizzle ? layout{swizzle, false, 16, 8 * width}
                       : layout{0, false, rows / 8 * 128, 128};
    return swizzle ? layout{swizzle, true, k_count / 8 * 8 * width, 8 * width}
                   : layout{0, true, 128 * (rows / 8), 128};
}

// The byte at which element (i, k) begins; rows of K-major matrices are a swizzle wide, and
// what does not fit into them lies in another block, `rows` rows further.
static __device__ int place(const layout &l, int i, int k, int bytes, int rows)
{
    const int width = 16 << l.swizzle, at = k * bytes;
    int p;
    if (!l.transposed && l.swizzle)
        p = at / width * rows * width + i * width + at % width;
    else if (!l.transposed)
        p = i % 8 * 16 + i / 8 * l.stride + at / 16 * l.leading + at % 16;
    else if (l.swizzle)
        p = i * 2 % width + k % 8 * width + k / 8 * l.stride + i * 2 / width * l.leading;
    else
        p = i % 8 * 2 + k % 8 * 16 + i / 8 * l.stride + k / 8 * l.leading;
    const int mask = l.swizzle == 3 ? 7 : l.swizzle == 2 ? 3 : l.swizzle;
    return p ^ (p >> 7 & mask) << 4;
}

// The descriptor of the part that begins with k.
static __device__ unsigned long long descriptor(const void *matrix, const layout &l,
                                                int k, int bytes, int rows)
{
    const int width = 16 << l.swizzle, at = k * bytes;
    int start;
    if (!l.transposed && l.swizzle)
        start = at / width * rows * width + at % width;
    else if (!l.transposed)
        start = at / 16 * l.leading;
    else
        start = l.swizzle ? k / 8 * l.stride : k / 8 * l.leading;
    const unsigned address = (unsigned)__cvta_generic_to_shared(matrix) + (unsigned)start;
    const unsigned long long modes[] = {0, 3, 2, 1};
    return (address & 0x3ffff) >> 4 | (unsigned long long)(l.leading >> 4) << 16 |
           (unsigned long long)(l.stride >> 4) << 32 | modes[l.swizzle] << 62;
}

static __device__ void store(unsigned char *to, unsigned x, int bytes)
{
    for (int b = 0; b < bytes; b++) to[b] = (unsigned char)(x >> 8 * b);
}

#define D8 "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define SUMS(c)                                                                          \
    "+" c(d[0]), "+" c(d[1]), "+" c(d[2]), "+" c(d[3]), "+" c(d[4]), "+" c(d[5]),        \
        "+" c(d[6]), "+" c(d[7])
#define PREDICATE "{.reg .pred p; setp.ne.b32 p, %10, 0;\n"
#define REGISTERS "{%8, %9, %10, %11}"

// The statement for a type; scale-d is a predicate.
template <type T, bool TA, bool TB> struct multiply;
#define FLOATS(T, text)                                                                  \
    template <> struct multiply<T, false, false> {                                       \
        static __device__ void run(float (&d)[8], unsigned long long a,                  \
                                   unsigned long long b, int add)                        \
        {                                                                                \
            asm volatile(PREDICATE "wgmma.mma_async.sync.aligned." text " " D8           \
                                   ", %8, %9, p, 1, 1;}"                                 \
                         : SUMS("f")                                                     \
                         : "l"(a), "l"(b), "r"(add));                                    \
        }                                                                                \
    }
FLOATS(TF32, "m64n16k8.f32.tf32.tf32");
FLOATS(E4M3, "m64n16k32.f32.e4m3.e4m3");
#define HALVES(T, text, TA, TB)                                                          \
    template <> struct multiply<T, TA, TB> {                                             \
        static __device__ void run(float (&d)[8], unsigned long long a,                  \
                                   unsigned long long b, int add)                        \
        {                                                                                \
            asm volatile(PREDICATE "wgmma.mma_async.sync.aligned." text " " D8           \
                                   ", %8, %9, p, %11, %12, %13, %14;}"                   \
                         : SUMS("f")                                                     \
                         : "l"(a), "l"(b), "r"(add), "n"(1), "n"(1), "n"(TA ? 1 : 0),    \
                           "n"(TB ? 1 : 0));                                             \
        }                                                                                \
    }
HALVES(BF16, "m64n16k16.f32.bf16.bf16", false, false);
HALVES(BF16, "m64n16k16.f32.bf16.bf16", false, true);
HALVES(BF16, "m64n16k16.f32.bf16.bf16", true, false);
HALVES(F16, "m64n16k16.f32.f16.f16", false, false);
HALVES(F16, "m64n16k16.f32.f16.f16", true, true);
#define WHOLE(T, text)                                                                   \
    template <> struct multiply<T, false, false> {                                       \
        static __device__ void run(int (&d)[8], unsigned long long a,                    \
                                   unsigned long long b, int add)                        \
        {                                                                                \
            asm volatile(PREDICATE "wgmma.mma_async.sync.aligned." text " " D8           \
                                   ", %8, %9, p;}"                                       \
                         : SUMS("r")                                                     \
                         : "l"(a), "l"(b), "r"(add));                                    \
        }                                                                                \
    }
WHOLE(S8, "m64n16k32.s32.s8.s8");
WHOLE(U8, "m64n16k32.s32.u8.s8.satfinite");

static __device__ void fence(void)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

template <class Sum> static __device__ void finish(Sum &)
{
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::
                     : "memory");
}
// Ties the sums to the wait, as CUTLASS does, so that the compiler reads none before.
static __device__ void finish(float (&d)[8])
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : SUMS("f")::"memory");
}

template <type T, bool TA, bool TB, class Sum>
static __device__ void product(unsigned char *a_bytes, unsigned char *b_bytes,
                               int swizzle)
{
    const int bytes = size_of(T), step = 32 / bytes, k_count = STEPS * step;
    const int t = threadIdx.x, row = t / 32 * 16 + t % 32 / 4, col = t % 4 * 2;
    const type TYPE_B = T == U8 ? S8 : T;
    const layout a = layout_of(swizzle, TA, M, k_count),
                 b = layout_of(swizzle, TB, N, k_count);
    for (int i = t; i < M * k_count; i += blockDim.x)
        store(a_bytes + place(a, i / k_count, i % k_count, bytes, M),
              coded(T, element(0, i / k_count, i % k_count, T)), bytes);
    for (int i = t; i < N * k_count; i += blockDim.x)
        store(b_bytes + place(b, i / k_count, i % k_count, bytes, N),
              coded(TYPE_B, element(1, i / k_count, i % k_count, TYPE_B)), bytes);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    Sum d[8];
    for (int i = 0; i < 8; i++) d[i] = (Sum)1000; // dropped by the first
    fence();
    for (int s = 0; s < STEPS; s++)
        multiply<T, TA, TB>::run(d, descriptor(a_bytes, a, s * step, bytes, M),
                                 descriptor(b_bytes, b, s * step, bytes, N), s > 0);
    finish(d);
    for (int i = 0; i < 8; i++) {
        const int r = row + (i >> 1 & 1) * 8, c = i / 4 * 8 + col + (i & 1);
        int sum = 0;
        for (int k = 0; k < k_count; k++)
            sum += element(0, r, k, T) * element(1, c, k, TYPE_B);
        IS((unsigned)(int)d[i], (unsigned)sum);
    }
    __syncthreads();
}

// A from registers; the products subtracted; sums of fp16.
static __device__ void others(unsigned char *b_bytes)
{
    const int t = threadIdx.x, g = t % 32 / 4, row = t / 32 * 16 + g, quad = t % 4;
    const layout b = layout_of(3, false, N, 64);
    for (int i = t; i < N * 64; i += blockDim.x)
        store(b_bytes + place(b, i / 64, i % 64, 2, N),
              coded(F16, element(1, i / 64, i % 64, F16)), 2);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    unsigned a[4], d[4];
    for (int r = 0; r < 4; r++) {
        const int i = row + r % 2 * 8, k = (r / 2 * 4 + quad) * 2;
        a[r] = coded(F16, element(0, i, k, F16)) | coded(F16, element(0, i, k + 1, F16))
                                                       << 16;
        d[r] = 0x3c003c00;
    }
    asm volatile("" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])::"memory");
    fence();
    asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {%0, %1, %2, %3},"
                 " {%4, %5, %6, %7}, %8, 1, -1, 1, 0;"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
                   "l"(descriptor(b_bytes, b, 0, 2, N)));
    finish(d);
    for (int r = 0; r < 4; r++) {
        const int i = row + r % 2 * 8, c = r / 2 * 8 + 2 * quad;
        int low = 1, high = 1;
        for (int k = 0; k < 16; k++) {
            low -= element(0, i, k, F16) * element(1, c, k, F16);
            high -= element(0, i, k, F16) * element(1, c + 1, k, F16);
        }
        IS(d[r], coded(F16, low) | coded(F16, high) << 16);
    }
    __syncthreads();
}

__global__ void products(void)
{
    __shared__ __align__(1024) unsigned char a[M * STEPS * 32], b[N * STEPS * 32];
    for (int swizzle = 0; swizzle < 4; swizzle++) {
        product<BF16, false, false, float>(a, b, swizzle);

        product<BF16, true, false, float>(a, b, swizzle);

        product<F16, false, false, float>(a, b, swizzle);
        product<TF32, false, false, float>(a, b, swizzle);
        product<E4M3, false, false, float>(a, b, swizzle);
        product<S8, false, false, int>(a, b, swizzle);
        product<U8, false, false, int>(a, b, swizzle);
    }
    for (int swizzle = 0; swizzle < 2; swizzle++) { // 16 columns are 32 bytes
        product<BF16, false, true, float>(a, b, swizzle);
        product<F16, true, true, float>(a, b, swizzle);
    }
    others(b);
}

int main(void)
{
    products<<<1, 128>>>();
    return verdict();
}
