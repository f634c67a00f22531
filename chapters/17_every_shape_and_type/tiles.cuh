/* The kinds of tiles, their stages in shared memory, who does them, and how long. */
#ifndef TILES_CUH
#define TILES_CUH

#include "results.cuh"
#include "shares.cuh"

const int BK = 64;
const int CONSUMERS = 2, THREADS = (1 + CONSUMERS) * 128;

// Tiles of BM x BN. The consumers do a tile together, as one team; or they are two TEAMS,
// and each has its own tiles: while one brings its results out, the tensor core works for
// the other.
//
// A cluster's tiles lie one below the other, so many DOWN, and share the columns of B; or
// side by side, so many ACROSS, and share the rows of A.
//
// TURNED: the product is C^T = B^T * A^T, as in tf32.cuh. The tensor core takes 64 columns
// of C at a time then, and any multiple of 8 rows.
template <int BM_, int BN_, int TEAMS_, int DOWN_, int ACROSS_, bool TURNED_ = false>
struct tile {
    static const int BM = BM_, BN = BN_, TEAMS = TEAMS_;
    static const int DOWN = DOWN_, ACROSS = ACROSS_, CLUSTER = DOWN * ACROSS;
    static const bool TURNED = TURNED_;
    static const int WARPS = CONSUMERS * 4 / TEAMS; // of a team
    // Of 64 rows, or of 64 columns, for a warpgroup; and the sums of a thread in each.
    static const int HALVES = (TURNED ? BN : BM) / 64 * TEAMS / CONSUMERS;
    static const int SUMS = (TURNED ? BM : BN) / 2;
    // Rows of a slab that a warp, or TURNED a team, brings out, by so many WAYS in turns.
    static const int WAYS = BM % 32 || (BN == 64 && !TURNED) ? 1 : BN == 192 ? 3 : 2;
    static const int OUT_ROWS = TURNED ? BM / WAYS : 16;
    static const int OUTS = TURNED ? TEAMS : CONSUMERS * 4;
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
    // Where four sums lie that a thread leaves of a part at `at`: see leave_part().
    typedef __nv_bfloat16 number;
    static __device__ __forceinline__ void place(int at, int (&row)[4], int (&col)[4])
    {
        const int four = at / (WARPS * 32), mate = at / 32 % WARPS, lane = at % 32;
        const int half = four / (SUMS / 4), eight = four % (SUMS / 4);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int along = half * 64 + mate * 16 + lane / 4 + i / 2 * 8;
            const int over = eight * 8 + lane % 4 * 2 + i % 2;
            row[i] = TURNED ? over : along;
            col[i] = TURNED ? along : over;
        }
    }
    static_assert(sizeof(stage) % 1024 == 0,
                  "swizzled matrices begin at multiples of it");
    static_assert(!TURNED || (TEAMS == CONSUMERS && OUT_ROWS % 16 == 0),
                  "a team, which is a warpgroup, brings out 16 rows at a time");
    static_assert(DOWN == 1 || ACROSS == 1, "a cluster's blocks share one matrix");
    static_assert(BM / ACROSS % 8 == 0 && BK / DOWN % 8 == 0,
                  "each block brings whole groups of 8 rows of what is shared");
    static_assert(sizeof(shared) <= 226 * 1024, "a block has 227 KB");
    static_assert(HALVES * 64 * CONSUMERS == (TURNED ? BN : BM) * TEAMS,
                  "a team's rows, or columns, are a tile's");
};
typedef tile<128, 256, 1, 2, 1> widest_tile;

