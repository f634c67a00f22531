/* Who does what: whole tiles, and shares of those that are left over or too few. */
#ifndef SHARES_CUH
#define SHARES_CUH

#include "prepare.cuh"
#include "results.cuh"
#include "ring.cuh"

#include <math.h>

// Division by a number that the host knows, as a product and a shift: `multiplier` is
// 2^shift / number, rounded up. The instructions for a / b take ten times as long, and who
// begins has to divide before it asks for the first byte. For dividends from 0 to 2^31 - 1.
// From: Granlund, Montgomery, Division by Invariant Integers using Multiplication, 1994.
struct divisor {
    unsigned multiplier;
    int shift;
};

static struct divisor divisor_of(int number)
{
    int bits = 0;
    while (1LL << bits < number)
        ++bits;
    return {(unsigned)(((1ULL << (31 + bits)) + number - 1) / number), 31 + bits};
}

static __device__ __forceinline__ int divided_by(struct divisor d, int dividend)
{
    return (int)((unsigned long long)dividend * d.multiplier >> d.shift);
}

// A unit is what a cluster does at a time, its blocks' tiles in a column or row. As many
// units as all clusters can do in equal numbers are done whole, or a round less. The others
// are shared: each by a few clusters of its own; or their steps along K are laid end to end
// and cut into equal shares, one for each cluster, as in chapter 12.
struct shares {
    int units_down, units_across;
    int steps;         // along K, for each unit
    int group;         // units that clusters go down together
    int whole;         // units done by one cluster each; the rest are shared
    int sharers;       // so many clusters share
    int together;      // so many steps, those of one unit or of all that are shared
    int share, longer; // steps in a share; the first `longer` shares have one more
    float4 *parts;     // two parts of tiles for each block
    // What is divided by: steps; sharers; the units of a group; a group's height, and the
    // last one's.
    struct divisor by_steps, by_sharers, by_group, by_height, by_last;
};

// A stretch of steps of one unit: [begin, end). A whole one is [0, steps).
struct segment {
    int unit, begin, end;
};

// A cluster's way through its work. Copies go ahead of the arithmetic, so there are two.
struct position {
    struct segment segment;
    bool more;        // there is a segment
    int down, across; // where its unit lies, in units
    bool back;        // its steps are taken from the last to the first
    int whole;        // my next whole unit
    int shared, end;  // my steps in the row of shared ones: [shared, end)
};

static __device__ __forceinline__ int first_of(const struct shares *s, int cluster)
{
    const int before = divided_by(s->by_sharers, cluster);
    const int number = cluster - before * s->sharers;
    return before * s->together + number * s->share + min(number, s->longer);
}

// The cluster whose share holds step `at`: first_of backwards.
static __device__ __forceinline__ int owner_of(const struct shares *s, int at)
{
    const int before = at / s->together, longer = s->longer * (s->share + 1);
    at -= before * s->together;
    return before * s->sharers +
           (at < longer ? at / (s->share + 1) : s->longer + (at - longer) / s->share);
}

// Where a unit lies, in units.
static __device__ __forceinline__ void place_of(const struct shares *s, int unit,
                                                int *down, int *across)
{
    const int first = divided_by(s->by_group, unit) * s->group; // row of units
    const int place = unit - first * s->units_across;
    const int height = min(s->group, s->units_down - first);
    *across = divided_by(height == s->group ? s->by_height : s->by_last, place);
    *down = first + place - *across * height;
}

// Goes to the next segment. Units follow each other as chapter 16's clusters do, and every
// other one is done from the end of K to its start: it begins with the k read last, and
// that part of the rows and columns that others want, too, the L2 may still hold. Where K
// is short, clusters go along rows, and this would cost up to 2.5 %.
static __device__ __forceinline__ void next_segment(const struct shares *s, int clusters,
                                                    struct position *p)
{
    if (p->whole < s->whole) {
        p->more = true;
        p->segment.unit = p->whole;
        p->segment.begin = 0;
        p->segment.end = s->steps;
        p->whole += clusters;
    } else {
        p->more = p->shared < p->end;
        const int unit = divided_by(s->by_steps, p->shared), start = unit * s->steps;
        p->segment.unit = s->whole + unit;
        p->segment.begin = p->shared - start;
        p->segment.end = min(p->end - start, s->steps);
        p->shared = start + p->segment.end;
    }
    if (!p->more)
        return;
    p->back = !p->back && s->group > 1;
    place_of(s, p->segment.unit, &p->down, &p->across);
}

