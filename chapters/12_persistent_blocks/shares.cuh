/* Who computes what: the tiles of C, dealt to as many blocks as the GPU holds at once.
 *
 *     132 blocks, 512 tiles:  3 whole tiles each, then 116 are left for 132 blocks.
 *     their k-blocks, end to end:  |  tile 396  |  tile 397  |  tile 398  | ...
 *     cut into equal shares:       | block 0  | block 1  | block 2  | block 3 | ...
 *
 * A share may hold the end of one tile and the start of the next; the parts of a tile are
 * added up in the order of k. Where there are fewer tiles than blocks, every share is
 * such a part: the blocks divide K among them.
 */
#ifndef FP32_SHARES_CUH
#define FP32_SHARES_CUH

#include "matmul.h"

// What all blocks do together, and from which each finds out its part. It travels as a
// kernel argument: an instruction takes such an operand from constant memory directly.
struct work {
    int M, N, K;
    float alpha, beta;
    const float *A, *B;
    float *C;
    int B_row, C_row;             // floats from a row of B, or of C, to the next
    bool aligned;                 // rows of C start at multiples of 16 bytes
    int tiles_down, tiles_across; // tiles of C
    int rows_together;            // rows of tiles in a band, see place_tile
    int blocks_k;                 // k-blocks a tile: stretches of BK along K
    int whole_tiles;              // tiles done by one block each; the rest are shared
    int share, longer_shares;     // k-blocks a share; the first longer_shares do one more
    int apart;                    // small.cuh: a part has every so many-th step of K
    float *parts;                 // two parts of tiles a block
    int *arrived;                 // for each shared tile and warp, the parts that came
};

// Whether the rows of B start at multiples of 16 bytes: four floats are copied at once.
static bool wide_rows(const struct work *w)
{
    return w->B_row % 4 == 0 && (size_t)w->B % 16 == 0;
}

// A stretch of k-blocks of one tile: [begin, end). A whole tile is [0, blocks_k).
struct segment {
    int tile, begin, end;
};

// A block's way through its work. The copies go ahead of the arithmetic, so there are
// two.
struct position {
    struct segment segment;
    int whole;       // my next whole tile
    int shared, end; // my k-blocks in the row of shared ones: [shared, end)
};

// The first k-block of a block's share. Shares differ by one at most: 59,392 k-blocks, of
// 116 tiles at K = 4096, are 449.9 for each of 132 blocks, so 124 do 450 and 8 do 449.
static __device__ int first_of(const struct work *w, int block)
{
    return block * w->share + min(block, w->longer_shares);
}

// The block whose share holds k-block `at`: first_of backwards. Who adds up a tile must
// know which blocks had parts of it, and this way there is no list to keep.
static __device__ int owner_of(const struct work *w, int at)
{
    const int longer = w->longer_shares * (w->share + 1);
    return at < longer ? at / (w->share + 1)
                       : w->longer_shares + (at - longer) / w->share;
}

static __device__ struct position start_position(const struct work *w)
{
    const int block = blockIdx.x;
    const struct position p = {
        {0, 0, 0}, block, first_of(w, block), first_of(w, block + 1)};
    return p;
}

// Steps to the block's next segment; false when there is none. Whole tiles come first:
// the parts of shared tiles are then brought at about the same time, at the end, and the
// warp that adds them up finds them in the L2.
static __device__ __forceinline__ bool next_segment(const struct work *w,
                                                    struct position *p)
{
    if (p->whole < w->whole_tiles) {
        p->segment.tile = p->whole;
        p->segment.begin = 0;
        p->segment.end = w->blocks_k;
        p->whole += gridDim.x;
        return true;
    }
    if (p->shared >= p->end)
        return false;
    const int tile = p->shared / w->blocks_k;
    const int start = tile * w->blocks_k;
    p->segment.tile = w->whole_tiles + tile;
    p->segment.begin = p->shared - start;
    p->segment.end = min(p->end - start, w->blocks_k);
    p->shared = start + p->segment.end;
    return true;
}

// Where a tile lies. Neighbours in number are neighbours in C, down and across: the
// blocks that run together read the same rows of A and columns of B, and find them in the
// L2.
static __device__ void place_tile(const struct work *w, int tile, int *tile_row,
                                  int *tile_col)
{
    const int in_a_band = w->rows_together * w->tiles_across;
    const int band = tile / in_a_band;
    const int rows = min(w->rows_together, w->tiles_down - band * w->rows_together);
    *tile_row = band * w->rows_together + tile % in_a_band % rows;
    *tile_col = tile % in_a_band / rows;
}

