/* What the halves cannot hold: those tiles of C, on the CUDA cores, from A and B
 * themselves. Chapter 7's kernel but for the guards, and that a block leaves at once if
 * its tile is not marked. */
#ifndef PLAIN_CUH
#define PLAIN_CUH

const int PLAIN_BK = 16;
const int PLAIN_THREADS = 256; // of 8 x 8 results each, in four squares of 4 x 4

static __global__ void __launch_bounds__(PLAIN_THREADS, 2)
    plain_kernel(const __grid_constant__ struct work w, const float *A, const float *B)
{
    __shared__ __align__(
        16) float A_tile[PLAIN_BK][BM + 4]; // padded: written down a column
    __shared__ __align__(16) float B_tile[PLAIN_BK][BN];
    const int t = threadIdx.x;
    const int thread_row = t / 16 * 4;
    const int thread_col = t % 16 * 4;
    for (int tile = blockIdx.x; tile < w.tiles_down * w.tiles_across; tile += gridDim.x) {
        int tile_row, tile_col;
        place_tile(&w, tile, &tile_row, &tile_col);
        if (!is_unfit(&w, tile_row, tile_col))
            continue;
        float acc[8][8] = {{0.0f}};
        for (int k0 = 0; k0 < w.K; k0 += PLAIN_BK) {
            __syncthreads(); // the last tiles have been read
#pragma unroll
            for (int i = 0; i < BM * PLAIN_BK; i += PLAIN_THREADS) {
                const int m = (i + t) / PLAIN_BK, n = (i + t) % BN;
                const int row = tile_row * BM + m, col = tile_col * BN + n;
                const int a_k = (i + t) % PLAIN_BK, b_k = (i + t) / BN;
                const bool in_A = row < w.M && k0 + a_k < w.K;
                const bool in_B = col < w.N && k0 + b_k < w.K;
                A_tile[a_k][m] = in_A ? A[(size_t)row * w.K + k0 + a_k] : 0.0f;
                B_tile[b_k][n] = in_B ? B[(size_t)(k0 + b_k) * w.N + col] : 0.0f;
            }
            __syncthreads();
#pragma unroll
            for (int k = 0; k < PLAIN_BK; ++k) {
                float a[8], b[8];
#pragma unroll
                for (int i = 0; i < 8; i += 4) {
                    *(float4 *)&a[i] = *(float4 *)&A_tile[k][thread_row + i * (BM / 8)];
                    *(float4 *)&b[i] = *(float4 *)&B_tile[k][thread_col + i * (BN / 8)];
                }
#pragma unroll
                for (int m = 0; m < 8; ++m)
#pragma unroll
                    for (int n = 0; n < 8; ++n)
                        acc[m][n] += a[m] * b[n];
            }
        }
#pragma unroll
        for (int m = 0; m < 8; ++m)
#pragma unroll
            for (int n = 0; n < 8; ++n) {
                const int row = tile_row * BM + thread_row + m / 4 * (BM / 2) + m % 4;
                const int col = tile_col * BN + thread_col + n / 4 * (BN / 2) + n % 4;
                if (row < w.M && col < w.N)
                    store(&w, row, col, acc[m][n]);
            }
    }
}

#endif
