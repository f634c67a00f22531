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
EMU_FLOAT16_NAMED(__half, __half2, half)
typedef __half half;
typedef __half2 half2;

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
