/* Which kernel? Each that a chapter has says how long it would take for a product, and
 * the fastest gets it.
 */
#ifndef CHOOSE_CUH
#define CHOOSE_CUH

#include "lengthen.cuh"
#include "shares.cuh"

#include <math.h>

// A kernel with its tile. The numbers were measured on an H200; on a GPU whose memory and
// arithmetic stand in another proportion, the choice is a guess.
struct kind {
    void (*launch)(int sms, const struct work *w);
    double (*nanoseconds)(const struct kind *kind, int sms, int M, int N, int K,
                          bool wide);
    int BM, BN, BK, blocks; // a tile, and the blocks that an SM holds
    double start;           // what a launch takes before and after its tiles, nanoseconds
    double speed;           // an SM's multiply-adds per nanosecond, if B's rows are wide
    double singly;          // the same if they are not; 0, of either: it cannot
    double dividing;        // what it takes to divide tiles among blocks, nanoseconds
    bool prepares;          // A and perhaps B are copied first: chapter 13
};

// Moving so many floats, at 5 bytes per picosecond: more than memory delivers, because some
// are found in the L2.
static double moving(double floats)
{
    return floats * sizeof(float) / 5000;
}

// A product on a few of the GPU's SMs (--sms) stands for a larger one on all of them. What
// its start takes is as much less of the whole there.
static double at_scale(int sms, double time)
{
    return time * sms / 132;
}

// Whether B is copied first, with longer rows (lengthen.cuh). `wide`: its rows start at
// multiples of 16 bytes as they are. A kind that prepares B does this by itself.
static bool lengthens(const struct kind *kind, int M, bool wide)
{
    return !wide && !kind->prepares && kind->speed > 0.0 && M > 1000;
}

static double speed_at(const struct kind *kind, int M, bool wide)
{
    return wide || lengthens(kind, M, wide) ? kind->speed : kind->singly;
}

// What it takes to copy A or B before. Reading and writing a float is 2 movements; the
// copies are a fifth slower.
static double preparing(const struct kind *kind, int sms, int M, int N, int K, bool wide)
{
    if (kind->prepares)
        return moving(2.5 * ((double)M * K + (wide ? 0.0 : (double)K * N)));
    if (lengthens(kind, M, wide))
        return at_scale(sms, 3000) + moving(2.5 * K * N);
    return 0.0;
}

// Blocks that stay. Tiles reach over the edges of C, and what they compute there takes as
// long as the rest. If tiles are shared, all SMs work as long as any, and then the parts
// are added up.
static double staying(const struct kind *kind, int sms, int M, int N, int K, bool wide)
{
    const double tile = (double)kind->BM * kind->BN;
    const double tiles = ((M - 1) / kind->BM + 1.0) * ((N - 1) / kind->BN + 1.0);
    const double blocks = fmin((double)sms * kind->blocks, tiles * ((K - 1) / 32 + 1));
    const double left = fmod(tiles, blocks);
    const bool shared = left > 0 && left < 0.95 * blocks; // as deal() decides
    const double on_an_sm =
        shared ? tiles / blocks * ceil(blocks / sms) : ceil(tiles / sms);
    double time = at_scale(sms, kind->start) +
                  on_an_sm * tile * K / speed_at(kind, M, wide) +
                  moving((double)M * K + (double)K * N + (double)M * N) +
                  preparing(kind, sms, M, N, K, wide);
    if (shared)
        time += at_scale(sms, kind->dividing) +
                (blocks / left + 1) * tile * sizeof(float) / 90;
    return time;
}

static const struct kind *fastest(const struct kind *kinds, int count, int sms, int M,
                                  int N, int K, bool wide)
{
    const struct kind *best = kinds;
    double least = best->nanoseconds(best, sms, M, N, K, wide);
    for (const struct kind *k = kinds + 1; k < kinds + count; ++k) {
        const double time = k->nanoseconds(k, sms, M, N, K, wide);
        if (time < least) {
            best = k;
            least = time;
        }
    }
    return best;
}

// C = alpha * A * B + beta * C by the fastest of `count` kinds, dealt to `sms` SMs.
static void launch_fastest(const struct kind *kinds, int count, int sms,
                           const struct work *w)
{
    const bool wide = wide_rows(w);
    const struct kind *kind = fastest(kinds, count, sms, w->M, w->N, w->K, wide);
    const struct work ready = lengthens(kind, w->M, wide) ? with_longer_rows(w) : *w;
    kind->launch(sms, &ready);
}

#endif
