// The part of exercise 34 that is done: fragments of A and B, each in two halves.
#pragma once

#include <cuda_fp16.h>

const float LO_SCALE = 2048.0f; // lo is so many times what hi leaves over

// d += A * B on the tensor core, 16 x 8 += 16 x 16 * 16 x 8: exercise 28. PTX ISA,
// mma.sync.
__device__ inline void mma_m16n8k16(float *d, const unsigned *a, const unsigned *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Two floats as two registers, the one with their hi, the other with their lo: exercise 33.
__device__ inline void split_pair(float first, float second, unsigned *hi, unsigned *lo)
{
    const __half2 h = __floats2half2_rn(first, second);
    const __half2 l = __floats2half2_rn((first - __half2float(h.x)) * LO_SCALE,
                                        (second - __half2float(h.y)) * LO_SCALE);
    *hi = __half_as_ushort(h.x) | (unsigned)__half_as_ushort(h.y) << 16;
    *lo = __half_as_ushort(l.x) | (unsigned)__half_as_ushort(l.y) << 16;
}

// What a lane holds of 16 steps of k.
struct fragments {
    unsigned a_hi[4], a_lo[4], b_hi[2], b_lo[2];

    // From A's first row, and B's first column, of the warp's results; both at step k0.
    __device__ void load(const float *A, int K, const float *B, int N, int k0)
    {
        const int group = threadIdx.x / 4, k = k0 + threadIdx.x % 4 * 2;
        for (int i = 0; i < 4; ++i) {
            const float *from = &A[(group + i % 2 * 8) * K + k + i / 2 * 8];
            split_pair(from[0], from[1], &a_hi[i], &a_lo[i]);
        }
        for (int i = 0; i < 2; ++i) {
            const float *from = &B[(k + 8 * i) * N + group];
            split_pair(from[0], from[N], &b_hi[i], &b_lo[i]);
        }
    }
};
