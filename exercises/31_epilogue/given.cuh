// The part of exercise 31 that is done: a block's product, up to the sums.
#pragma once

#include <cuda_fp16.h>

const int ROWS = 16, COLS = 64, DEPTH = 64; // a block's results, and a tile's steps of k
const int CELLS = 8;                        // of eight halves, in a row of 64
const int THREADS = 128;                    // a warp has 16 columns of the results

__device__ inline unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ inline void fetch(uint4 *tile, const __half *from, int stride, int rows)
{
    for (int i = threadIdx.x; i < rows * CELLS; i += THREADS)
        tile[i] = *(const uint4 *)&from[i / CELLS * stride + i % CELLS * 8];
}

// The sums of this lane: d[j][i] is in row lane / 4 + i / 2 * 8, and in column
// warp * 16 + j * 8 + lane % 4 * 2 + i % 2. `a` and `b` are the block's first row of A and
// its first column of B.
struct sums {
    float d[2][4];

    __device__ void multiply(const __half *a, int K, const __half *b, int N)
    {
        __shared__ uint4 A_tile[ROWS * CELLS], B_tile[DEPTH * CELLS];
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        for (int k0 = 0; k0 < K; k0 += DEPTH) {
            fetch(A_tile, &a[k0], K, ROWS);
            fetch(B_tile, &b[k0 * N], N, DEPTH);
            __syncthreads();
            for (int k = 0; k < DEPTH; k += 16) {
                unsigned x[4], y[4];
                asm volatile(
                    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                    "{%0, %1, %2, %3}, [%4];"
                    : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                    : "r"(shared_address(&A_tile[lane % 16 * CELLS + k / 8 + lane / 16]))
                    : "memory");
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 "
                             "{%0, %1, %2, %3}, [%4];"
                             : "=r"(y[0]), "=r"(y[1]), "=r"(y[2]), "=r"(y[3])
                             : "r"(shared_address(
                                 &B_tile[(k + lane % 16) * CELLS + warp * 2 + lane / 16]))
                             : "memory");
                for (int j = 0; j < 2; ++j)
                    asm volatile(
                        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                        : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
                        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[2 * j]),
                          "r"(y[2 * j + 1]));
            }
            __syncthreads();
        }
    }
};
