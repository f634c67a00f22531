// ldmatrix, stmatrix and mma.sync: small whole numbers, whose sums are exact in every
// format, against a plain loop. So a wrong row, column or lane shows, and nothing else.
#include "ptx.h"

enum type { F16, BF16, TF32, E4M3, E5M2, S8, U8, S4, F64, B1 };

static __device__ int element(int matrix, int i, int k, type t)
{
    const int x = (i * 7 + k * 5 + matrix * 3 + i * k + (i + k) / 8 * 3 + k / 3) % 8;
    return t == B1 ? x & 1 : t == U8 ? x : x - 4;
}

static __device__ int start(int i, int j)
{
    return (i * 3 + j) % 5 - 2;
}

// The bits of a small whole number.
static __device__ unsigned coded(type t, int x)
{
    const unsigned f = __float_as_uint((float)x), sign = f >> 31,
                   exponent = (f >> 23 & 255) - 127, fraction = f & 0x7fffff;
    if (t == TF32) return f;
    if (t == BF16) return f >> 16;
    if (t == S8 || t == U8) return (unsigned)x & 255;
    if (t == S4) return (unsigned)x & 15;
    if (t == B1) return (unsigned)x;
    if (x == 0) return 0;
    if (t == F16) return sign << 15 | (exponent + 15) << 10 | fraction >> 13;
    if (t == E4M3) return sign << 7 | (exponent + 7) << 3 | fraction >> 20;
    return sign << 7 | (exponent + 15) << 2 | fraction >> 21;
}

static __device__ int width(type t)
{
    return t == TF32 ? 32 : t == F16 || t == BF16 ? 16 : t == S4 ? 4 : t == B1 ? 1 : 8;
}

// A register of the fragment: as many elements as fit, from k on.
static __device__ unsigned fragment(int matrix, int i, int k, type t)
{
    unsigned r = 0;
    for (int e = 0; e < 32 / width(t); e++)
        r |= coded(t, element(matrix, i, k + e, t)) << (e * width(t));
    return r;
}

static __device__ int product(int i, int j, int k_count, type t)
{
    int sum = start(i, j);
    for (int k = 0; k < k_count; k++)
        sum += t == B1 ? element(0, i, k, t) & element(1, j, k, t)
                       : element(0, i, k, t) * element(1, j, k, t);
    return sum;
}

// What every lane of a form does: fill A, B and C, call it, look at D.
#define FORM(name, M, K, TYPE, A_COUNT, B_COUNT, D_COUNT, T, CODE, ...)                  \
    static __device__ void name(void)                                                    \
    {                                                                                    \
        const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;                   \
        const int each = 32 / width(TYPE);                                               \
        unsigned a[A_COUNT], b[B_COUNT];                                                 \
        T d[D_COUNT];                                                                    \
        for (int r = 0; r < A_COUNT; r++)                                                \
            a[r] = fragment(0, M == 8 ? g : g + 8 * (r % 2),                             \
                            (M == 8 ? r : r / 2) * 4 * each + t * each, TYPE);           \
        for (int r = 0; r < B_COUNT; r++)                                                \
            b[r] = fragment(1, g, (r * 4 + t) * each, TYPE);                             \
        for (int r = 0; r < D_COUNT; r++)                                                \
            d[r] = (T)start(g + 8 * (r / 2), 2 * t + r % 2);                             \
        asm volatile(CODE __VA_ARGS__);                                                  \
        for (int r = 0; r < D_COUNT; r++)                                                \
            IS((unsigned)(int)d[r],                                                      \
               (unsigned)product(g + 8 * (r / 2), 2 * t + r % 2, K, TYPE));              \
    }

#define WIDE " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
#define NARROW " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
#define EIGHT " {%0, %1}, {%2}, {%3}, {%0, %1};"
#define WIDE_ARGUMENTS(c)                                                                \
    : "+" c(d[0]), "+" c(d[1]), "+" c(d[2]), "+" c(d[3])                                 \
    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1])
#define NARROW_ARGUMENTS(c)                                                              \
    : "+" c(d[0]), "+" c(d[1]), "+" c(d[2]), "+" c(d[3])                                 \
    : "r"(a[0]), "r"(a[1]), "r"(b[0])
#define EIGHT_ARGUMENTS : "+r"(d[0]), "+r"(d[1]) : "r"(a[0]), "r"(b[0])

