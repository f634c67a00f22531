/* __half and __half2. */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#include "emulator_float16.h"

#ifdef __cplusplus

EMU_FLOAT16_TYPES(__half, __half2, __half_raw, __half2_raw, emu_half_bits,
                  emu_float_of_half)
EMU_FLOAT16_FUNCTIONS(__half, __half2)
EMU_FLOAT16_KERNEL_FUNCTIONS(__half, __half2)
EMU_FLOAT16_TO_INTEGER(__half, __half)
EMU_FLOAT16_FROM(__half, half)
typedef __half half;
typedef __half2 half2;

EMU_FN16 __half __float2half(float x)
{
    return __half(x);
}
EMU_FN16 __half __double2half(double x)
{
    return __half(x);
}
EMU_FN16 float __half2float(__half x)
{
    return x;
}
EMU_FN16 __half __ushort_as_half(unsigned short bits)
{
    __half h;
    h.__x = bits;
    return h;
}
EMU_FN16 __half __short_as_half(short bits)
{
    return __ushort_as_half((unsigned short)bits);
}
EMU_FN16 unsigned short __half_as_ushort(__half h)
{
    return h.__x;
}
EMU_FN16 short __half_as_short(__half h)
{
    return (short)h.__x;
}
EMU_FN16 __half2 __halves2half2(__half low, __half high)
{
    return __half2(low, high);
}
EMU_FN16 __half2 make_half2(__half low, __half high)
{
    return __half2(low, high);
}
EMU_FN16 __half2 __half2half2(__half x)
{
    return __half2(x, x);
}
EMU_FN16 __half2 __float2half2_rn(float x)
{
    return __half2(__half(x), __half(x));
}
EMU_FN16 __half2 __floats2half2_rn(float low, float high)
{
    return __half2(__half(low), __half(high));
}
EMU_FN16 __half2 __float22half2_rn(float2 x)
{
    return __half2(__half(x.x), __half(x.y));
}
EMU_FN16 float2 __half22float2(__half2 x)
{
    return make_float2(x.x, x.y);
}
EMU_FN16 __half __low2half(__half2 x)
{
    return x.x;
}
EMU_FN16 __half __high2half(__half2 x)
{
    return x.y;
}
EMU_FN16 __half2 __low2half2(__half2 x)
{
    return __half2(x.x, x.x);
}
EMU_FN16 __half2 __high2half2(__half2 x)
{
    return __half2(x.y, x.y);
}
EMU_FN16 __half2 __lows2half2(__half2 a, __half2 b)
{
    return __half2(a.x, b.x);
}
EMU_FN16 __half2 __highs2half2(__half2 a, __half2 b)
{
    return __half2(a.y, b.y);
}
EMU_FN16 __half2 __lowhigh2highlow(__half2 x)
{
    return __half2(x.y, x.x);
}

#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)

#else

typedef struct {
    unsigned short __x;
} __half;
typedef struct {
    __half x, y;
} __attribute__((aligned(4))) __half2;

#endif
#endif
