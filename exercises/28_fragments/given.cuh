// The part of exercise 28 that is done.
#pragma once

#include <cuda_fp16.h>

// d += A * B on the tensor core: A is 16 x 16 and B 16 x 8 halves, d 16 x 8 floats, spread
// over the registers of a warp's 32 lanes. A register of A or B holds two halves. All lanes
// call it together. PTX ISA, mma.sync.
__device__ inline void mma_m16n8k16(float *d, const unsigned *a, const unsigned *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The two halves from `from` on, an even number of halves from the beginning of the matrix,
// as a register.
__device__ inline unsigned load_pair(const __half *from)
{
    return *(const unsigned *)from;
}

// Two halves as a register, the first in the lower 16 bits.
__device__ inline unsigned make_pair(__half first, __half second)
{
    return __half_as_ushort(first) | (unsigned)__half_as_ushort(second) << 16;
}