// The step of a segment that is taken at `turn`, which counts from its begin to its end.
static __device__ __forceinline__ int step_at(const struct position *p, int turn)
{
    return p->back ? p->segment.begin + p->segment.end - 1 - turn : turn;
}

// Passes over a segment, and the stages of its steps: another team does it.
template <int STAGES>
static __device__ __forceinline__ void pass_over(const struct shares *s, int clusters,
                                                 struct position *p, struct turn *t)
{
    const int stage = t->index + p->segment.end - p->segment.begin;
    t->index = stage % STAGES;
    t->parity ^= stage / STAGES & 1;
    next_segment(s, clusters, p);
}

// The first segment of a cluster, of so many.
static __device__ __forceinline__ struct position
start_position(const struct shares *s, int cluster, int clusters)
{
    struct position p = {};
    p.back = true; // the first segment is done forward
    p.whole = cluster;
    p.shared = first_of(s, cluster);
    p.end = first_of(s, cluster + 1);
    next_segment(s, clusters, &p);
    return p;
}

static __device__ __forceinline__ void add(float4 *sum, float4 part)
{
    sum->x += part.x;
    sum->y += part.y;
    sum->z += part.z;
    sum->w += part.w;
}

// Leaves this thread's COUNT sums of a part of a tile in memory. `thread` counts those that
// do the tile, and there are THREADS of them.
template <int COUNT, int THREADS>
static __device__ __forceinline__ void leave_part(const struct shares *s,
                                                  const struct segment *segment,
                                                  const float (&acc)[COUNT], int thread)
{
    // A cluster has two parts at most: the start of a unit, and the end or the middle of
    // another. The start of a unit is always its owner's second.
    float4 *mine =
        s->parts + thread +
        ((size_t)blockIdx.x * 2 + (segment->begin == 0)) * (COUNT / 4 * THREADS);
#pragma unroll
    for (int i = 0; i < COUNT; i += 4)
        mine[i / 4 * THREADS] = make_float4(acc[i], acc[i + 1], acc[i + 2], acc[i + 3]);
}

// A second kernel adds up the parts of the shared tiles, on all SMs. A thread adds up four
// sums of a tile; where there are many parts, the eight warps of a block do it together,
// each as one of the ADDERS of every eighth part. The order never depends on who came when.
// Block (x, y): piece x of tile y. T says with place() where in a tile its sums lie.
const int ADD_THREADS = 256, MOST_ADDERS = ADD_THREADS / 32;

template <class T, int ADDERS>
__global__ void __launch_bounds__(ADD_THREADS)
    add_parts(const __grid_constant__ struct shares s, int M, int N, float alpha,
              float beta, typename T::number *C)
{
    const int PART = T::BM * T::BN / 4, PIECE = ADD_THREADS / ADDERS;
    static_assert(PART % ADD_THREADS == 0, "a tile's sums are whole pieces");
    __shared__ float4 of_adder[ADDERS][PIECE];
    const int number = blockIdx.y / T::CLUSTER, rank = blockIdx.y % T::CLUSTER;
    const int adder = threadIdx.x / PIECE, mine = threadIdx.x % PIECE;
    const int at = blockIdx.x * PIECE + mine;
    const int start = number * s.steps;
    const int first = owner_of(&s, start), last = owner_of(&s, start + s.steps - 1);
    int down, across, row[4], col[4];
    place_of(&s, s.whole + number, &down, &across);
    T::place(at, row, col);
    griddepcontrol_wait(); // for all parts
    if (first == last)
        return; // one cluster did it all
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 8
    for (int c = first + adder; c <= last; c += ADDERS)
        add(&sum,
            s.parts[((size_t)(c * T::CLUSTER + rank) * 2 + (c == first)) * PART + at]);
    if (ADDERS > 1) {
        of_adder[adder][mine] = sum;
        __syncthreads();
        if (adder > 0)
            return;
#pragma unroll
        for (int i = 1; i < ADDERS; ++i)
            add(&sum, of_adder[i][mine]);
    }
    const float sums[4] = {sum.x, sum.y, sum.z, sum.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int r = (down * T::DOWN + rank % T::DOWN) * T::BM + row[i];
        const int c = (across * T::ACROSS + rank / T::DOWN) * T::BN + col[i];
        if (r < M && c < N) {
            typename T::number *to = &C[(size_t)r * N + c];
            store_one(to, beta == 0.0f ? alpha * sums[i]
                                       : alpha * sums[i] + beta * as_float(*to));
        }
    }
}

