// Exercise 29: eight rows, four banks.
//
// Tiles of halves lie in shared memory in rows of 128 bytes, eight cells of 16 bytes. The
// tensor core's numbers come by ldmatrix, which reads the same cell of eight rows at
// once. 128 bytes are all 32 banks: so those eight cells lie in the same four banks.
#include "exercise.h"
#include "given.cuh"

const int ROWS = 16, COLS = 64, DEPTH = 64; // a block's results, and a tile's steps of k
const int CELLS = 8;                        // of eight halves, in a row of a tile
const int THREADS = 128;                    // a warp has 16 columns of the results

// Which of the tile's places a cell of a row has.
__device__ int place_of(int row, int cell)
{
    // BEGIN answer
    return row * CELLS + cell;
    // END answer
}

// Copies `rows` rows of a tile, the threads' cells side by side in each row; a row of the
// matrix is `stride` halves long.
__device__ void fetch(uint4 *tile, const __half *from, int stride, int rows)
{
    for (int i = threadIdx.x; i < rows * CELLS; i += THREADS) {
        const int row = i / CELLS, cell = i % CELLS;
        tile[place_of(row, cell)] = *(const uint4 *)&from[row * stride + cell * 8];
    }
}

__global__ void __launch_bounds__(THREADS)
    matmul_kernel(int N, int K, const __half *A, const __half *B, float *C)
{
    __shared__ uint4 A_tile[ROWS * CELLS], B_tile[DEPTH * CELLS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int top = blockIdx.y * ROWS, left = blockIdx.x * COLS;

    float d[2][4] = {};
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        fetch(A_tile, &A[top * K + k0], K, ROWS);
        fetch(B_tile, &B[k0 * N + left], N, DEPTH);
        __syncthreads();
        for (int k = 0; k < DEPTH; k += 16) {
            // Of A 16 rows and two cells, of B 16 rows and the warp's two cells.
            unsigned a[4], b[4];
            ldmatrix_x4(a, &A_tile[place_of(lane % 16, k / 8 + lane / 16)]);
            ldmatrix_x4_trans(b, &B_tile[place_of(k + lane % 16, warp * 2 + lane / 16)]);
            mma_m16n8k16(d[0], a, &b[0]);
            mma_m16n8k16(d[1], a, &b[2]);
        }
        __syncthreads();
    }

    const int row = top + lane / 4, col = left + warp * 16 + lane % 4 * 2;
    for (int i = 0; i < 8; ++i)
        C[(row + i / 2 % 2 * 8) * N + col + i / 4 * 8 + i % 2] = d[i / 4][i % 4];
}

void matmul_halves(int M, int N, int K, const __half *A, const __half *B, float *C)
{
    matmul_kernel<<<dim3(N / COLS, M / ROWS), THREADS>>>(N, K, A, B, C);
}
