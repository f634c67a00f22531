/* The kinds of tiles, their stages in shared memory and who does them. */
#ifndef TILES_CUH
#define TILES_CUH

#include "results.cuh"

const int BK = 64;
const int CONSUMERS = 2, THREADS = (1 + CONSUMERS) * 128;
// Blocks of a cluster: one tile below the other, and they share the columns of B.
const int CLUSTER = 2;

// Tiles of BM x BN. The consumers do a tile together, as one team; or they are two TEAMS,
// and each has its own tiles: while one brings its results out, the tensor core works for
// the other.
template <int BM_, int BN_, int TEAMS_> struct tile {
    static const int BM = BM_, BN = BN_, TEAMS = TEAMS_;
    static const int WARPS = CONSUMERS * 4 / TEAMS;        // of a team
    static const int HALVES = BM / 64 * TEAMS / CONSUMERS; // of 64 rows, for a warpgroup
    // By so many ways a warp's results go out in turns.
    static const int WAYS = BN == 192 ? 3 : (BN == 64 ? 1 : 2);
    struct stage {
        __nv_bfloat16 A[BM][BK];
        __nv_bfloat16 B[BN / SLAB][BK][SLAB];
    };
    typedef __nv_bfloat16 outs[CONSUMERS * 4][WAYS][16][SLAB];
    static const int ROOM = (226 * 1024 - sizeof(outs)) / sizeof(stage);
    static const int STAGES = ROOM < 8 ? ROOM : 8;
    struct shared {
        stage stages[STAGES];
        outs out; // results on their way
    };
    static_assert(sizeof(stage) % 1024 == 0,
                  "swizzled matrices begin at multiples of it");
    static_assert(sizeof(shared) <= 226 * 1024, "a block has 227 KB");
    static_assert(HALVES * 64 * CONSUMERS == BM * TEAMS, "a team's rows are a tile's");
};
typedef tile<64, 128, 2> small_tile;
typedef tile<128, 64, 2> narrow_tile;
typedef tile<128, 128, 2> middle_tile;
typedef tile<128, 192, 1> wide_tile;
typedef tile<128, 256, 1> widest_tile;

#endif