/* ---- the host's side ---- */

static __host__ __device__ __forceinline__ int divided_up(int a, int b)
{
    return (a - 1) / b + 1;
}

// --tile: the kind of tiles, and three clusters, in tf32 four, which share what does not
// divide; in other kernels, four blocks. So small products see what large ones do.
// 8: the kernels for few rows or columns. 0: as planned.
static int tile_columns;
const int FEW_COLUMNS = 8, KINDS = 19,
          tile_names[KINDS] = {16,  32,  40,  48,  64,  72,  80,  88,  96, 104,
                               112, 128, 144, 152, 160, 176, 192, 224, 256};

// The kind that --tile asks for; where there is none, the program ends.
static int kind_asked_for(void)
{
    int kind = 0;
    while (kind < KINDS - 1 && tile_names[kind] < tile_columns)
        ++kind;
    if (tile_columns && tile_columns != FEW_COLUMNS && tile_columns != tile_names[kind]) {
        fprintf(stderr, "--tile: %d", FEW_COLUMNS);
        for (int i = 0; i < KINDS - 1; ++i)
            fprintf(stderr, ", %d", tile_names[i]);
        fprintf(stderr, " or %d, not %d\n", tile_names[KINDS - 1], tile_columns);
        exit(2);
    }
    return kind;
}

static int number_of_blocks(void)
{
    int sms;
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    return tile_columns ? 4 : sms;
}

// How many SMs clusters of four and more can have, with a block on each. All blocks of a
// cluster run in one part of the GPU, a GPC, and some of its SMs may be left over: of two
// blocks an H200 runs 66 clusters, of four 30, of eight 15
// (cudaOccupancyMaxActiveClusters).
static int sms_for_clusters(int sms)
{
    return sms - sms / 11;
}

// How many clusters of so many blocks run at a time.
static int number_of_clusters(int blocks)
{
    const int sms = number_of_blocks();
    return tile_columns ? 3 : (blocks > 2 ? sms_for_clusters(sms) : sms) / blocks;
}

static bool is_shared(const struct shares *s)
{
    return s->share > 0 || s->longer > 0;
}

// What a kind of tile costs, in clocks.
struct cost {
    double start;   // until the first step, and behind the last
    double step;    // of k, as an SM's tensor core or shared memory does it;
    double L2;      // as the L2 brings it, if all clusters there can be are at work;
    double least;   // and however little it is
    double tile;    // between a tile and the next, while the tensor core waits
    double memory;  // what A, B and C take on their way from and to memory
    double sharing; // once, if there are shared tiles,
    double part;    // and for each part that a block leaves,
    double adding;  // and for a part of each block of a cluster that is added up,
    double uneven;  // and once, if shared units have no clusters of their own
    double promise; // the part of the time that sharing has to save to be worth it
};

// What a step takes if so many clusters of `most` are at work: the longest of the three,
// and more where two are about as long, as a norm has it.
static double step_clocks(const struct cost *cost, double clusters, double most)
{
    return pow(pow(cost->step, 4) + pow(cost->L2 * clusters / most, 4) +
                   pow(cost->least, 4),
               0.25);
}

// Who does what, and how long that may take.
struct plan {
    int clusters;
    double clocks;
    struct shares shares;
};

// What becomes of units that all clusters cannot do in equal numbers: another round, or
// they are shared, or they and those of the round before are. There are fewer and larger
// parts then.
enum sharing { NOTHING, THE_REST, A_ROUND_AND_THE_REST };

