/* A is turned where it lies. prepare() turns all of A before the product, and that is a
 * pass over A: where C is narrow, nearly as long as the product itself. Here the copy
 * engine brings A's rows as they are, and each warp turns its own part in shared memory,
 * in squares of 4 x 4: a lane reads a square's four rows, 16 bytes each, and writes its
 * columns to the same 64 bytes. No other lane touches them meanwhile.
 *
 * A stage's A comes in boxes of 32 steps of k, a row of 128 bytes each, in the 128-byte
 * swizzle: of row r's eight pieces of 16 bytes, piece p lies at place p ^ (r % 8), so
 * that the same piece of eight rows lies in all 32 banks. After it was turned, a piece
 * holds four rows' floats for one step of k. Four rows of lanes read such pieces at once,
 * of squares below each other, and without more these would meet in half of the banks:
 * the swizzle repeats after two squares. So every other pair of squares puts its columns
 * one row further down:
 *
 *     square 0:  k0     square 1:  k0     square 2:  k3     square 3:  k3
 *                k1                k1                k0                k0
 *                k2                k2                k1                k1
 *                k3                k3                k2                k2
 */
#ifndef TURNING_CUH
#define TURNING_CUH

const int BOX = 32; // steps of k, 128 bytes

// A lane's places in its warp's part of a box, in floats: the row's, times BOX, and the
// piece's, times 4.
struct turning {
    int row[4], column[4]; // where the first square has its rows, and gets its columns
    int step[4]; // where the thread's first four rows are, for each step of four
};

// Row `row` of square `square` in the piece `piece` of the box.
static __device__ __forceinline__ int place_of(int square, int row, int piece)
{
    const int r = 4 * square + row;
    return r * BOX + (piece ^ r % 8) * 4;
}

// In which row square `square` has its column for step k.
static __device__ __forceinline__ int turned_row(int square, int k)
{
    return (k + square / 2 % 2) % 4;
}

template <class T>
static __device__ __forceinline__ struct turning turning_of(int lane, int slice)
{
    const int PIECES = T::STEPS / 4; // that a slice has of a box
    const int first = slice * PIECES % (BOX / 4);
    // Neighbouring lanes turn squares of neighbouring pieces: eight of them, eight places.
    const int square = lane / PIECES, piece = first + lane % PIECES;
    const int mine = T::LANES::row_of(lane);
    struct turning t;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        t.row[k] = place_of(square, k, piece);
        t.column[k] = place_of(square, turned_row(square, k), piece);
        t.step[k] = place_of(mine, turned_row(mine, k), first);
        // Or the compiler computes them again for each stage.
        asm("" : "+r"(t.row[k]), "+r"(t.column[k]), "+r"(t.step[k]));
    }
    return t;
}

// Turns the warp's part of a box, from A_part on: T::WM rows, and its slice's pieces.
template <class T>
static __device__ __forceinline__ void turn(float *A_part, const struct turning *t,
                                            int lane)
{
    const int SQUARES = T::WM / 4 * (T::STEPS / 4);
    const int ROWS = 32 / (T::STEPS / 4) * 4; // of 32 squares: the next lie as these do
#pragma unroll
    for (int i = 0; i < SQUARES; i += 32) {
        float v[4][4];
        if (i + lane < SQUARES) {
#pragma unroll
            for (int k = 0; k < 4; ++k)
                *(float4 *)v[k] =
                    *(const float4 *)&A_part[t->row[k] + i / 32 * ROWS * BOX];
#pragma unroll
            for (int k = 0; k < 4; ++k)
                *(float4 *)&A_part[t->column[k] + i / 32 * ROWS * BOX] =
                    make_float4(v[0][k], v[1][k], v[2][k], v[3][k]);
        }
    }
    __syncwarp();
}

// Reads a thread's rows for the slice's step k0 + k, k0 a multiple of ROUND: see
// load_fragment(). Between its squares of rows are 16 rows.
template <class T>
static __device__ __forceinline__ void load_turned(float *to, const float *A_part,
                                                   const struct turning *t, int k0, int k)
{
    // The pieces' numbers differ in the bits that `first` leaves free.
    load_fragment<T::TM>(to, &A_part[t->step[k % 4] ^ (k0 + k / 4 * 4)],
                         T::ROW_STEP * BOX);
}

#endif
