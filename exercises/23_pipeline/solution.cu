// Exercise 23: load the next while computing this.
//
// The tiles come by asynchronous copies: __pipeline_memcpy_async starts one and the
// thread goes on. But here it goes on to wait at once. With two buffers, the copy of the
// next tile can travel while this tile is in use.
#include "exercise.h"

#include <cuda_pipeline.h>

const int TILE = 16;
// BEGIN answer
//- const int STAGES = 1; // buffers for each tile
const int STAGES = 2; // buffers for each tile
// END answer

// Starts the copy of one float into shared memory, or puts a 0 where there is none.
__device__ void start_copy(float *to, const float *from, bool inside, const float *any)
{
    __pipeline_memcpy_async(to, inside ? from : any, sizeof(float),
                            inside ? 0 : sizeof(float));
}

__global__ void matmul_kernel(int M, int N, int K, const float *A, const float *B,
                              float *C)
{
    __shared__ float A_tile[STAGES][TILE][TILE];
    __shared__ float B_tile[STAGES][TILE][TILE];

    const int thread_row = threadIdx.y;
    const int thread_col = threadIdx.x;
    const int row = blockIdx.y * TILE + thread_row;
    const int col = blockIdx.x * TILE + thread_col;

    // Starts my two copies for the tiles at k0, into the buffers of a stage.
    auto start_tiles = [&](int stage, int k0) {
        const int a_col = k0 + thread_col;
        const int b_row = k0 + thread_row;
        start_copy(&A_tile[stage][thread_row][thread_col], &A[row * K + a_col],
                   row < M && a_col < K, A);
        start_copy(&B_tile[stage][thread_row][thread_col], &B[b_row * N + col],
                   b_row < K && col < N, B);
    };

    float acc = 0.0f;
    // What has to be on its way before the first turn?
    // BEGIN answer
    start_tiles(0, 0);
    __pipeline_commit();
    // END answer
    for (int k0 = 0; k0 < K; k0 += TILE) {
        // BEGIN answer
        //- const int stage = 0;
        //- start_tiles(stage, k0);
        //- __pipeline_commit();
        //- __pipeline_wait_prior(0); // until all copies that I started have arrived
        const int stage = k0 / TILE % STAGES;
        if (k0 + TILE < K)
            start_tiles((stage + 1) % STAGES, k0 + TILE);
        __pipeline_commit();
        __pipeline_wait_prior(1); // all but the newest group have arrived
        // END answer
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            acc += A_tile[stage][thread_row][k] * B_tile[stage][k][thread_col];
        __syncthreads();
    }

    if (row < M && col < N)
        C[row * N + col] = acc;
}

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    const dim3 threads(TILE, TILE);
    matmul_kernel<<<blocks, threads>>>(M, N, K, A, B, C);
}
