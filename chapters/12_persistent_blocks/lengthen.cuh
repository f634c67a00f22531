/* A copy of B with longer rows, all of which start at multiples of 16 bytes: then four
 * floats are copied at once. It takes a pass over B; copying floats one by one takes longer
 * for every row of C, so from some number of rows on the copy pays. */
#ifndef LENGTHEN_CUH
#define LENGTHEN_CUH

#include "scratch.cuh"
#include "shares.cuh"

const int LENGTHEN = 256; // columns that a block copies, of LENGTHEN_ROWS rows
const int LENGTHEN_ROWS = 16;

// The floats from a row of such a copy to the next: whole lines of 128 bytes.
static __host__ __device__ int padded(int n)
{
    return (n + 31) / 32 * 32;
}

static int lengthen_blocks(int K, int N)
{
    return ((N - 1) / LENGTHEN + 1) * ((K - 1) / LENGTHEN_ROWS + 1);
}

// Block `block` of the above, of 256 threads, copies its part of the K x N matrix B; rows
// of `longer` are padded(N) floats apart and end in zeros.
static __device__ __forceinline__ void lengthen_rows(int block, int N, int K,
                                                     const float *B, float *longer)
{
    const int across = (N - 1) / LENGTHEN + 1, stride = padded(N);
    const int col = block % across * LENGTHEN + threadIdx.x;
    const int row = block / across * LENGTHEN_ROWS;
    float v[LENGTHEN_ROWS];
    // All loads first, then all stores: the loads wait for memory together.
#pragma unroll
    for (int i = 0; i < LENGTHEN_ROWS; ++i)
        v[i] = col < N && row + i < K ? B[(size_t)(row + i) * N + col] : 0.0f;
#pragma unroll
    for (int i = 0; i < LENGTHEN_ROWS; ++i)
        if (col < stride && row + i < K)
            longer[(size_t)(row + i) * stride + col] = v[i];
}

static __global__ void lengthen(int N, int K, const float *B, float *longer)
{
    lengthen_rows(blockIdx.x, N, K, B, longer);
}

// The same product with such a copy of B, which is enqueued.
static struct work with_longer_rows(const struct work *w)
{
    static struct scratch memory;
    struct work longer = *w;
    longer.B_row = padded(w->N);
    float *copy = scratch(&memory, (size_t)w->K * longer.B_row * sizeof(float));
    lengthen<<<lengthen_blocks(w->K, w->N), LENGTHEN>>>(w->N, w->K, w->B, copy);
    longer.B = copy;
    return longer;
}

#endif
