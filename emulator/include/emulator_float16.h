/* Numbers of 16 bits: IEEE half (fp16) and bfloat16, and what both have in common.
 * Arithmetic converts to wider types and rounds once at the end, to nearest, ties to
 * even, as the hardware does. */
#ifndef EMULATOR_FLOAT16_H
#define EMULATOR_FLOAT16_H

/* Rounds to a format with `fraction` bits behind the point, smallest normal exponent
 * `least`, infinity `infinity`. */
static inline unsigned short emu_round16(double x, int fraction, int least,
                                         unsigned infinity)
{
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    unsigned sign = (unsigned)(bits >> 63) << 15;
    bits &= ~0ull >> 1;
    int exponent = (int)(bits >> 52) - 1023;
    if (exponent == 1024) return (unsigned short)(bits << 12 ? 0x7fff : sign | infinity);

    unsigned long long significand = (bits & ((1ull << 52) - 1)) | 1ull << 52;
    int drop = 52 - fraction + (exponent < least ? least - exponent : 0);
    if (drop > 54) return (unsigned short)sign;
    unsigned long long kept = significand >> drop, middle = 1ull << (drop - 1);
    unsigned long long rest = significand & ((1ull << drop) - 1);
    kept += rest > middle || (rest == middle && (kept & 1));
    if (exponent > least) kept += (unsigned long long)(exponent - least) << fraction;
    return (unsigned short)(sign | (kept < infinity ? (unsigned)kept : infinity));
}

static inline unsigned short emu_half_bits(double x)
{
    return emu_round16(x, 10, -14, 0x7c00);
}

static inline unsigned short emu_bfloat16_bits(double x)
{
    return emu_round16(x, 7, -126, 0x7f80);
}

