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
EMU_FLOAT16_NAMED(__nv_bfloat16, __nv_bfloat162, bfloat16)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

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