// Deals units of `steps` steps each to so many clusters of `most`.
static struct plan deal(int down, int across, int steps, int clusters, int most,
                        enum sharing sharing, const struct cost *cost)
{
    // Where K is short, C is most of what is moved. It is written row by row then.
    const int group = steps <= 8 && !tile_columns ? 1 : 8;
    struct plan p = {clusters, 0.0, {down, across, steps, group}};
    const long long units = (long long)down * across;
    int left = sharing == NOTHING ? 0 : (int)(units % clusters);
    if (left && sharing == A_ROUND_AND_THE_REST && units > clusters)
        left += clusters;
    p.shares.whole = (int)(units - left);
    const bool alone = left && clusters % left == 0; // each unit has its own clusters
    p.shares.sharers = alone ? clusters / left : clusters;
    p.shares.together = alone ? steps : left * steps;
    p.shares.share = p.shares.together / p.shares.sharers;
    p.shares.longer = p.shares.together % p.shares.sharers;
    const int rounds = (int)((p.shares.whole + clusters - 1LL) / clusters);
    const int mine = rounds * steps + p.shares.share + (p.shares.longer ? 1 : 0);
    p.clocks = cost->start + mine * step_clocks(cost, clusters, most) +
               (rounds - (left ? 0 : 1)) * cost->tile + cost->memory;
    if (left)
        p.clocks += cost->sharing + (alone ? 1 : 2) * cost->part +
                    (alone ? clusters : clusters + left) * cost->adding +
                    (alone ? 0.0 : cost->uneven);
    return p;
}

// The shortest plan for at most `clusters` clusters: units done whole, or shared by all of
// them, with a round more if `most_shared` allows it (`each` 0) or without (1), or each unit
// by a few, for many parts take long to add up; and by a power of two: such plans were
// faster than their neighbours, perhaps because K then divides evenly and its pieces meet
// in the L2. A share of a few clusters has two steps at least. Sharing has to promise a
// little: the model is not better than that.
static struct plan best_plan(int down, int across, int steps, int clusters,
                             enum sharing most_shared, const struct cost *cost)
{
    const long long units = (long long)down * across;
    const int most = clusters;
    if (tile_columns)
        return deal(down, across, steps, clusters, most, most_shared, cost);
    const struct plan whole =
        deal(down, across, steps, units < most ? (int)units : most, most, NOTHING, cost);
    if (most_shared == NOTHING)
        return whole;
    struct plan best = whole;
    for (int each = most_shared == A_ROUND_AND_THE_REST ? 0 : 1; each <= 32;
         each = each ? 2 * each : 1) {
        const long long n = each < 2 ? clusters : units * each;
        if (n > clusters || 2 * n > units * steps || (units % n + n) * steps > 0x7fffffff)
            continue;
        const struct plan p = deal(down, across, steps, (int)n, most,
                                   each ? THE_REST : A_ROUND_AND_THE_REST, cost);
        if (p.clocks < best.clocks && p.clocks < (1.0 - cost->promise) * whole.clocks)
            best = p;
    }
    return best;
}

// What the kernel needs besides a plan: what it divides by, and the room of shared units,
// each of so many blocks' tiles.
static void make_ready(struct plan *p, int blocks, int tile)
{
    struct shares *s = &p->shares;
    const int last = s->units_down % s->group;
    s->by_steps = divisor_of(s->steps);
    s->by_sharers = divisor_of(s->sharers);
    s->by_group = divisor_of(s->group * s->units_across);
    s->by_height = divisor_of(s->group);
    s->by_last = divisor_of(last ? last : s->group);
    if (is_shared(s))
        s->parts = (float4 *)scratch(PARTS, (size_t)p->clusters * blocks * 2 * tile *
                                                sizeof(float));
}

// Launches the second kernel, if there are parts. It is there before the first has ended,
// and waits. An adder has up to eight parts, which it asks for at once.
template <class T, int ADDERS>
static void launch_add_parts(const struct shares *s, int M, int N, float alpha,
                             float beta, typename T::number *C)
{
    const int tiles = (s->units_down * s->units_across - s->whole) * T::CLUSTER;
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(T::BM * T::BN / 4 / ADD_THREADS * ADDERS, tiles);
    config.blockDim = ADD_THREADS;
    config.attrs = &early;
    config.numAttrs = 1;
    CUDA_CHECK(
        cudaLaunchKernelEx(&config, add_parts<T, ADDERS>, *s, M, N, alpha, beta, C));
}

template <class T>
static void launch_adders(const struct shares *s, int M, int N, float alpha, float beta,
                          typename T::number *C)
{
    if (!is_shared(s))
        return;
    const int few = tile_columns ? 2 : 8; // parts
    if (s->steps / max(s->share, 1) <= few)
        launch_add_parts<T, 1>(s, M, N, alpha, beta, C);
    else
        launch_add_parts<T, MOST_ADDERS>(s, M, N, alpha, beta, C);
}

#endif
