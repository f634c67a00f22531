/* What happens to the matrices before the kernel: A is transposed, and B's rows are made
 * longer where the copy engine could not read them. */
#ifndef FP32_PREPARE_CUH
#define FP32_PREPARE_CUH

#include "12_persistent_blocks/lengthen.cuh"
#include "hopper.h"

const int TURN = 64; // a block turns TURN x TURN elements of A

// The first `a_blocks` blocks write A's transpose to `At`, the others B to `Bc`, with
// rows that are multiples of 16 bytes; 256 threads a block. The copy engine moves rows of
// A as they lie, and the threads want its columns. It costs a pass over A, 2 * M * K * 4
// bytes at the speed of memory; the product takes about N / 60 times as long.
static __global__ void prepare(int M, int N, int K, const float *A, float *At,
                               const float *B, float *Bc, int a_blocks)
{
    griddepcontrol_launch_dependents();
    __shared__ float square[TURN][TURN + 1]; // padded: rows are written, columns are read
    if ((int)blockIdx.x < a_blocks) {
        const int x = threadIdx.x % TURN, y = threadIdx.x / TURN;
        const int down = (M - 1) / TURN + 1;
        const int row = blockIdx.x % down * TURN, col = blockIdx.x / down * TURN;
        const int stride = padded(M);
#pragma unroll
        for (int i = 0; i < TURN; i += 256 / TURN)
            square[y + i][x] = row + y + i < M && col + x < K
                                   ? A[(size_t)(row + y + i) * K + col + x]
                                   : 0.0f;
        __syncthreads();
        // A warp writes 32 rows' floats for 4 steps of k: it reads from 32 banks.
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        const int m = lane % 8 * 4 + warp % 2 * 32, k = lane / 8 + warp / 2 * 4;
#pragma unroll
        for (int i = 0; i < TURN; i += 16)
            if (col + k + i < K && row + m < stride)
                *(float4 *)&At[(size_t)(col + k + i) * stride + row + m] =
                    make_float4(square[m][k + i], square[m + 1][k + i],
                                square[m + 2][k + i], square[m + 3][k + i]);
        return;
    }
    lengthen_rows(blockIdx.x - a_blocks, N, K, B, Bc);
}

// Enqueues it and says where the two are: K rows of A's transpose, padded(M) floats apart,
// and K of B, padded(N) apart; B itself if the copy engine can read it.
static void prepare_matrices(int M, int N, int K, const float *A, const float *B,
                             const float **At, const float **readable_B)
{
    static struct scratch a_copy, b_copy;
    const bool readable = N % 4 == 0 && (size_t)B % 16 == 0;
    float *turned = scratch(&a_copy, (size_t)K * padded(M) * sizeof(float));
    float *longer = NULL;
    if (!readable)
        longer = scratch(&b_copy, (size_t)K * padded(N) * sizeof(float));
    const int a_blocks = ((M - 1) / TURN + 1) * ((K - 1) / TURN + 1);
    prepare<<<a_blocks + (readable ? 0 : lengthen_blocks(K, N)), 256>>>(
        M, N, K, A, turned, B, longer, a_blocks);
    *At = turned;
    *readable_B = readable ? B : longer;
}

#endif
