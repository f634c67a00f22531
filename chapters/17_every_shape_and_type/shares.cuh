/* Who does what: whole tiles, and shares of those that are left over or too few. */
#ifndef SHARES_CUH
#define SHARES_CUH

#include "prepare.cuh"

// A unit is what a cluster does at a time: its blocks' tiles, one below the other. As many
// units as all clusters can do in equal numbers are done whole; the steps along K of the
// others are laid end to end and cut into equal shares, one for each cluster, as in
// chapter 12.
struct shares {
    int units_down, units_across;
    int steps;         // of BK along K, for each unit
    int whole;         // units done by one cluster each; the rest are shared
    int share, longer; // steps in a share; the first `longer` shares have one more
    float *parts;      // two parts of tiles for each block
    int *arrived;      // for each shared tile and warp: parts brought so far
};

// A stretch of steps of one unit: [begin, end). A whole one is [0, steps).
struct segment {
    int unit, begin, end;
};

// A cluster's way through its work. Copies go ahead of the arithmetic, so there are two.
struct position {
    struct segment segment;
    int whole;       // my next whole unit
    int shared, end; // my steps in the row of shared ones: [shared, end)
};

static __device__ __forceinline__ int first_of(const struct shares *s, int cluster)
{
    return cluster * s->share + min(cluster, s->longer);
}

// The cluster whose share holds step `at`: first_of backwards.
static __device__ __forceinline__ int owner_of(const struct shares *s, int at)
{
    const int longer = s->longer * (s->share + 1);
    return at < longer ? at / (s->share + 1) : s->longer + (at - longer) / s->share;
}

static __device__ __forceinline__ struct position start_position(const struct shares *s,
                                                                 int cluster)
{
    const struct position p = {
        {0, 0, 0}, cluster, first_of(s, cluster), first_of(s, cluster + 1)};
    return p;
}

// Steps to the next segment; false when there is none.
static __device__ __forceinline__ bool next_segment(const struct shares *s, int clusters,
                                                    struct position *p)
{
    if (p->whole < s->whole) {
        p->segment.unit = p->whole;
        p->segment.begin = 0;
        p->segment.end = s->steps;
        p->whole += clusters;
        return true;
    }
    if (p->shared >= p->end)
        return false;
    const int unit = p->shared / s->steps, start = unit * s->steps;
    p->segment.unit = s->whole + unit;
    p->segment.begin = p->shared - start;
    p->segment.end = min(p->end - start, s->steps);
    p->shared = start + p->segment.end;
    return true;
}

