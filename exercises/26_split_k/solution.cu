// Exercise 26: share out a long sum.
//
// C is small and K is long: a block for each tile of C is a handful of blocks, and most of
// the GPU has nothing to do while they walk along K.
#include "exercise.h"

const int TILE = 16;

// BEGIN answer
//- const int PARTS = 1; // how many blocks share the sums of a tile of C
const int PARTS = 8; // how many blocks share the sums of a tile of C
// END answer

// Of which k a block's part of the sums begins, and before which it ends.
__device__ int part_begin(int part, int K)
{
    // BEGIN answer
    //- return part * K;
    const int length = (K + PARTS - 1) / PARTS;
    return part * length < K ? part * length : K;
    // END answer
}

__global__ void clear(int count, float *C)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        C[i] = 0.0f;
}

__global__ void matmul_kernel(int M, int N, int K, const float *A, const float *B,
                              float *C)
{
    __shared__ float A_tile[TILE][TILE + 1];
    __shared__ float B_tile[TILE][TILE + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    const int begin = part_begin(blockIdx.z, K), end = part_begin(blockIdx.z + 1, K);

    float acc = 0.0f;
    for (int k0 = begin; k0 < end; k0 += TILE) {
        const int a_col = k0 + x, b_row = k0 + y;
        A_tile[y][x] = row < M && a_col < end ? A[row * K + a_col] : 0.0f;
        B_tile[y][x] = b_row < end && col < N ? B[b_row * N + col] : 0.0f;
        __syncthreads();
        float *a = A_tile[y], *b = &B_tile[0][x];
        for (int left = TILE; left > 0; --left, ++a, b += TILE + 1)
            acc += *a * *b;
        __syncthreads();
    }
    // What becomes of the parts of a result?
    // BEGIN answer
    //- if (row < M && col < N)
    //-     C[row * N + col] = acc;
    if (row < M && col < N)
        atomicAdd(&C[row * N + col], acc);
    // END answer
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, PARTS);
    // C holds no numbers yet.
    // BEGIN answer
    //- (void)clear;
    clear<<<(M * N + 255) / 256, 256>>>(M * N, C);
    // END answer
    matmul_kernel<<<blocks, dim3(TILE, TILE)>>>(M, N, K, A, B, C);
}
