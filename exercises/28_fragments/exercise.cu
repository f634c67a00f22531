// Exercise 28: who holds what?
//
// A warp multiplies 16 x 16 halves by 16 x 8 with one instruction. It takes the matrices
// from registers, and which element it believes to be in which lane's register is fixed:
// the README has the table. Bring every element to its place.
#include "exercise.h"
#include "given.cuh"

const int WARPS = 4; // of a block, side by side: 16 x 32 results

__global__ void matmul_kernel(int N, int K, const __half *A, const __half *B, float *C)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int top = blockIdx.y * 16, left = (blockIdx.x * WARPS + warp) * 8;
    // BEGIN answer
    const int row = top + lane / 2, col = left + lane % 8; // that this lane reads
    // END answer

    float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k0 = 0; k0 < K; k0 += 16) {
        unsigned a[4], b[2];
        // BEGIN answer
        for (int i = 0; i < 4; ++i)
            a[i] = load_pair(&A[row * K + k0 + lane % 2 * 8 + 2 * i]);
        for (int i = 0; i < 2; ++i) {
            const __half *from = &B[(k0 + lane / 8 * 4 + 2 * i) * N + col];
            b[i] = make_pair(from[0], from[N]);
        }
        // END answer
        mma_m16n8k16(d, a, b);
    }

    // BEGIN answer
    for (int i = 0; i < 4; ++i)
        C[row * N + left + lane % 2 * 4 + i] = d[i];
    // END answer
}

void matmul_halves(int M, int N, int K, const __half *A, const __half *B, float *C)
{
    matmul_kernel<<<dim3(N / (8 * WARPS), M / 16), 32 * WARPS>>>(N, K, A, B, C);
}
