/* Numbers of 8 bits: e4m3 (no infinity, one NaN of each sign, up to 448) and e5m2 (the upper
 * half of an IEEE half, up to 57,344). */
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

/* What becomes of a number that is too large: the largest that there is, or infinity or
 * NaN. */
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

static inline unsigned char emu_fp8_bits(double x, __nv_saturation_t saturate,
                                         __nv_fp8_interpretation_t kind)
{
    const int e4m3 = kind == __NV_E4M3;
    const unsigned largest = e4m3 ? 0x7e : 0x7b, beyond = e4m3 ? 0x7f : 0x7c;
    if (x != x) return 0x7f;
    const unsigned bits = emu_round16(x, e4m3 ? 3 : 2, e4m3 ? -6 : -14, 0x7fff),
                   sign = bits >> 8 & 0x80, rest = bits & 0x7fff;
    return (unsigned char)(sign | (rest <= largest              ? rest
                                   : saturate == __NV_SATFINITE ? largest
                                                                : beyond));
}

static inline float emu_float_of_fp8(unsigned char bits, __nv_fp8_interpretation_t kind)
{
    if (kind == __NV_E5M2) return emu_float_of_half((unsigned short)(bits << 8));
    if ((bits & 0x7f) == 0x7f) return emu_float_of_bits(0x7fffffff);
    /* Shifted into place, the exponent is 120 too small, for subnormal numbers too. */
    const float x = emu_float_of_bits((bits & 0x7fu) << 20) * 0x1p120f;
    return bits & 0x80 ? -x : x;
}

#ifdef __cplusplus

/* ---- bits from numbers, and back ---- */

EMU_FN __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                __nv_fp8_interpretation_t kind)
{
    return emu_fp8_bits(x, saturate, kind);
}
EMU_FN __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                 __nv_fp8_interpretation_t kind)
{
    return emu_fp8_bits(x, saturate, kind);
}
EMU_FN __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t kind)
{
    return (__nv_fp8x2_storage_t)(emu_fp8_bits(x.x, saturate, kind) |
                                  emu_fp8_bits(x.y, saturate, kind) << 8);
}
EMU_FN __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x,
                                                      __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t kind)
{
    return (__nv_fp8x2_storage_t)(emu_fp8_bits(x.x, saturate, kind) |
                                  emu_fp8_bits(x.y, saturate, kind) << 8);
}

/* Of numbers of 16 bits, a pair as its halves. */
#define EMU_FP8_CONVERT(Raw, Raw2, T_, raw, raw2)                                        \
    EMU_FN __nv_fp8_storage_t __nv_cvt_##raw##_to_fp8(Raw x, __nv_saturation_t saturate, \
                                                      __nv_fp8_interpretation_t kind)    \
    {                                                                                    \
        return emu_fp8_bits((float)T_(x), saturate, kind);                               \
    }                                                                                    \
    EMU_FN __nv_fp8x2_storage_t __nv_cvt_##raw2##_to_fp8x2(                              \
        Raw2 x, __nv_saturation_t saturate, __nv_fp8_interpretation_t kind)              \
    {                                                                                    \
        return (                                                                         \
            __nv_fp8x2_storage_t)(emu_fp8_bits((float)T_(Raw{x.x}), saturate, kind) |    \
                                  emu_fp8_bits((float)T_(Raw{x.y}), saturate, kind)      \
                                      << 8);                                             \
    }
EMU_FP8_CONVERT(__half_raw, __half2_raw, __half, halfraw, halfraw2)
EMU_FP8_CONVERT(__nv_bfloat16_raw, __nv_bfloat162_raw, __nv_bfloat16, bfloat16raw,
                bfloat16raw2)
#undef EMU_FP8_CONVERT
EMU_FN __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x,
                                          __nv_fp8_interpretation_t kind)
{
    return __half(emu_float_of_fp8(x, kind));
}
EMU_FN __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                              __nv_fp8_interpretation_t kind)
{
    return __half2(__half(emu_float_of_fp8((unsigned char)x, kind)),
                   __half(emu_float_of_fp8((unsigned char)(x >> 8), kind)));
}

/* ---- types ---- */