// Leaves a warp's part of a tile, COUNT numbers a thread, for the warp in the same place of
// the cluster that brings the last part. Returns true to that one, with the sum of all
// parts, in the order of k, in acc: so it does not depend on who came when.
//
// `rank` and `warp` say which block of the cluster and which of its warps this is, among
// CLUSTER and WARPS.
template <int COUNT, int CLUSTER, int WARPS>
static __device__ __forceinline__ bool add_parts(const struct shares *s,
                                                 const struct segment *segment,
                                                 float (&acc)[COUNT], int rank, int warp)
{
    const int lane = threadIdx.x % 32, cluster = blockIdx.x / CLUSTER;
    const int number = segment->unit - s->whole, start = number * s->steps;
    const int first = owner_of(s, start), last = owner_of(s, start + s->steps - 1);
    // A cluster has two parts at most: the start of a unit, and the end or the middle of
    // another. The start of a unit is always its owner's second.
    const int STEP = WARPS * 32, PART = COUNT * STEP, AT_ONCE = COUNT > 64 ? 16 : 32;
    float *parts = s->parts + warp * 32 + lane;
    float *mine = parts + ((size_t)blockIdx.x * 2 + (segment->begin == 0)) * PART;
#pragma unroll
    for (int i = 0; i < COUNT; ++i)
        mine[i * STEP] = acc[i];
    // Mine are visible to all before I say so; theirs are read after they have said so.
    __threadfence();
    __syncwarp();
    int *arrived = &s->arrived[(number * CLUSTER + rank) * WARPS + warp];
    int before = 0;
    if (lane == 0)
        before = atomicAdd(arrived, 1);
    before = __shfl_sync(0xffffffffu, before, 0);
    if (before != last - first)
        return false;
    __threadfence();
    if (lane == 0)
        *arrived = 0; // ready for the next product
#pragma unroll
    for (int i0 = 0; i0 < COUNT; i0 += AT_ONCE) {
        float sum[AT_ONCE] = {};
        for (int c = first; c <= last; ++c) {
            const float *theirs =
                parts + ((size_t)(c * CLUSTER + rank) * 2 + (c == first)) * PART;
            if (c == cluster) {
#pragma unroll
                for (int i = 0; i < AT_ONCE; ++i)
                    sum[i] += acc[i0 + i];
            } else {
#pragma unroll
                for (int i = 0; i < AT_ONCE; ++i)
                    sum[i] += __ldcg(&theirs[(i0 + i) * STEP]);
            }
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            acc[i0 + i] = sum[i];
    }
    return true;
}

/* ---- the host's side ---- */

static int divided_up(int a, int b)
{
    return (a - 1) / b + 1;
}

// How a kind of tile would do a product, and how long that may take.
struct plan {
    int clusters;
    double clocks;
    struct shares shares;
};

// Deals down x across units of `steps` steps each to at most `clusters` clusters,
// whose blocks do tiles of `tile` elements. `step_clocks` is what a step takes at least,
// `most_clocks` what memory needs for the matrices. With `share`, what does not divide is
// shared, in shares of two steps at least; a sum of many parts takes its time too.
static struct plan deal(int down, int across, int steps, int clusters, int tile,
                        double step_clocks, double memory_clocks, bool share)
{
    const int START = 3000, ADD = 6000; // clocks: of a kernel, and of parts
    const double PART_BYTES_A_CLOCK = 12;
    struct plan p = {clusters, 0.0, {down, across, steps}};
    const long long units = (long long)down * across;
    int left = (int)(units % clusters);
    if (units < clusters) {
        const long long shares = units * steps / 2;
        p.clusters = !share || shares < units ? (int)units
                     : shares < clusters      ? (int)shares
                                              : clusters;
        left = (int)(units % p.clusters);
    }
    if (!share || (long long)left * steps > 0x7fffffff)
        left = 0;
    p.shares.whole = (int)(units - left);
    p.shares.share = (int)((long long)left * steps / p.clusters);
    p.shares.longer = (int)((long long)left * steps % p.clusters);
    const double waves = divided_up(p.shares.whole ? p.shares.whole : 1, p.clusters);
    const double mine = (p.shares.whole ? waves * steps : 0.0) + p.shares.share +
                        (p.shares.longer ? 1 : 0);
    p.clocks = mine * step_clocks;
    if (p.clocks < memory_clocks)
        p.clocks = memory_clocks;
    p.clocks += START;
    if (left) {
        const double parts = (double)p.clusters / left + 1.0;
        p.clocks += ADD + (1.0 + parts) * tile * sizeof(float) / PART_BYTES_A_CLOCK;
    }
    return p;
}

// The room that shared units need.
static void make_room(struct plan *p, int blocks, int tile, int warps)
{
    if (p->shares.share == 0 && p->shares.longer == 0)
        return;
    const size_t all = (size_t)p->clusters * blocks;
    p->shares.parts = (float *)scratch(PARTS, all * 2 * tile * sizeof(float));
    p->shares.arrived = (int *)scratch(ARRIVED, all * warps * sizeof(int));
}

static int most_blocks; // --blocks; 0: one for each SM

static int number_of_blocks(void)
{
    int sms;
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    return most_blocks && most_blocks < sms ? most_blocks : sms;
}

#endif
