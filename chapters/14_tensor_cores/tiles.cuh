/* The tiles of A and B in shared memory: where in them an element lies, and the copies that
 * bring them there. */
#ifndef TILES_CUH
#define TILES_CUH

#include "mma_sync.h"

#include <cuda_pipeline.h>

// A block covers BM x BN elements of C, a warp WM x WN of them.
const int BM = 128;
const int BN = 256;
const int WM = 64;
const int WN = 64;
const int THREADS = BM / WM * (BN / WN) * 32;

// Shared memory is handled in cells of 16 bytes: 8 bf16 or 4 fp32. A step along K takes
// BK elements, the eight cells of a row of A; a multiplication takes two of them.
template <typename T> struct tile {
    static const int CELL = 16 / sizeof(T);
    static const int BK = 8 * CELL;
    T A[BM][BK], B[BK][BN];
};

// In every row cells change places: cell c lies where the cell c ^ turn would. Rows are
// 128 bytes or a multiple, so without it the same cell of all rows would lie in the same
// four banks. ldmatrix reads one cell of eight rows. Of B in fp32 lanes read single
// floats, eight neighbours (two cells) of four rows.
template <typename T> __device__ int A_turn(int row)
{
    return row % 8;
}

template <typename T> __device__ int B_turn(int k)
{
    return sizeof(T) == 2 ? k % 8 : k % 4 * 2;
}

// Where a thread's copies come from and where they go: WIDTH elements in every STEP-th
// row of the tiles. Places in shared memory are numbers of bytes.
template <typename T, int WIDTH> struct copies {
    static const int BK = tile<T>::BK;
    static const int A_STEP = THREADS * WIDTH / BK, A_COUNT = BM / A_STEP;
    static const int B_STEP = THREADS * WIDTH / BN, B_COUNT = BK / B_STEP;
    // Short copies are many: their addresses, or what is carried, must not all wait in
    // registers at once.
    static const int UNROLLED = WIDTH * sizeof(T) < 8 ? 8 : 32;
    const T *A, *B;      // my column of the tile's first row of A; my first place in B
    int A_row, A_last;   // my first row of A's tile, and the last one inside the matrix
    int A_left, B_left;  // elements of A's rows, rows of B, from my first place on
    uint32_t A_to, B_to; // my first places in the first stage
};

// Rows and columns past the end of the matrices are copied from the last ones: they are
// multiplied, and the result is not stored.
template <typename T, int WIDTH>
__device__ void find_copies(copies<T, WIDTH> *c, int row, int col, int M, int N, int K,
                            const T *A, const T *B, tile<T> *tiles)
{
    const int BK = c->BK, CELL = tiles->CELL;
    const int a_row = threadIdx.x / (BK / WIDTH),
              a_k = threadIdx.x % (BK / WIDTH) * WIDTH;
    const int b_k = threadIdx.x / (BN / WIDTH),
              b_col = threadIdx.x % (BN / WIDTH) * WIDTH;
    c->A = &A[(size_t)row * K + a_k];
    c->B = &B[(size_t)b_k * N + min(col + b_col, (N - 1) / WIDTH * WIDTH)];
    c->A_row = a_row;
    c->A_last = M - 1 - row;
    c->A_left = K - a_k;
    c->B_left = K - b_k;
    c->A_to = shared_address(
        &tiles->A[a_row][(a_k / CELL ^ A_turn<T>(a_row)) * CELL + a_k % CELL]);
    c->B_to = shared_address(
        &tiles->B[b_k][(b_col / CELL ^ B_turn<T>(b_k)) * CELL + b_col % CELL]);
}

// One copy. If it is CHECKED, what lies outside comes as zeros. cp.async moves 4, 8 or 16
// bytes; a single bf16 has to be carried.
template <bool CHECKED, typename T, int WIDTH>
__device__ void copy(uint32_t to, const T *from, bool inside)
{
    const int BYTES = WIDTH * sizeof(T);
    if (BYTES < 4)
        st_shared_16(to, inside ? *(const unsigned short *)from : 0);
    else if (CHECKED)
        cp_async<BYTES>(to, from, inside ? BYTES : 0);
    else
        cp_async<BYTES>(to, from);
}

// Starts a thread's copies of the next tile into the stage that begins `stage` bytes
// behind the first. Each goes STEP rows further down than the one before, with one pointer
// for all, since the sums leave no registers for more. And because an XOR has no carries,
// the turn of the sum of the rows is the XOR of their turns.
template <bool CHECKED, typename T, int WIDTH>
__device__ void start_copies(copies<T, WIDTH> *c, uint32_t stage, int N, int K)
{
    const T *from = c->A + (size_t)min(c->A_row, c->A_last) * K;
#pragma unroll(copies<T, WIDTH>::UNROLLED)
    for (int i = 0; i < c->A_COUNT; ++i) {
        const int down = i * c->A_STEP;
        const uint32_t to = (c->A_to ^ A_turn<T>(down) * 16) + stage;
        copy<CHECKED, T, WIDTH>(to + down * sizeof(tile<T>().A[0]), from, c->A_left > 0);
        from += c->A_row + down + c->A_STEP <= c->A_last ? (size_t)c->A_STEP * K : 0;
    }
    from = c->B;
#pragma unroll(copies<T, WIDTH>::UNROLLED)
    for (int i = 0; i < c->B_COUNT; ++i) {
        const int down = i * c->B_STEP;
        const uint32_t to = (c->B_to ^ B_turn<T>(down) * 16) + stage;
        copy<CHECKED, T, WIDTH>(to + down * sizeof(tile<T>().B[0]), from,
                                c->B_left > down);
        from += (size_t)c->B_STEP * N;
    }
    c->A += c->BK;
    c->B += (size_t)c->BK * N;
    c->A_left -= c->BK;
    c->B_left -= c->BK;
    __pipeline_commit();
}

#endif