#define EMU_FP8_TYPES(T_, X2, X4, kind)                                                  \
    struct T_ {                                                                          \
        __nv_fp8_storage_t __x;                                                          \
        T_() = default;                                                                  \
        explicit T_(float x) : __x(emu_fp8_bits(x, __NV_SATFINITE, kind))                \
        {                                                                                \
        }                                                                                \
        explicit T_(double x) : __x(emu_fp8_bits(x, __NV_SATFINITE, kind))               \
        {                                                                                \
        }                                                                                \
        explicit T_(int x) : T_((double)x)                                               \
        {                                                                                \
        }                                                                                \
        explicit T_(unsigned x) : T_((double)x)                                          \
        {                                                                                \
        }                                                                                \
        explicit T_(long long x) : T_((double)x)                                         \
        {                                                                                \
        }                                                                                \
        explicit T_(__half x) : T_((float)x)                                             \
        {                                                                                \
        }                                                                                \
        explicit T_(__nv_bfloat16 x) : T_((float)x)                                      \
        {                                                                                \
        }                                                                                \
        explicit operator float() const                                                  \
        {                                                                                \
            return emu_float_of_fp8(__x, kind);                                          \
        }                                                                                \
        explicit operator double() const                                                 \
        {                                                                                \
            return emu_float_of_fp8(__x, kind);                                          \
        }                                                                                \
        explicit operator __half() const                                                 \
        {                                                                                \
            return __half(emu_float_of_fp8(__x, kind));                                  \
        }                                                                                \
        explicit operator __nv_bfloat16() const                                          \
        {                                                                                \
            return __nv_bfloat16(emu_float_of_fp8(__x, kind));                           \
        }                                                                                \
        explicit operator bool() const                                                   \
        {                                                                                \
            return (__x & 0x7f) != 0;                                                    \
        }                                                                                \
        explicit operator int() const                                                    \
        {                                                                                \
            return (int)emu_float_of_fp8(__x, kind);                                     \
        }                                                                                \
    };                                                                                   \
    struct __align__(2) X2 {                                                             \
        __nv_fp8x2_storage_t __x;                                                        \
        X2() = default;                                                                  \
        explicit X2(float2 v) : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, kind))   \
        {                                                                                \
        }                                                                                \
        explicit X2(double2 v) : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, kind)) \
        {                                                                                \
        }                                                                                \
        explicit X2(__half2 v) : X2(make_float2((float)v.x, (float)v.y))                 \
        {                                                                                \
        }                                                                                \
        explicit X2(__nv_bfloat162 v) : X2(make_float2((float)v.x, (float)v.y))          \
        {                                                                                \
        }                                                                                \
        explicit operator __half2() const                                                \
        {                                                                                \
            return __half2(__nv_cvt_fp8x2_to_halfraw2(__x, kind));                       \
        }                                                                                \
        explicit operator float2() const                                                 \
        {                                                                                \
            return make_float2(emu_float_of_fp8((unsigned char)__x, kind),               \
                               emu_float_of_fp8((unsigned char)(__x >> 8), kind));       \
        }                                                                                \
    };                                                                                   \
    struct __align__(4) X4 {                                                             \
        __nv_fp8x4_storage_t __x;                                                        \
        X4() = default;                                                                  \
        explicit X4(float4 v)                                                            \
            : __x((unsigned)__nv_cvt_float2_to_fp8x2(make_float2(v.x, v.y),              \
                                                     __NV_SATFINITE, kind) |             \
                  (unsigned)__nv_cvt_float2_to_fp8x2(make_float2(v.z, v.w),              \
                                                     __NV_SATFINITE, kind)               \
                      << 16)                                                             \
        {                                                                                \
        }                                                                                \
        explicit X4(double4 v)                                                           \
            : __x((unsigned)__nv_cvt_double2_to_fp8x2(make_double2(v.x, v.y),            \
                                                      __NV_SATFINITE, kind) |            \
                  (unsigned)__nv_cvt_double2_to_fp8x2(make_double2(v.z, v.w),            \
                                                      __NV_SATFINITE, kind)              \
                      << 16)                                                             \
        {                                                                                \
        }                                                                                \
        X4(__half2 low, __half2 high)                                                    \
            : X4(make_float4((float)low.x, (float)low.y, (float)high.x, (float)high.y))  \
        {                                                                                \
        }                                                                                \
        X4(__nv_bfloat162 low, __nv_bfloat162 high)                                      \
            : X4(make_float4((float)low.x, (float)low.y, (float)high.x, (float)high.y))  \
        {                                                                                \
        }                                                                                \
        explicit operator float4() const                                                 \
        {                                                                                \
            return make_float4(emu_float_of_fp8((unsigned char)__x, kind),               \
                               emu_float_of_fp8((unsigned char)(__x >> 8), kind),        \
                               emu_float_of_fp8((unsigned char)(__x >> 16), kind),       \
                               emu_float_of_fp8((unsigned char)(__x >> 24), kind));      \
        }                                                                                \
    };
EMU_FP8_TYPES(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, __NV_E4M3)
EMU_FP8_TYPES(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, __NV_E5M2)
#undef EMU_FP8_TYPES

#endif
#endif