// The blocks that have parts of a shared tile: from `first` to `last`.
static __device__ __forceinline__ void owners_of(const struct work *w, int tile,
                                                 int *first, int *last)
{
    const int start = (tile - w->whole_tiles) * w->blocks_k;
    *first = owner_of(w, start);
    *last = owner_of(w, start + w->blocks_k - 1);
}

// Where a block leaves its part of a tile. It has two parts at most: the end or middle of
// a tile, and the start of the next, which is its second. The first of a tile's owners
// has always the start.
static __device__ __forceinline__ float *part_of(const struct work *w, int block,
                                                 bool start, int floats)
{
    return &w->parts[(2 * (size_t)block + start) * floats];
}

// A block's part of a tile is done. Returns whether this warp has the complete sums of
// its results in `acc` now, and stores them: at once where the segment is a whole tile,
// else if it brings the last part. Then it adds up all of them in the order of k, so that
// the sum does not depend on the order in which they came.
template <class T>
static __device__ __forceinline__ bool
bring_part(const struct work *w, const struct segment *segment, float acc[T::TM][T::TN])
{
    if (segment->end - segment->begin == w->blocks_k)
        return true;
    // Neighbouring threads write neighbouring floats: element (m, n) of all threads lies
    // together.
    float *mine = part_of(w, blockIdx.x, segment->begin == 0, T::PART) + threadIdx.x;
#pragma unroll
    for (int m = 0; m < T::TM; ++m)
#pragma unroll
        for (int n = 0; n < T::TN; ++n)
            mine[(m * T::TN + n) * T::THREADS] = acc[m][n];
    // Lane 0 speaks for its warp: what all lanes have written must be visible to the whole
    // GPU before it says so (the first fence), and theirs must be read after they have
    // said so (the second). The block's other warps do the same by themselves.
    __syncwarp();
    __threadfence();
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int *arrived = &w->arrived[(segment->tile - w->whole_tiles) * T::WARPS + warp];
    int first, last, before = 0;
    owners_of(w, segment->tile, &first, &last);
    if (lane == 0)
        before = atomicAdd(arrived, 1);
    before = __shfl_sync(0xffffffffu, before, 0);
    if (before != last - first)
        return false;
    __threadfence();
    __syncwarp();
    if (lane == 0)
        *arrived = 0; // ready for the next product
    // Four rows at a time, so that the loads of a part need few registers; mine is read
    // again with the others. __ldcg reads past the L1, which may hold an older state of
    // these addresses.
#pragma unroll
    for (int m0 = 0; m0 < T::TM; m0 += 4) {
#pragma unroll
        for (int m = m0; m < m0 + 4; ++m)
#pragma unroll
            for (int n = 0; n < T::TN; ++n)
                acc[m][n] = 0.0f;
        for (int block = first; block <= last; ++block) {
            const float *theirs =
                part_of(w, block, block == first, T::PART) + threadIdx.x;
#pragma unroll
            for (int m = m0; m < m0 + 4; ++m)
#pragma unroll
                for (int n = 0; n < T::TN; ++n)
                    acc[m][n] += __ldcg(&theirs[(m * T::TN + n) * T::THREADS]);
        }
    }
    return true;
}

// Deals the tiles to at most `blocks` blocks, and returns to how many. Each gets as many
// whole tiles as any other, and then an equal share of what is left. Where sharing gains
// less than a twentieth of the last wave of tiles, or the k-blocks of what is left are
// more than an int can count, it is not done.
static int deal(struct work *w, int blocks)
{
    const long long tiles = (long long)w->tiles_down * w->tiles_across;
    // Few tiles: if nearly all blocks can have the same fraction of one, no share has
    // parts of two. The last share of a tile may reach past the end of K, and bring
    // zeros.
    const int each = tiles < blocks ? (int)(blocks / tiles) : 1;
    if (each > 1 && each * tiles * 10 >= blocks * 9LL) {
        blocks = (int)(each * tiles);
        w->blocks_k = (w->blocks_k + each - 1) / each * each;
    }
    long long left = tiles % blocks;
    if (left * 20 >= blocks * 19LL || left * w->blocks_k > 0x7fffffff)
        left = 0;
    w->whole_tiles = (int)(tiles - left);
    w->share = (int)(left * w->blocks_k / blocks);
    w->longer_shares = (int)(left * w->blocks_k % blocks);
    return blocks;
}

#endif