// What tiles of this kind would make of the product. A step takes the tensor core BM * BN /
// 32 clocks. Or it takes as long as shared memory, with 128 bytes a clock, has to do: the
// rows of A and of B come in, 128 bytes each, and for each half of the sums the core reads
// 64 rows of the one and all of the other. Or as long as it takes to bring what the block
// asks for: out of the L2 come 40 bytes a clock for each of the 132 SMs, and a row that
// begins within a cache line, A_stride and B_stride bytes behind another, lies in two lines.
// No step takes less than 320. Where C's rows begin anywhere, warps store results one by
// one. All plans of all kinds were measured on an H200: the constants are round numbers with
// which the chosen plan takes 0.5 % longer than the fastest, in the mean of 61 products, and
// 4 % at worst.
template <class T>
static struct plan plan_tiles(int M, int N, int K, size_t A_stride, size_t B_stride)
{
    const int BM = T::BM, BN = T::BN;
    const double size = 2.0, of_warp = BM * BN / T::WARPS;
    // Short pieces of rows, of B and C, are slower.
    const double matrices = size * ((double)M * K + (K + 0.5 * M) * N * (BN + 40) / BN);
    const double bytes = size * BK *
                         ((A_stride % 128 ? 2.0 : 1.0) * BM / T::ACROSS +
                          (B_stride % 128 ? 1.5 : 1.0) * BN / T::DOWN);
    const int halves = (T::TURNED ? BN : BM) / 64;
    const double core = BM * BN / 32.0;
    const double port = halves * (64 + (T::TURNED ? BM : BN)) + BM + BN;
    const double one_by_one = N % 8 ? 0.5 * of_warp : 0.0;
    const struct cost cost = {
        .start = 8700.0 + (T::TURNED ? 0.6 : 1.2) * of_warp + 6.0 * one_by_one,
        .step = fmax(1.5 * core, 1.3 * port),
        .L2 = bytes / 40.0,
        .least = 320.0,
        .tile = (T::TEAMS > 1 ? 700.0 : 2500.0) + 0.2 * one_by_one,
        .memory = matrices / 6000.0,
        .sharing = 2000.0,
        .part = BM * BN * sizeof(float) / 12.5,
        .adding = T::CLUSTER * BM * BN * sizeof(float) / (132 * 12.0),
        .promise = 0.025,
    };
    return best_plan(divided_up(M, BM * T::DOWN), divided_up(N, BN * T::ACROSS),
                     divided_up(K, BK), number_of_clusters(T::CLUSTER),
                     A_ROUND_AND_THE_REST, &cost);
}

template <class T>
static void launch_tiles(struct plan plan, int M, int N, int K, float alpha,
                         const __nv_bfloat16 *A, const __nv_bfloat16 *B, float beta,
                         __nv_bfloat16 *C);

// The kinds, in the order of the --tile that asks for them (tile_names in shares.cuh).
static const struct kind {
    const char *name;
    bool turned;
    struct plan (*plan)(int M, int N, int K, size_t A_stride, size_t B_stride);
    void (*launch)(struct plan plan, int M, int N, int K, float alpha,
                   const __nv_bfloat16 *A, const __nv_bfloat16 *B, float beta,
                   __nv_bfloat16 *C);
} kinds[KINDS] = {
#define KIND(BM, BN, ...)                                                                \
    {#BM " x " #BN, tile<BM, BN, __VA_ARGS__>::TURNED,                                   \
     plan_tiles<tile<BM, BN, __VA_ARGS__>>, launch_tiles<tile<BM, BN, __VA_ARGS__>>}
    KIND(64, 64, 2, 2, 1, true),   // 16
    KIND(64, 128, 2, 4, 1),        // 32
    KIND(64, 128, 2, 2, 1, true),  // 40
    KIND(96, 64, 2, 2, 1, true),   // 48
    KIND(128, 64, 2, 2, 1),        // 64
    KIND(128, 64, 2, 1, 4, true),  // 72
    KIND(160, 64, 2, 1, 4, true),  // 80
    KIND(192, 64, 2, 1, 2, true),  // 88
    KIND(192, 64, 2, 1, 4, true),  // 96
    KIND(96, 128, 2, 1, 4, true),  // 104
    KIND(112, 128, 2, 2, 1, true), // 112
    KIND(128, 128, 2, 2, 1),       // 128
    KIND(128, 128, 2, 2, 1, true), // 144
    KIND(144, 128, 2, 1, 2, true), // 152
    KIND(160, 128, 2, 1, 2, true), // 160
    KIND(160, 128, 2, 1, 4, true), // 176
    KIND(128, 192, 1, 2, 1),       // 192
    KIND(192, 128, 2, 1, 2, true), // 224
    KIND(128, 256, 1, 2, 1),       // 256
#undef KIND
};

// Plans the product in tiles of each kind, and returns the number of the kind that is the
// fastest by its plan, or that --tile asks for. `turned`: turned tiles can be brought out.
static int best_kind(int M, int N, int K, size_t A_stride, size_t B_stride, bool turned,
                     struct plan *plan)
{
    int best = kind_asked_for();
    while (kinds[best].turned && !turned)
        ++best; // the last kind is not
    *plan = kinds[best].plan(M, N, K, A_stride, B_stride);
    for (int i = 0; i < KINDS && !tile_columns; ++i) {
        if (kinds[i].turned && !turned)
            continue;
        const struct plan other = kinds[i].plan(M, N, K, A_stride, B_stride);
        if (other.clocks < plan->clocks) {
            *plan = other;
            best = i;
        }
    }
    return best;
}

#endif
