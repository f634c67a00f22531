// The part of exercise 29 that is done.
#pragma once

#include <cuda_fp16.h>

// d += A * B on the tensor core, 16 x 8 += 16 x 16 * 16 x 8: exercise 28. PTX ISA,
// mma.sync.
__device__ inline void mma_m16n8k16(float *d, const unsigned *a, const unsigned *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// A warp reads four matrices of 8 x 8 halves from shared memory: lanes 8 i to 8 i + 7 say
// where the eight rows of matrix i begin, 16 bytes each, and the registers r[i] get it as
// the tensor core wants it. PTX ISA, ldmatrix.
__device__ inline void ldmatrix_x4(unsigned *r, const uint4 *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
}

// The same with rows and columns of each matrix exchanged, as B is wanted.
__device__ inline void ldmatrix_x4_trans(unsigned *r, const uint4 *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row))
                 : "memory");
}
