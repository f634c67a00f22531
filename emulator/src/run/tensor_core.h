/* The arithmetic of tensor cores. */
#ifndef TENSOR_CORE_H
#define TENSOR_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ptx.h"

struct tensor_kind {
    enum ptx_type a, b; /* f16 bf16 tf32 e4m3 e5m2, or s8 u8 s4 u4 b1 */
    enum ptx_type sum;  /* f32 or f16, or s32 */
    bool wgmma;         /* Hopper's mma.sync treats fp8 otherwise */
    bool saturate;      /* s32: clamp the result instead of wrapping */
    bool binary_and;    /* b1: and, not xor, before counting */
    bool negate_a, negate_b;
};

/* sums = a * b + sums, as the emulated GPU's tensor cores calculate it in one
 * instruction, bit by bit. `a` is m x k, row after row; `b` holds n columns of k, column
 * after column; `sums` is m x n, row after row. An element is the bits of its type in 32
 * bits; of tf32, all 32 bits of a float. At most 64 x 256 x 64. */
void tensor_multiply(const struct tensor_kind *kind, unsigned m, unsigned n, unsigned k,
                     const uint32_t *a, const uint32_t *b, uint32_t *sums);

/* The same in double precision: fused multiply-adds in the order of k. */
void tensor_multiply_f64(unsigned m, unsigned n, unsigned k, const double *a,
                         const double *b, double *sums);

#endif
