/* The kinds of tiles, their stages in shared memory, who does them, and how long. */
#ifndef TILES_CUH
#define TILES_CUH

#include "results.cuh"
#include "shares.cuh"

const int BK = 64;
const int CONSUMERS = 2, THREADS = (1 + CONSUMERS) * 128;
// Blocks of a cluster: one tile below the other, and they share the columns of B.
const int CLUSTER = 2;

// Tiles of BM x BN. The consumers do a tile together, as one team; or they are two TEAMS,
// and each has its own tiles: while one brings its results out, the tensor core works for
// the other.
//
// TURNED: the product is C^T = B^T * A^T, as in tf32.cuh. The tensor core takes 64 columns
// of C at a time then, and any multiple of 8 rows.
template <int BM_, int BN_, int TEAMS_, bool TURNED_ = false> struct tile {
    static const int BM = BM_, BN = BN_, TEAMS = TEAMS_;
    static const bool TURNED = TURNED_;
    // A cluster's tiles lie one below the other; turned ones side by side.
    static const int DOWN = TURNED ? 1 : CLUSTER, ACROSS = TURNED ? CLUSTER : 1;
    static const int WARPS = CONSUMERS * 4 / TEAMS; // of a team
    // Of 64 rows, or of 64 columns, for a warpgroup; and the sums of a thread in each.
    static const int HALVES = (TURNED ? BN : BM) / 64 * TEAMS / CONSUMERS;
    static const int SUMS = (TURNED ? BM : BN) / 2;
    // Rows of a slab that a warp, or TURNED a team, brings out, by so many WAYS in turns.
    static const int OUT_ROWS = TURNED ? BM / 2 : 16,
                     OUTS = TURNED ? TEAMS : CONSUMERS * 4;
    static const int WAYS = BN == 192 ? 3 : (BN == 64 ? 1 : 2);
    // Parts are added up warp by warp, and a warp alone cannot bring out turned results.
    static const bool SHARED = !TURNED;
    struct stage {
        __nv_bfloat16 A[BM][BK];
        __nv_bfloat16 B[BN / SLAB][BK][SLAB];
    };
    typedef __nv_bfloat16 outs[OUTS][WAYS][OUT_ROWS][SLAB];
    static const int ROOM = (226 * 1024 - sizeof(outs)) / sizeof(stage);
    static const int STAGES = ROOM < 8 ? ROOM : 8;
    struct shared {
        stage stages[STAGES];
        outs out; // results on their way
    };
    static_assert(sizeof(stage) % 1024 == 0,
                  "swizzled matrices begin at multiples of it");
    static_assert(!TURNED || (TEAMS == CONSUMERS && BM % 32 == 0),
                  "a team, which is a warpgroup, brings out a tile in whole pieces");
    static_assert(sizeof(shared) <= 226 * 1024, "a block has 227 KB");
    static_assert(HALVES * 64 * CONSUMERS == (TURNED ? BN : BM) * TEAMS,
                  "a team's rows, or columns, are a tile's");
};
typedef tile<64, 128, 2> small_tile;
typedef tile<128, 64, 2> narrow_tile;
typedef tile<128, 128, 2> middle_tile;
typedef tile<160, 128, 2, true> high_tile;
typedef tile<128, 192, 1> wide_tile;
typedef tile<192, 128, 2, true> highest_tile;
typedef tile<128, 256, 1> widest_tile;

// What tiles of this kind would make of the product. A step takes the tensor core
// BM * BN / 32 clocks, or as long as it takes to bring its bytes: out of the L2 come 54 a
// clock for each of the 132 SMs, or 38 where rows do not begin at cache lines (`lines`).
// Where C's rows begin anywhere, warps store results one by one. All plans of all kinds were
// measured for 110 products on an H200, large squares also in long runs, where power is the
// limit; the constants are round numbers with which the chosen plan takes 0.6 % longer than
// the fastest of them, in the mean, and 12 % at worst.
template <class T> static struct plan plan_tiles(int M, int N, int K, bool lines)
{
    const int BM = T::BM, BN = T::BN;
    const double size = 2.0;
    // Short pieces of rows, of B and C, are slower.
    const double matrices = size * ((double)M * K + (K + 0.5 * M) * N * (BN + 40) / BN);
    const double of_warp = BM * BN / T::WARPS, one_by_one = N % 8 ? 0.5 * of_warp : 0.0;
    // Fitted, too: a step of the tallest tiles comes closest to the clocks above.
    const double slower = !T::TURNED ? 1.05 : BM < 192 ? 1.01 : 1.0;
    const struct cost cost = {
        .start = 8600.0 + (T::TURNED ? 2500.0 : 0.7 * of_warp) + one_by_one,
        .step = BM * BN / 32.0 * slower,
        .L2 = size * BK * ((double)BM / T::ACROSS + (double)BN / T::DOWN) /
              (lines ? 54.0 : 38.0),
        .tile = (T::TEAMS > 1 ? 400.0 : 1300.0) + 0.2 * one_by_one,
        .memory = matrices / 4000.0,
        .sharing = 3000.0,
        .part = BM * BN * sizeof(float) / 32.0,
    };
    return best_plan(divided_up(M, BM * T::DOWN), divided_up(N, BN * T::ACROSS),
                     divided_up(K, BK), tile_columns ? 3 : number_of_blocks() / CLUSTER,
                     T::SHARED ? A_ROUND_AND_THE_REST : NOTHING, &cost);
}

static bool is_turned(int kind)
{
    return kind == HIGH || kind == HIGHEST;
}

// Plans the product in tiles of each kind, and returns the number of the kind that is the
// fastest by its plan, or that --tile asks for. `lines`: all rows of A and B begin at
// cache lines. `turned`: turned tiles can be brought out.
static int plan_kinds(int M, int N, int K, bool lines, bool turned,
                      struct plan (&plans)[KINDS])
{
    plans[0] = plan_tiles<small_tile>(M, N, K, lines);
    plans[1] = plan_tiles<narrow_tile>(M, N, K, lines);
    plans[2] = plan_tiles<middle_tile>(M, N, K, lines);
    plans[HIGH] = plan_tiles<high_tile>(M, N, K, lines);
    plans[4] = plan_tiles<wide_tile>(M, N, K, lines);
    plans[HIGHEST] = plan_tiles<highest_tile>(M, N, K, lines);
    plans[6] = plan_tiles<widest_tile>(M, N, K, lines);
    int best = kind_asked_for();
    if (is_turned(best) && !turned)
        ++best;
    for (int i = 1; i < KINDS && !tile_columns; ++i)
        if (plans[i].clocks < plans[best].clocks && (turned || !is_turned(i)))
            best = i;
    return best;
}

#endif