FORM(f16_k16, 16, 16, F16, 4, 2, 4, float,
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" WIDE WIDE_ARGUMENTS("f"))
FORM(f16_k8, 16, 8, F16, 2, 1, 4, float,
     "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32" NARROW NARROW_ARGUMENTS("f"))
FORM(bf16_k16, 16, 16, BF16, 4, 2, 4, float,
     "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" WIDE WIDE_ARGUMENTS("f"))
FORM(bf16_k8, 16, 8, BF16, 2, 1, 4, float,
     "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32" NARROW NARROW_ARGUMENTS("f"))
FORM(tf32_k8, 16, 8, TF32, 4, 2, 4, float,
     "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" WIDE WIDE_ARGUMENTS("f"))
FORM(tf32_k4, 16, 4, TF32, 2, 1, 4, float,
     "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32" NARROW NARROW_ARGUMENTS("f"))
FORM(e4m3_k32, 16, 32, E4M3, 4, 2, 4, float,
     "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32" WIDE WIDE_ARGUMENTS("f"))
FORM(e5m2_k32, 16, 32, E5M2, 4, 2, 4, float,
     "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32" WIDE WIDE_ARGUMENTS("f"))
FORM(s8_k32, 16, 32, S8, 4, 2, 4, int,
     "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32" WIDE WIDE_ARGUMENTS("r"))
FORM(u8_k16, 16, 16, U8, 2, 1, 4, int,
     "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.u8.u8.s32" NARROW NARROW_ARGUMENTS(
         "r"))
FORM(s8_m8, 8, 16, S8, 1, 1, 2, int,
     "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32" EIGHT EIGHT_ARGUMENTS)
FORM(s4_k64, 16, 64, S4, 4, 2, 4, int,
     "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32" WIDE WIDE_ARGUMENTS("r"))
FORM(s4_m8, 8, 32, S4, 1, 1, 2, int,
     "mma.sync.aligned.m8n8k32.row.col.s32.s4.s4.s32" EIGHT EIGHT_ARGUMENTS)
FORM(b1_k256, 16, 256, B1, 4, 2, 4, int,
     "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc" WIDE WIDE_ARGUMENTS("r"))

static __device__ void f64_forms(void)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    double a[8], b[4], c[4];
    for (int r = 0; r < 8; r++) a[r] = element(0, g + 8 * (r % 2), r / 2 * 4 + t, F64);
    for (int r = 0; r < 4; r++) b[r] = element(1, g, r * 4 + t, F64);
    for (int r = 0; r < 4; r++) c[r] = start(g + 8 * (r / 2), 2 * t + r % 2);
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3},"
                 " {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15},"
                 " {%0, %1, %2, %3};"
                 : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
                 : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]),
                   "d"(a[6]), "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
    for (int r = 0; r < 4; r++)
        IS((unsigned)(int)c[r],
           (unsigned)product(g + 8 * (r / 2), 2 * t + r % 2, 16, F64));
    double x = start(g, 2 * t), y = start(g, 2 * t + 1);
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3},"
                 " {%0, %1};"
                 : "+d"(x), "+d"(y)
                 : "d"(a[0]), "d"(b[0]));
    IS((unsigned)(int)x, (unsigned)product(g, 2 * t, 4, F64));
    IS((unsigned)(int)y, (unsigned)product(g, 2 * t + 1, 4, F64));
}

// Sums in fp16: two in a register.
static __device__ void f16_sums(void)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    unsigned a[4], b[2], d[2];
    for (int r = 0; r < 4; r++)
        a[r] = fragment(0, g + 8 * (r % 2), r / 2 * 8 + 2 * t, F16);
    for (int r = 0; r < 2; r++) b[r] = fragment(1, g, r * 8 + 2 * t, F16);
    for (int r = 0; r < 2; r++)
        d[r] = coded(F16, start(g + 8 * r, 2 * t)) |
               coded(F16, start(g + 8 * r, 2 * t + 1)) << 16;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1},"
                 " {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
                 : "+r"(d[0]), "+r"(d[1])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    for (int r = 0; r < 2; r++)
        IS(d[r], coded(F16, product(g + 8 * r, 2 * t, 16, F16)) |
                     coded(F16, product(g + 8 * r, 2 * t + 1, 16, F16)) << 16);
}

// Four matrices of 8 x 8, whose element is 64 times the matrix + 8 times the row +
// column.
static __device__ void moves(void)
{
    __shared__ __align__(16) unsigned short tile[4][8][8], back[4][8][8];
    const unsigned lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    for (unsigned c = 0; c < 8; c++) {
        tile[lane / 8][lane % 8][c] = (unsigned short)(lane * 8 + c);
        back[lane / 8][lane % 8][c] = 0;
    }
    __syncwarp();
    const unsigned row = (unsigned)__cvta_generic_to_shared(tile[lane / 8][lane % 8]),
                   to = (unsigned)__cvta_generic_to_shared(back[lane / 8][lane % 8]);
    unsigned r[4], s[2], u;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row));
    for (unsigned m = 0; m < 4; m++) {
        const unsigned first = 64 * m + 8 * g + 2 * t;
        IS(r[m], first | (first + 1) << 16);
    }
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared::cta.trans.b16 {%0, %1}, [%2];"
                 : "=r"(s[0]), "=r"(s[1])
                 : "r"(row));
    for (unsigned m = 0; m < 2; m++) {
        const unsigned first = 64 * m + 8 * 2 * t + g;
        IS(s[m], first | (first + 8) << 16);
    }
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.b16 {%0}, [%1];"
                 : "=r"(u)
                 : "l"(tile[3][lane % 8]));
    IS(u, (192 + 8 * g + 2 * t) | (193 + 8 * g + 2 * t) << 16);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
            to),
        "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
        : "memory");
    __syncwarp();
    for (unsigned m = 0; m < 4; m++) IS(back[m][t][g], 64 * m + 8 * g + t);
    __syncwarp();
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0 + 256], {%1, %2};" ::"r"(to),
        "r"(r[1]), "r"(r[0])
        : "memory");
    __syncwarp();
    IS(back[2][g][t], 64 + 8 * g + t);
    IS(back[3][g][t], 8 * g + t);
    IS(back[1][t][g], 64 + 8 * g + t);
#endif
}

__global__ void matrices(void)
{
    f16_k16();
    f16_k8();
    f16_sums();
    bf16_k16();
    bf16_k8();
    tf32_k8();
    tf32_k4();
    e4m3_k32();
    e5m2_k32();
    s8_k32();
    u8_k16();
    s8_m8();
    s4_k64();
    s4_m8();
    b1_k256();
    f64_forms();
    moves();
}

int main(void)
{
    matrices<<<1, 32>>>();
    return verdict();
}
