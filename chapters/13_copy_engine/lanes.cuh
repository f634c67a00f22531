/* Where the 32 lanes of a warp stand in its tile: always four rows of eight, but in which
 * order? They read the same bytes in any order. What differs is which lanes ask for the
 * same 16 bytes, and with that how many a wavefront answers.
 *
 *     row by row                 in a z                     on diagonals
 *      0  1  2  3  4  5  6  7     0  1  8  9 16 17 24 25     0  4  8 12 16 20 24 28
 *      8  9 10 11 12 13 14 15     2  3 10 11 18 19 26 27     5  1 13  9 21 17 29 25
 *     16 17 18 19 20 21 22 23     4  5 12 13 20 21 28 29    10 14  2  6 26 30 18 22
 *     24 25 26 27 28 29 30 31     6  7 14 15 22 23 30 31    15 11  7  3 31 27 23 19
 *
 * If 0 and 1, 2 and 3, ... want the same 16 bytes, or 0 and 2, 1 and 3, ..., a wavefront
 * answers 16 lanes and not 8 (chapter 9). In one row they want the same of A, in one
 * column the same of B. So in a z all reads take two wavefronts instead of four, row by
 * row (chapter 12's order) and column by column only those of one matrix, and on
 * diagonals none.
 *
 * Fewer wavefronts should be better, and are, where shared memory is the limit. Where it
 * is not, such an answer for 16 seems to hold up the multiply-adds longer than two for 8
 * (ceiling.cuh measures the orders). */
#ifndef LANES_CUH
#define LANES_CUH

struct column_by_column {
    static __device__ __forceinline__ int row_of(int lane)
    {
        return lane % 4;
    }
    static __device__ __forceinline__ int col_of(int lane)
    {
        return lane / 4;
    }
};

struct in_a_z {
    static __device__ __forceinline__ int row_of(int lane)
    {
        return lane / 2 % 4;
    }
    static __device__ __forceinline__ int col_of(int lane)
    {
        return lane / 8 * 2 + lane % 2;
    }
};

struct on_diagonals {
    static __device__ __forceinline__ int row_of(int lane)
    {
        return lane % 4;
    }
    static __device__ __forceinline__ int col_of(int lane)
    {
        return (lane / 4) ^ (lane % 4);
    }
};

#endif
