/* What the halves cannot hold: those tiles of C, on the fp32 units, from A and B
 * themselves. Chapter 8's kernel with 128 x 128 tiles, and a guard at every read: a tile
 * is computed while the next is fetched into registers. A block goes through the tiles as
 * matmul_kernel's do, and passes over those that are not marked. */
#ifndef PLAIN_CUH
#define PLAIN_CUH

const int PLAIN_BK = 8;
const int PLAIN_THREADS = 256; // of 8 x 8 results each, in four squares of 4 x 4
const int PLAIN_BLOCKS = 2;    // on an SM at once
const int FETCHES = BM * PLAIN_BK / PLAIN_THREADS;

static_assert(BM == BN, "a thread fetches as much of A as of B");

struct plain_tiles {
    float A[PLAIN_BK][BM + 4]; // padded: written down a column
    float B[PLAIN_BK][BN];
};

static __device__ __forceinline__ void fetch(const struct work *w, const float *A,
                                             const float *B, int first_row, int first_col,
                                             int k0, float *a, float *b)
{
#pragma unroll
    for (int i = 0; i < FETCHES; ++i) {
        const int at = i * PLAIN_THREADS + threadIdx.x;
        const int row = first_row + at / PLAIN_BK, a_k = k0 + at % PLAIN_BK;
        const int col = first_col + at % BN, b_k = k0 + at / BN;
        a[i] = row < w->M && a_k < w->K ? A[(size_t)row * w->K + a_k] : 0.0f;
        b[i] = col < w->N && b_k < w->K ? B[(size_t)b_k * w->N + col] : 0.0f;
    }
}

static __device__ __forceinline__ void put(struct plain_tiles *to, const float *a,
                                           const float *b)
{
#pragma unroll
    for (int i = 0; i < FETCHES; ++i) {
        const int at = i * PLAIN_THREADS + threadIdx.x;
        to->A[at % PLAIN_BK][at / PLAIN_BK] = a[i];
        to->B[at / BN][at % BN] = b[i];
    }
}

static __global__ void __launch_bounds__(PLAIN_THREADS, PLAIN_BLOCKS)
    plain_kernel(const __grid_constant__ struct work w, const float *A, const float *B)
{
    __shared__ __align__(16) struct plain_tiles tiles[2];
    if (!*w.some_unfit)
        return;
    const int thread_row = threadIdx.x / 16 * 4;
    const int thread_col = threadIdx.x % 16 * 4;
    for (int tile = blockIdx.x; tile < w.tiles_down * w.tiles_across; tile += gridDim.x) {
        int tile_row, tile_col;
        place_tile(&w, tile, &tile_row, &tile_col);
        if (!is_unfit(&w, tile_row, tile_col))
            continue;
        float acc[8][8] = {{0.0f}}, a_next[FETCHES], b_next[FETCHES];
        fetch(&w, A, B, tile_row * BM, tile_col * BN, 0, a_next, b_next);
        __syncthreads(); // the tile before has been read
        put(&tiles[0], a_next, b_next);
        for (int k0 = 0; k0 < w.K; k0 += PLAIN_BK) {
            __syncthreads(); // this step's numbers are there, the last step's were read
            const struct plain_tiles *now = &tiles[k0 / PLAIN_BK % 2];
            fetch(&w, A, B, tile_row * BM, tile_col * BN, k0 + PLAIN_BK, a_next, b_next);
#pragma unroll
            for (int k = 0; k < PLAIN_BK; ++k) {
                float a[8], b[8];
#pragma unroll
                for (int i = 0; i < 8; i += 4) {
                    *(float4 *)&a[i] = *(float4 *)&now->A[k][thread_row + i * (BM / 8)];
                    *(float4 *)&b[i] = *(float4 *)&now->B[k][thread_col + i * (BN / 8)];
                }
#pragma unroll
                for (int m = 0; m < 8; ++m)
#pragma unroll
                    for (int n = 0; n < 8; ++n)
                        acc[m][n] = fmaf(a[m], b[n], acc[m][n]);
            }
            put(&tiles[(k0 / PLAIN_BK + 1) % 2], a_next, b_next);
        }
#pragma unroll
        for (int m = 0; m < 8; ++m)
#pragma unroll
            for (int n = 0; n < 8; n += 2) {
                const int row = tile_row * BM + thread_row + m / 4 * (BM / 2) + m % 4;
                const int col = tile_col * BN + thread_col + n / 4 * (BN / 2) + n % 4;
                if (row < w.M && col < w.N)
                    store2(&w, row, col, acc[m][n], acc[m][n + 1]);
            }
    }
}

#endif
