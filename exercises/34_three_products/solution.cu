// Exercise 34: three products for one.
//
//     a * b  =  hi_a * hi_b  +  lo_a * hi_b  +  hi_a * lo_b  +  lo_a * lo_b
//
// The skeleton has the first, the tensor core adds it up, and the result is wrong after
// three digits. Two things are missing: products, and an addition that rounds.
#include "exercise.h"
#include "given.cuh"

// A warp, which is a block here, has 16 x 8 results.
__global__ void matmul_kernel(int N, int K, const float *A, const float *B, float *C)
{
    const int top = blockIdx.y * 16, left = blockIdx.x * 8;
    // BEGIN answer
    //- float acc[4] = {};
    float acc_hi[4] = {}, acc_lo[4] = {}, sum[4] = {};
    // END answer
    for (int k0 = 0; k0 < K; k0 += 16) {
        struct fragments f;
        f.load(&A[top * K], K, &B[left], N, k0);
        // BEGIN answer
        //- mma_m16n8k16(acc, f.a_hi, f.b_hi);
        mma_m16n8k16(acc_hi, f.a_hi, f.b_hi);
        mma_m16n8k16(acc_lo, f.a_lo, f.b_hi);
        mma_m16n8k16(acc_lo, f.a_hi, f.b_lo);
        if (k0 % 64 == 48)
            for (int i = 0; i < 4; ++i) {
                sum[i] += acc_hi[i];
                acc_hi[i] = 0.0f;
            }
        // END answer
    }

    float result[4];
    for (int i = 0; i < 4; ++i) {
        // BEGIN answer
        //- result[i] = acc[i];
        result[i] = sum[i] + acc_lo[i] / LO_SCALE;
        // END answer
    }
    float *c = &C[(top + threadIdx.x / 4) * N + left + threadIdx.x % 4 * 2];
    for (int i = 0; i < 4; ++i)
        c[i / 2 * 8 * N + i % 2] = result[i];
}

void matmul_precise(int M, int N, int K, const float *A, const float *B, float *C)
{
    matmul_kernel<<<dim3(N / 8, M / 16), 32>>>(N, K, A, B, C);
}