static inline float emu_float_of_bits(unsigned bits)
{
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float emu_float_of_half(unsigned short h)
{
    unsigned sign = (h & 0x8000u) << 16, rest = h & 0x7fff;
    if (rest >= 0x7c00) return emu_float_of_bits(sign | 0x7f800000 | rest << 13);
    if (rest >= 0x400) return emu_float_of_bits(sign | ((rest << 13) + (112u << 23)));
    if (rest == 0) return emu_float_of_bits(sign);
    /* Subnormal: its first bit becomes the one before the point. */
    unsigned first = 31 - (unsigned)__builtin_clz(rest);
    return emu_float_of_bits(sign | (((102 + first) << 23) + (rest << (23 - first))));
}

static inline float emu_float_of_bfloat16(unsigned short b)
{
    return emu_float_of_bits((unsigned)b << 16);
}

/* Integers of more than 53 bits, rounded to odd: what is cut off survives in the last bit,
 * so that rounding again to 16 bits gives what one rounding would have. */
static inline double emu_to_odd(unsigned long long x)
{
    return x >> 53 ? (double)(x >> 11 | ((x & 2047) != 0)) * 2048.0 : (double)x;
}

#ifdef __cplusplus

#include "emulator_math.h"

#include "cuda_runtime.h"

static inline double emu_to_odd(long long x)
{
    return x < 0 ? -emu_to_odd(0 - (unsigned long long)x)
                 : emu_to_odd((unsigned long long)x);
}
static inline double emu_to_odd(unsigned long x)
{
    return emu_to_odd((unsigned long long)x);
}
static inline double emu_to_odd(long x)
{
    return emu_to_odd((long long)x);
}

/* An operation on numbers of 16 bits, so that rounding the result gives what one rounding
 * would have. They are functions for the sake of the lens, which counts the calls: what
 * else it takes here to convert and round is not the program's. */
extern "C" {
double emu_add16(double a, double b);
double emu_sub16(double a, double b);
double emu_mul16(double a, double b);
double emu_div16(double a, double b);
double emu_fma16(double a, double b, double c);
}

EMU_FN bool emu_unordered(float a, float b)
{
    return a != a || b != b;
}

/* The scalar type T, the pair T2, and all that has the same name for both formats. */
#define EMU_FLOAT16_TYPES(T_, T2, Raw, Raw2, to_bits, to_float)                          \
    struct __align__(2) Raw {                                                            \
        unsigned short x;                                                                \
    };                                                                                   \
    struct __align__(4) Raw2 {                                                           \
        unsigned short x, y;                                                             \
    };                                                                                   \
    struct __align__(2) T_ {                                                             \
        unsigned short __x;                                                              \
        T_() = default;                                                                  \
        T_(float x) : __x(to_bits(x))                                                    \
        {                                                                                \
        }                                                                                \
        T_(double x) : __x(to_bits(x))                                                   \
        {                                                                                \
        }                                                                                \
        T_(int x) : __x(to_bits(x))                                                      \
        {                                                                                \
        }                                                                                \
        T_(unsigned x) : __x(to_bits(x))                                                 \
        {                                                                                \
        }                                                                                \
        T_(long x) : __x(to_bits(emu_to_odd(x)))                                         \
        {                                                                                \
        }                                                                                \
        T_(unsigned long x) : __x(to_bits(emu_to_odd(x)))                                \
        {                                                                                \
        }                                                                                \
        T_(long long x) : __x(to_bits(emu_to_odd(x)))                                    \
        {                                                                                \
        }                                                                                \
        T_(unsigned long long x) : __x(to_bits(emu_to_odd(x)))                           \
        {                                                                                \
        }                                                                                \
        T_(short x) : __x(to_bits(x))                                                    \
        {                                                                                \
        }                                                                                \
        T_(unsigned short x) : __x(to_bits(x))                                           \
        {                                                                                \
        }                                                                                \
        T_(Raw bits) : __x(bits.x)                                                       \
        {                                                                                \
        }                                                                                \
        operator Raw() const                                                             \
        {                                                                                \
            return Raw{__x};                                                             \
        }                                                                                \
        operator float() const                                                           \
        {                                                                                \
            return to_float(__x);                                                        \
        }                                                                                \
    };                                                                                   \
    struct __align__(4) T2 {                                                             \
        T_ x, y;                                                                         \
        EMU_ONE_ACCESS(T2, 4)                                                            \
        T2(T_ low, T_ high) : x(low), y(high)                                            \
        {                                                                                \
        }                                                                                \
        T2(Raw2 bits) : x(Raw{bits.x}), y(Raw{bits.y})                                   \
        {                                                                                \
        }                                                                                \
        operator Raw2() const                                                            \
        {                                                                                \
            return Raw2{x.__x, y.__x};                                                   \
        }                                                                                \
    };

#define EMU_FLOAT16_BINARY(T_, T2, op, compute, name, name2)                             \
    EMU_IS(T_, operator op, (const T_ &a, const T_ &b), T_(compute((float)a, (float)b))) \
    EMU_IS(T_ &, operator op##=, (T_ & a, const T_ &b), a = a op b)                      \
    EMU_IS(T_, name, (T_ a, T_ b), a op b)                                               \
    EMU_IS(T_, name##_rn, (T_ a, T_ b), a op b)                                          \
    EMU_IS(T2, operator op, (const T2 &a, const T2 &b), T2(a.x op b.x, a.y op b.y))      \
    EMU_IS(T2 &, operator op##=, (T2 & a, const T2 &b), a = a op b)                      \
    EMU_IS(T2, name2, (T2 a, T2 b), a op b)                                              \
    EMU_IS(T2, name2##_rn, (T2 a, T2 b), a op b)

/* Before and behind. */
#define EMU_FLOAT16_STEP(T_, op, one)                                                    \
    EMU_IS(T_ &, operator op##op, (T_ & a), a = a op one)                                \
    EMU_FN T_ operator op##op(T_ &a, int)                                                \
    {                                                                                    \
        const T_ before = a;                                                             \
        op##op a;                                                                        \
        return before;                                                                   \
    }

/* A comparison: __heq and, where a NaN makes it true, __hequ; of pairs, each by itself, as
 * numbers or as masks, or whether it is so of both. */
#define EMU_FLOAT16_COMPARE(T_, T2, op, name, operators)                                 \
    EMU_FLOAT16_COMPARE_AS(T_, T2, __h##name, __hb##name, !emu_unordered(a, b) &&, op)   \
    EMU_FLOAT16_COMPARE_AS(T_, T2, __h##name##u, __hb##name##u, emu_unordered(a, b) ||,  \
                           op)                                                           \
    EMU_IS(bool, operator op, (const T_ &a, const T_ &b), (float)a op(float) b)          \
    EMU_IS(bool, operator op, (const T2 &a, const T2 &b), operators(a, b))
#define EMU_FLOAT16_COMPARE_AS(T_, T2, name, both, and_or, op)                           \
    EMU_IS(bool, name, (T_ a, T_ b), and_or((float)a op(float) b))                       \
    EMU_IS(T2, name##2, (T2 a, T2 b),                                                    \
           T2(T_((int)name(a.x, b.x)), T_((int)name(a.y, b.y))))                         \
    EMU_IS(unsigned, name##2_mask, (T2 a, T2 b),                                         \
           (name(a.x, b.x) ? 0xffffu : 0u) | (name(a.y, b.y) ? 0xffff0000u : 0u))        \
    EMU_IS(bool, both##2, (T2 a, T2 b), name(a.x, b.x) && name(a.y, b.y))

#define EMU_FLOAT16_MATH(T_, T2, name, expression)                                       \
    EMU_FN T_ h##name(T_ a)                                                              \
    {                                                                                    \
        float x = a;                                                                     \
        return T_(expression);                                                           \
    }                                                                                    \
    EMU_IS(T2, h2##name, (T2 a), T2(h##name(a.x), h##name(a.y)))

/* From 0 to 1; a NaN becomes 0. */
#define EMU_FLOAT16_SATURATED(T_, T2, name, name2)                                       \
    EMU_IS(T_, name##_sat, (T_ a, T_ b), T_(fminf(fmaxf(name(a, b), 0.0f), 1.0f)))       \
    EMU_IS(T2, name2##_sat, (T2 a, T2 b), T2(name##_sat(a.x, b.x), name##_sat(a.y, b.y)))

#define EMU_FLOAT16_OR_NAN(T_, T2, name)                                                 \
    EMU_IS(T_, name##_nan, (T_ a, T_ b), a != a || b != b ? T_(NAN) : name(a, b))        \
    EMU_IS(T2, name##2_nan, (T2 a, T2 b), T2(name##_nan(a.x, b.x), name##_nan(a.y, b.y)))

/* a * b + c, and what a suffix makes of it. */
#define EMU_FLOAT16_FMA(T_, T2, suffix, expression)                                      \
    EMU_IS(T_, __hfma##suffix, (T_ a, T_ b, T_ c), expression)                           \
    EMU_IS(T2, __hfma2##suffix, (T2 a, T2 b, T2 c),                                      \
           T2(__hfma##suffix(a.x, b.x, c.x), __hfma##suffix(a.y, b.y, c.y)))

#define EMU_FLOAT16_FUNCTIONS(T_, T2)                                                    \
    EMU_FLOAT16_BINARY(T_, T2, +, emu_add16, __hadd, __hadd2)                            \
    EMU_FLOAT16_BINARY(T_, T2, -, emu_sub16, __hsub, __hsub2)                            \
    EMU_FLOAT16_BINARY(T_, T2, *, emu_mul16, __hmul, __hmul2)                            \
    EMU_FLOAT16_BINARY(T_, T2, /, emu_div16, __hdiv, __h2div)                            \
    EMU_FLOAT16_STEP(T_, +, T_(1))                                                       \
    EMU_FLOAT16_STEP(T_, -, T_(1))                                                       \
    EMU_FLOAT16_STEP(T2, +, T2(T_(1), T_(1)))                                            \
    EMU_FLOAT16_STEP(T2, -, T2(T_(1), T_(1)))                                            \
    EMU_FLOAT16_COMPARE(T_, T2, ==, eq, __hbeq2)                                         \
    EMU_FLOAT16_COMPARE(T_, T2, !=, ne, __hbneu2)                                        \
    EMU_FLOAT16_COMPARE(T_, T2, <, lt, __hblt2)                                          \
    EMU_FLOAT16_COMPARE(T_, T2, <=, le, __hble2)                                         \
    EMU_FLOAT16_COMPARE(T_, T2, >, gt, __hbgt2)                                          \
    EMU_FLOAT16_COMPARE(T_, T2, >=, ge, __hbge2)                                         \
    EMU_FN T_ operator+(const T_ &a)                                                     \
    {                                                                                    \
        return a;                                                                        \
    }                                                                                    \
    EMU_FN T_ operator-(const T_ &a)                                                     \
    {                                                                                    \
        T_ r = a;                                                                        \
        r.__x ^= 0x8000;                                                                 \
        return r;                                                                        \
    }                                                                                    \
    EMU_IS(T_, __hneg, (T_ a), -a)                                                       \
    EMU_FN T_ __habs(T_ a)                                                               \
    {                                                                                    \
        a.__x &= 0x7fff;                                                                 \
        return a;                                                                        \
    }                                                                                    \
    EMU_FN T2 operator+(const T2 &a)                                                     \
    {                                                                                    \
        return a;                                                                        \
    }                                                                                    \
    EMU_FN T2 operator-(const T2 &a)                                                     \
    {                                                                                    \
        return T2(-a.x, -a.y);                                                           \
    }                                                                                    \
    EMU_IS(T2, __hneg2, (T2 a), -a)                                                      \
    EMU_IS(T2, __habs2, (T2 a), T2(__habs(a.x), __habs(a.y)))                            \
    EMU_FLOAT16_FMA(T_, T2, , T_(emu_fma16((float)a, (float)b, (float)c)))               \
    EMU_IS(T_, __hmax, (T_ a, T_ b), T_(fmaxf(a, b)))                                    \
    EMU_IS(T_, __hmin, (T_ a, T_ b), T_(fminf(a, b)))                                    \
    EMU_IS(T2, __hmax2, (T2 a, T2 b), T2(__hmax(a.x, b.x), __hmax(a.y, b.y)))            \
    EMU_IS(T2, __hmin2, (T2 a, T2 b), T2(__hmin(a.x, b.x), __hmin(a.y, b.y)))            \
    EMU_IS(bool, __hisnan, (T_ a), a != a)                                               \
    EMU_IS(int, __hisinf, (T_ a), isinf((float)a) ? (a > T_(0) ? 1 : -1) : 0)            \
    EMU_FLOAT16_MATH(T_, T2, sqrt, sqrt((double)x))                                      \
    EMU_FLOAT16_MATH(T_, T2, rsqrt, 1.0 / sqrt((double)x))                               \
    EMU_FLOAT16_MATH(T_, T2, rcp, 1.0 / (double)x)                                       \
    EMU_FLOAT16_MATH(T_, T2, exp, exp((double)x))                                        \
    EMU_FLOAT16_MATH(T_, T2, exp2, exp2((double)x))                                      \
    EMU_FLOAT16_MATH(T_, T2, log, log((double)x))                                        \
    EMU_FLOAT16_MATH(T_, T2, log2, log2((double)x))                                      \
    EMU_FLOAT16_MATH(T_, T2, sin, sin((double)x))                                        \
    EMU_FLOAT16_MATH(T_, T2, cos, cos((double)x))                                        \
    EMU_FLOAT16_MATH(T_, T2, tanh, tanh((double)x))                                      \
    EMU_FLOAT16_MATH(T_, T2, tanh_approx, tanh((double)x))                               \
    EMU_FLOAT16_MATH(T_, T2, floor, floorf(x))                                           \
    EMU_FLOAT16_MATH(T_, T2, ceil, ceilf(x))                                             \
    EMU_FLOAT16_MATH(T_, T2, trunc, truncf(x))                                           \
    EMU_FLOAT16_MATH(T_, T2, rint, rintf(x))                                             \
    EMU_FLOAT16_MATH(T_, T2, exp10, exp10((double)x))                                    \
    EMU_FLOAT16_MATH(T_, T2, log10, log10((double)x))                                    \
    EMU_FLOAT16_SATURATED(T_, T2, __hadd, __hadd2)                                       \
    EMU_FLOAT16_SATURATED(T_, T2, __hsub, __hsub2)                                       \
    EMU_FLOAT16_SATURATED(T_, T2, __hmul, __hmul2)                                       \
    EMU_FLOAT16_OR_NAN(T_, T2, __hmax)                                                   \
    EMU_FLOAT16_OR_NAN(T_, T2, __hmin)                                                   \
    EMU_IS(T2, __hisnan2, (T2 a), T2(T_((int)__hisnan(a.x)), T_((int)__hisnan(a.y))))    \
    EMU_FLOAT16_FMA(T_, T2, _relu, __hmax_nan(__hfma(a, b, c), T_(0)))                   \
    EMU_FLOAT16_FMA(T_, T2, _sat, T_(fminf(fmaxf(__hfma(a, b, c), 0.0f), 1.0f)))         \
    EMU_IS(T2, __hcmadd, (T2 a, T2 b, T2 c),                                             \
           T2(__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)),                                  \
              __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))))                                  \
    EMU_IS(float, __low2float, (T2 a), a.x)                                              \
    EMU_IS(float, __high2float, (T2 a), a.y)

/* In a chosen direction: the nearest number, or that beside it which does not lie above x,
 * or not below. Rounding keeps the sign, so more bits are a larger magnitude. What is
 * converted is exact in double. */
#define EMU_FLOAT16_DIRECTED(T_, name, From)                                             \
    EMU_FN T_ name##_rd(From x)                                                          \
    {                                                                                    \
        T_ h((double)x);                                                                 \
        if ((double)(float)h > (double)x)                                                \
            h.__x = (unsigned short)(h.__x + (h.__x & 0x8000 ? 1 : -1));                 \
        return h;                                                                        \
    }                                                                                    \
    EMU_FN T_ name##_ru(From x)                                                          \
    {                                                                                    \
        T_ h((double)x);                                                                 \
        if ((double)(float)h < (double)x)                                                \
            h.__x = (unsigned short)(h.__x + (h.__x & 0x8000 ? -1 : 1));                 \
        return h;                                                                        \
    }                                                                                    \
    EMU_IS(T_, name##_rz, (From x), x < 0 ? name##_ru(x) : name##_rd(x))
#define EMU_FLOAT16_NEAREST(T_, name, From) EMU_IS(T_, name##_rn, (From x), T_(x))
/* From all that there is, by the format's name in functions. */
#define EMU_FLOAT16_FROM(T_, format)                                                     \
    EMU_FLOAT16_NEAREST(T_, __float2##format, float)                                     \
    EMU_FLOAT16_NEAREST(T_, __int2##format, int)                                         \
    EMU_FLOAT16_NEAREST(T_, __uint2##format, unsigned)                                   \
    EMU_FLOAT16_NEAREST(T_, __short2##format, short)                                     \
    EMU_FLOAT16_NEAREST(T_, __ushort2##format, unsigned short)                           \
    EMU_FLOAT16_NEAREST(T_, __ll2##format, long long)                                    \
    EMU_FLOAT16_NEAREST(T_, __ull2##format, unsigned long long)                          \
    EMU_FLOAT16_DIRECTED(T_, __float2##format, float)                                    \
    EMU_FLOAT16_DIRECTED(T_, __int2##format, int)                                        \
    EMU_FLOAT16_DIRECTED(T_, __uint2##format, unsigned)                                  \
    EMU_FLOAT16_DIRECTED(T_, __short2##format, short)                                    \
    EMU_FLOAT16_DIRECTED(T_, __ushort2##format, unsigned short)

/* What is named after the format: the number and its pair from and to floats, bits and each
 * other. */
#define EMU_FLOAT16_NAMED(T_, T2, format)                                                \
    EMU_IS(T_, __float2##format, (float x), T_(x))                                       \
    EMU_IS(T_, __double2##format, (double x), T_(x))                                     \
    EMU_IS(float, __##format##2float, (T_ x), x)                                         \
    EMU_FN T_ __ushort_as_##format(unsigned short bits)                                  \
    {                                                                                    \
        T_ x;                                                                            \
        x.__x = bits;                                                                    \
        return x;                                                                        \
    }                                                                                    \
    EMU_IS(T_, __short_as_##format, (short bits),                                        \
           __ushort_as_##format((unsigned short)bits))                                   \
    EMU_IS(unsigned short, __##format##_as_ushort, (T_ x), x.__x)                        \
    EMU_IS(short, __##format##_as_short, (T_ x), (short)x.__x)                           \
    EMU_IS(T2, __halves2##format##2, (T_ low, T_ high), T2(low, high))                   \
    EMU_IS(T2, make_##format##2, (T_ low, T_ high), T2(low, high))                       \
    EMU_IS(T2, __##format##2##format##2, (T_ x), T2(x, x))                               \
    EMU_IS(T2, __float2##format##2_rn, (float x), T2(T_(x), T_(x)))                      \
    EMU_IS(T2, __floats2##format##2_rn, (float low, float high), T2(T_(low), T_(high)))  \
    EMU_IS(T2, __float22##format##2_rn, (float2 x), T2(T_(x.x), T_(x.y)))                \
    EMU_IS(float2, __##format##22float2, (T2 x), make_float2(x.x, x.y))                  \
    EMU_IS(T_, __low2##format, (T2 x), x.x)                                              \
    EMU_IS(T_, __high2##format, (T2 x), x.y)                                             \
    EMU_IS(T2, __low2##format##2, (T2 x), T2(x.x, x.x))                                  \
    EMU_IS(T2, __high2##format##2, (T2 x), T2(x.y, x.y))                                 \
    EMU_IS(T2, __lows2##format##2, (T2 a, T2 b), T2(a.x, b.x))                           \
    EMU_IS(T2, __highs2##format##2, (T2 a, T2 b), T2(a.y, b.y))                          \
    EMU_IS(T2, __lowhigh2highlow, (T2 x), T2(x.y, x.x))                                  \
    EMU_FLOAT16_FROM(T_, format)

/* What works in kernels only. */
#ifdef __CUDACC__
#define EMU_FLOAT16_TO_INTEGER(T_, from)                                                 \
    EMU_FLOAT16_TO_INTEGER_AS(T_, from, rn, rint)                                        \
    EMU_FLOAT16_TO_INTEGER_AS(T_, from, rz, trunc)                                       \
    EMU_FLOAT16_TO_INTEGER_AS(T_, from, rd, floor)                                       \
    EMU_FLOAT16_TO_INTEGER_AS(T_, from, ru, ceil)                                        \
    EMU_FLOAT16_TO(T_, from##2char_rz, signed char, trunc, SCHAR_MIN, SCHAR_MAX, 0x1p7)  \
    EMU_FLOAT16_TO(T_, from##2uchar_rz, unsigned char, trunc, 0, UCHAR_MAX, 0x1p8)
#define EMU_FLOAT16_TO_INTEGER_AS(T_, from, suffix, round)                               \
    EMU_FLOAT16_TO(T_, from##2int_##suffix, int, round, INT_MIN, INT_MAX, 0x1p31)        \
    EMU_FLOAT16_TO(T_, from##2uint_##suffix, unsigned, round, 0, UINT_MAX, 0x1p32)       \
    EMU_FLOAT16_TO(T_, from##2short_##suffix, short, round, SHRT_MIN, SHRT_MAX, 0x1p15)  \
    EMU_FLOAT16_TO(T_, from##2ushort_##suffix, unsigned short, round, 0, USHRT_MAX,      \
                   0x1p16)                                                               \
    EMU_FLOAT16_TO(T_, from##2ll_##suffix, long long, round, LLONG_MIN, LLONG_MAX,       \
                   0x1p63)                                                               \
    EMU_FLOAT16_TO(T_, from##2ull_##suffix, unsigned long long, round, 0, ULLONG_MAX,    \
                   0x1p64)
#define EMU_FLOAT16_TO(T_, name, To, round, least, most, limit)                          \
    EMU_IS(To, name, (T_ x), emu_clamped<To>(round((double)(float)x), least, most, limit))
#define EMU_FLOAT16_KERNEL_FUNCTIONS(T_, T2)                                             \
    EMU_SHUFFLES(T_)                                                                     \
    EMU_SHUFFLES(T2)                                                                     \
    EMU_ATOMIC(atomicAdd, T_, old + value)                                               \
    EMU_ATOMIC(atomicAdd, T2, old + value)
#else
#define EMU_FLOAT16_TO_INTEGER(T_, from)
#define EMU_FLOAT16_KERNEL_FUNCTIONS(T_, T2)
#endif

#endif
#endif
