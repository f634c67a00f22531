/* __nv_bfloat16 and __nv_bfloat162. */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

#include "emulator_float16.h"

#ifdef __cplusplus

EMU_FLOAT16_TYPES(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, __nv_bfloat162_raw,
                  emu_bfloat16_bits, emu_float_of_bfloat16)
EMU_FLOAT16_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)
EMU_FLOAT16_KERNEL_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)
EMU_FLOAT16_TO_INTEGER(__nv_bfloat16, __bfloat16)
EMU_FLOAT16_FROM(__nv_bfloat16, bfloat16)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

EMU_FN16 __nv_bfloat16 __float2bfloat16(float x)
{
    return __nv_bfloat16(x);
}
EMU_FN16 __nv_bfloat16 __double2bfloat16(double x)
{
    return __nv_bfloat16(x);
}
EMU_FN16 float __bfloat162float(__nv_bfloat16 x)
{
    return x;
}
EMU_FN16 __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits)
{
    __nv_bfloat16 b;
    b.__x = bits;
    return b;
}
EMU_FN16 unsigned short __bfloat16_as_ushort(__nv_bfloat16 b)
{
    return b.__x;
}
EMU_FN16 __nv_bfloat16 __short_as_bfloat16(short bits)
{
    return __ushort_as_bfloat16((unsigned short)bits);
}
EMU_FN16 short __bfloat16_as_short(__nv_bfloat16 b)
{
    return (short)b.__x;
}
EMU_FN16 __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __nv_bfloat162(a.x, b.x);
}
EMU_FN16 __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b)
{
    return __nv_bfloat162(a.y, b.y);
}
EMU_FN16 __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 x)
{
    return __nv_bfloat162(x.y, x.x);
}
EMU_FN16 __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 low, __nv_bfloat16 high)
{
    return __nv_bfloat162(low, high);
}
EMU_FN16 __nv_bfloat162 make_bfloat162(__nv_bfloat16 low, __nv_bfloat16 high)
{
    return __nv_bfloat162(low, high);
}
EMU_FN16 __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x)
{
    return __nv_bfloat162(x, x);
}
EMU_FN16 __nv_bfloat162 __float2bfloat162_rn(float x)
{
    return __nv_bfloat162(__nv_bfloat16(x), __nv_bfloat16(x));
}
EMU_FN16 __nv_bfloat162 __floats2bfloat162_rn(float low, float high)
{
    return __nv_bfloat162(__nv_bfloat16(low), __nv_bfloat16(high));
}
EMU_FN16 __nv_bfloat162 __float22bfloat162_rn(float2 x)
{
    return __nv_bfloat162(__nv_bfloat16(x.x), __nv_bfloat16(x.y));
}
EMU_FN16 float2 __bfloat1622float2(__nv_bfloat162 x)
{
    return make_float2(x.x, x.y);
}
EMU_FN16 __nv_bfloat16 __low2bfloat16(__nv_bfloat162 x)
{
    return x.x;
}
EMU_FN16 __nv_bfloat16 __high2bfloat16(__nv_bfloat162 x)
{
    return x.y;
}
EMU_FN16 __nv_bfloat162 __low2bfloat162(__nv_bfloat162 x)
{
    return __nv_bfloat162(x.x, x.x);
}
EMU_FN16 __nv_bfloat162 __high2bfloat162(__nv_bfloat162 x)
{
    return __nv_bfloat162(x.y, x.y);
}

#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)

#else

typedef struct {
    unsigned short __x;
} __nv_bfloat16;
typedef struct {
    __nv_bfloat16 x, y;
} __attribute__((aligned(4))) __nv_bfloat162;

#endif
#endif
