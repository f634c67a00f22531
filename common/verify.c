/* Is the result right? A check is worth what it refuses, so:
 *
 *  - C is full of NaN before the launch (beta == 0), so an element that is never written is
 *    seen; and every comparison is written as !(error <= bound), because with NaN every
 *    comparison is false, `error > bound` too.
 *  - Twice, with different inputs. With fractions that no order of summation rounds
 *    (problem.c), the result must be equal to the last bit: a product that was forgotten
 *    is lost in any bound, never there. These fractions are too long for fp16, bf16 and
 *    tf32, so arithmetic narrower than fp32 fails too. With random reals in (-1, 1) the
 *    errors may be as large as rounding can make them, and no larger.
 *  - The reference sums in double, straight from the definition.
 *  - And all that not only at the product asked for, but at small odd ones (shapes.c).
 *    There some rows of A hold an infinity or a NaN among the reals, and no other row may
 *    notice. An infinity's own results are infinite, not NaN: Kahan's sum, which would
 *    subtract infinities, has to leave such a correction out (as Python's sum() does). But
 *    where it meets a zero they are NaN, and so is all that a NaN goes into.
 *
 * So a product that multiplies other numbers than those of A and B, Strassen's for one, is
 * refused even if it is right: sums of them have more bits, and its errors keep to no bound
 * element by element.
 *
 * The bound for reals. A sum of K products in fp32, in any order, fused or not, differs
 * from the true one by at most K u |A| |B|, u = 2^-24, and this holds for every K
 * (Jeannerod and Rump, "Improved error bounds for inner products in floating-point
 * arithmetic", SIAM J. Matrix Anal. Appl. 34, 2013). alpha, whether applied to the sum or
 * to its factors, and beta * C are a few roundings more; what falls below the normal
 * range is rounded to multiples of a smallest number instead:
 *
 *     |computed - exact| <= (K + 8) (u (|alpha| |A| |B| + |beta| |C|) + smallest)
 *
 * That is what the worst inputs could do. Ours are random with mean zero, and so are the
 * roundings: a sum of k products is about sqrt(k) as large as one, K of its roundings add
 * up like a random walk, and their root mean square comes out near K u / 7, that is
 * 0.5 u |A| |B|, for one long sum. For any other order it is smaller, and it does not
 * grow with K (Higham and Mary, "Sharper probabilistic backward error analysis for basic
 * linear algebra kernels with random data", SIAM J. Sci. Comput. 42, 2020). So u |A| |B|
 * is a unit for errors that no right kernel leaves far behind: none may be above 16 of
 * them, which is some thirty standard deviations, and the root mean square over all
 * elements not above 2, or somewhat more if there are few. (A sum that starts from
 * beta * C is rounded at that size K times, so beta * C counts with sqrt(K).) Positive
 * inputs have no such luck: a sum of k of them is k times as large as one, and the root
 * mean square comes out near 0.23 sqrt(K) u |A||B|. So there the unit is larger, by 1 +
 * sqrt(K) / 5. A sum whose roundings all go one way, as a tensor core's do, grows like K.
 *
 * Tensor cores (bf16 and tf32; the inputs are such numbers, so their products are exact).
 * In one step a core adds s products to the sum so far, s = 4, 8 or 16: it shifts all
 * s + 1 terms to the exponent of the largest, cuts them off 25 bits behind its point, adds
 * them and cuts the sum to 24 bits. (On Hopper, bit for bit; Ampere and Ada keep a bit
 * less.) What is cut of the terms is below (s + 1) / 2 units of u |A| |B|, or s + 1, and
 * of the sum below 2, so that K / s steps lose less than
 *
 *     (K / s + 1) (s + 3) u |A| |B|  <=  2 (K + 8) u |A| |B|
 *
 * And they are cut, never rounded up: the errors do not walk at random but all go towards
 * zero, as long as the sum keeps its sign. So with random inputs the root mean square
 * grows with sqrt(K): on an H200 it is 2 u |A| |B| at K = 4096 with s = 16, and it doubles
 * when s is halved. The smallest s of any GPU is 8 for bf16 and 4 for tf32; their typical
 * size is taken as 1 + sqrt(K) / 16 and 1 + sqrt(K) / 8 such units.
 *
 * C of bf16. The result is rounded once more, at the end. An element is right if it is
 * what some number within the bound rounds to; so its error is the distance from the exact
 * result to the nearest number that rounds to it, mostly 0. Fractions must come out as
 * the exact result rounds, and of a whole row (Freivalds, below) one knows how far
 * roundings of that size, all independent, carry its sum.
 *
 * Overflow. |alpha| |A| |B| + |beta| |C| is more than any intermediate result can be, in
 * any order, so if it is finite in fp32 the result must be. Else a right kernel may
 * overflow where another does not: alpha * sum can be too large though adding beta * C
 * would bring it back, and with alpha applied first even a part of the sum can be. What
 * overflows upwards is at most the sum of all positive terms, and downwards that of the
 * negative ones. So +inf is right where the positive terms sum up to more than fp32
 * holds, -inf where the negative ones do, and NaN, from inf - inf, where both do.
 *
 * Large problems. The full reference costs as much as the product itself, so above 2^28
 * multiplications a few whole rows are compared as above, and all of C at once with
 * Freivalds' check (1977): for vectors x of random signs, C x must equal alpha A (B x) +
 * beta C x, which takes three matrix-vector products. (Where columns have units of their
 * own, x holds their inverses, with random signs.) With fractions that too is exact; a
 * wrong row of C slips past one x with a probability of at most 1/2, past the 8 used here
 * in one case of 256; a single wrong element in a row never. */
#include "common.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VECTORS = 8 };
static const double FULL_REFERENCE = 0x1p28; /* multiplications */
static const double U = 0x1p-24;
static const double LARGEST_ERROR = 16.0; /* in units of its typical size */

struct findings {
    struct wrongs wrong;
    double worst;
    /* Of the errors, each in units of its typical size. */
    double squares;
    size_t counted;
    struct wrong large[MOST_KEPT]; /* the first that are above the limit on average */
    int large_count;
};

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

/* ---- one row, element by element ---- */

/* want[j] = the exact C[row][j] (in double), size[j] = |alpha| sum |a b| + |beta C|, what
 * the bound is a multiple of. */
static void reference_row(const struct problem *p, int row, double *restrict want,
                          double *restrict size)
{
    const float *a = p->A + (size_t)row * p->K;
    const int N = p->N;
    for (int j = 0; j < N; j++) want[j] = size[j] = 0.0;
    for (int k = 0; k < p->K; k++) {
        const float *restrict b = p->B + (size_t)k * N;
        const double a_k = a[k];
        for (int j = 0; j < N; j++) {
            const double product = a_k * b[j];
            want[j] += product;
            size[j] += fabs(product);
        }
    }
    for (int j = 0; j < N; j++) {
        const double old = p->C ? (double)p->beta * p->C[(size_t)row * N + j] : 0.0;
        want[j] = p->alpha * want[j] + old;
        size[j] = fabs(p->alpha) * size[j] + fabs(old);
    }
}

static bool is_unwritten(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    /* The latter while timing: all bits set, of a bf16 the upper half. */
    return bits == NEVER_WRITTEN || bits >= 0xffff0000u;
}

/* Equal, or any NaN where there must be one. */
static bool is_same(float got, double want)
{
    return got == want || (isnan(want) && isnan(got) && !is_unwritten(got));
}

/* Whether x is NEVER_WRITTEN after some arithmetic: the bit that says "signalling" is
 * off. CPUs keep the others, GPUs make a NaN of their own. */
static bool is_made_of_unwritten(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits & 0x7fffffffu) == (NEVER_WRITTEN | 1u << 22);
}

/* Keeps the first few, for the report, and of the others a random sample. */
static void note_wrong(struct wrongs *w, const struct wrong *one)
{
    size_t place = w->count;
    if (place >= MOST_KEPT)
        place = MOST_SHOWN + (size_t)(mix(place) % (place - MOST_SHOWN));
    if (place < MOST_KEPT) w->list[place] = *one;
    if (w->kept < MOST_KEPT) w->kept++;
    if (w->count++ == 0) {
        w->first_row = w->last_row = one->row;
        w->first_col = w->last_col = one->col;
    }
    if (one->row < w->first_row) w->first_row = one->row;
    if (one->row > w->last_row) w->last_row = one->row;
    if (one->col < w->first_col) w->first_col = one->col;
    if (one->col > w->last_col) w->last_col = one->col;
    w->in_whole_tiles += one->row < w->whole_rows && one->col < w->whole_cols;
    w->never_written += is_unwritten(one->got);
    w->read_C += is_made_of_unwritten(one->got);
    w->not_a_number += isnan(one->got) != 0;
}

/* Whether an infinity or a NaN is what a right kernel may have got; see above. */
static bool overflow_allows(const struct problem *p, float got, double want, double size,
                            double bound)
{
    const double largest = p->precision == BF16 ? 0x1.ffp127 : FLT_MAX;
    const bool up = (size + want) / 2.0 + bound > largest;
    const bool down = (size - want) / 2.0 + bound > largest;
    if (isnan(got)) return up && down && !is_unwritten(got);
    return isinf(got) && (got > 0.0f ? up : down);
}

/* How many times larger than with fp32 arithmetic an error may be, and typically is. */
static double worst_factor(const struct problem *p)
{
    return p->precision == FP32 ? 1.0 : 2.0;
}

static double typical_factor(const struct problem *p)
{
    if (p->precision == FP32) return 1.0;
    return 1.0 + sqrt(p->K) / (p->precision == BF16 ? 16.0 : 8.0);
}

/* The bf16 beside x that lies in the direction of y. */
static double beside(float x, double y)
{
    uint32_t bits;
    if (x == 0.0f) return copysign(0x1p-133, y);
    memcpy(&bits, &x, sizeof bits);
    bits += (y > x) == (x > 0.0f) ? 0x10000u : -0x10000u;
    memcpy(&x, &bits, sizeof x);
    return isinf(x) ? copysign(0x1p128, x) : x;
}

/* How far what was rounded to `got` must have been from the exact result. */
static double error_of(const struct problem *p, float got, double exact)
{
    if (p->precision != BF16 || !isfinite(got) || got == exact) return fabs(got - exact);
    const double middle = (got + beside(got, exact)) / 2.0;
    return (exact > got ? exact > middle : exact < middle) ? fabs(exact - middle) : 0.0;
}

/* The variance of the error that x has if it was rounded to bf16: between two neighbours
 * every place is as likely as the other. */
static double rounding_variance(const struct problem *p, double x)
{
    int exponent;
    if (p->precision != BF16) return 0.0;
    frexp(x, &exponent);
    const double spacing = ldexp(1.0, exponent - 8);
    return spacing * spacing / 12.0;
}

/* The largest root mean square of `count` errors, in units of their typical size. */
static double rms_limit(size_t count)
{
    return 2.0 + 8.0 / sqrt((double)count);
}

static void check_row(const struct problem *p, int row, double *want, double *size,
                      struct findings *f)
{
    const float *got = p->result + (size_t)row * p->N;
    const float *old = p->C ? p->C + (size_t)row * p->N : NULL;
    const bool exact = p->values == FRACTIONS;
    const double walk = sqrt(p->K + 3.0), growth = p->positive ? 1.0 + walk / 5.0 : 1.0;
    reference_row(p, row, want, size);
    for (int j = 0; j < p->N; j++) {
        if (!isfinite(want[j])) { /* of infinite inputs there is one right result */
            const struct wrong one = {row, j, got[j], want[j], 0.0};
            if (!is_same(got[j], want[j])) note_wrong(&f->wrong, &one);
            continue;
        }
        const double error =
            exact ? fabs(got[j] - stored_in_C(p, want[j])) : error_of(p, got[j], want[j]);
        const double from_C = old ? fabs((double)p->beta * old[j]) : 0.0;
        const double typical =
            typical_factor(p) *
            (U * (growth * size[j] + (walk - 1.0) * from_C) + walk * FLT_TRUE_MIN);
        const double any = worst_factor(p) * (p->K + 8.0) * (U * size[j] + FLT_TRUE_MIN);
        const double bound = exact ? 0.0 : fmin(any, LARGEST_ERROR * typical);
        const struct wrong one = {row, j, got[j], want[j], exact ? 0.0 : 8.0 * typical};
        if (!(error <= bound)) {
            if (exact || !overflow_allows(p, got[j], want[j], size[j], bound))
                note_wrong(&f->wrong, &one);
            continue;
        }
        if (exact) continue;
        const double ratio = error / typical;
        if (error / bound > f->worst) f->worst = error / bound;
        f->squares += ratio * ratio;
        f->counted++;
        if (ratio > 2.0 && f->large_count < MOST_KEPT) f->large[f->large_count++] = one;
    }
}

/* ---- all of C at once ---- */

/* The signs of row `index` of the random vectors, one a bit. */
static void signs(uint64_t seed, int index, double x[VECTORS])
{
    const uint64_t bits = mix(seed + (uint64_t)index);
    for (int v = 0; v < VECTORS; v++) x[v] = bits >> v & 1 ? 1.0 : -1.0;
}

/* Whether all of `count` numbers are, one every `step`. */
static bool all_finite(const float *x, int count, size_t step)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(x[i * step])) return false;
    return true;
}

static bool row_is_finite(const struct problem *p, int row)
{
    return all_finite(p->A + (size_t)row * p->K, p->K, 1) &&
           (!p->C || all_finite(p->C + (size_t)row * p->N, p->N, 1));
}

/* Returns the first row that fails, or -1. Infinities have no place in a sum: rows of A
 * and C that hold one are left to the caller, and columns of B that do are multiplied
 * here. */
static int freivalds(const struct problem *p, uint64_t seed)
{
    const int M = p->M, N = p->N, K = p->K;
    bool *finite = host_zeros("to verify with", N, sizeof *finite);
    double(*Bx)[VECTORS] = host_zeros("to verify with", K, sizeof *Bx);
    double *B_size =
        host_zeros("to verify with", K, sizeof *B_size); /* sum of |B| along a row */
    double(*x)[VECTORS] = host_zeros("to verify with", N, sizeof *x);
    const double walk = sqrt(K + 3.0), growth = p->positive ? 1.0 + walk / 5.0 : 1.0;
    int failed = -1;
    for (int j = 0; j < N; j++) {
        signs(seed, j, x[j]);
        for (int v = 0; v < VECTORS; v++) x[j][v] /= problem_unit_of_column(p, j);
    }
    for (int j = 0; j < N; j++) finite[j] = !p->infinite || all_finite(&p->B[j], K, N);
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) {
            if (!finite[j]) continue;
            const double b = p->B[(size_t)k * N + j];
            for (int v = 0; v < VECTORS; v++) Bx[k][v] += b * x[j][v];
            B_size[k] += fabs(b * x[j][0]);
        }
    for (int i = 0; i < M && failed < 0; i++) {
        double want[VECTORS] = {0}, got[VECTORS] = {0}, size = 0.0, from_C = 0.0,
               variance = 0.0;
        if (p->infinite && !row_is_finite(p, i)) continue;
        for (int k = 0; k < K; k++) {
            const double a = p->A[(size_t)i * K + k];
            for (int v = 0; v < VECTORS; v++) want[v] += a * Bx[k][v];
            size += fabs(a) * B_size[k];
        }
        for (int v = 0; v < VECTORS; v++) want[v] *= p->alpha;
        size *= fabs(p->alpha);
        for (int j = 0; j < N; j++) {
            const double c = p->result[(size_t)i * N + j];
            const double old = p->C ? (double)p->beta * p->C[(size_t)i * N + j] : 0.0;
            if (!finite[j]) {
                double sum = 0.0;
                for (int k = 0; k < K; k++)
                    sum += (double)p->A[(size_t)i * K + k] * p->B[(size_t)k * N + j];
                if (!is_same((float)c, p->alpha * sum + old)) failed = i;
                continue;
            }
            for (int v = 0; v < VECTORS; v++) {
                got[v] += c * x[j][v];
                want[v] += old * x[j][v];
            }
            from_C += fabs(old * x[j][0]);
            variance += rounding_variance(p, c) * x[j][0] * x[j][0];
        }
        size += from_C;
        /* The double sums' own rounding is far below the bound for reals, and zero for
         * fractions. */
        const double any = worst_factor(p) * (K + 8.0) * (U * size + N * FLT_TRUE_MIN);
        const double typical =
            typical_factor(p) *
            (U * (growth * size + (walk - 1.0) * from_C) + walk * N * FLT_TRUE_MIN);
        const double of_sums =
            p->values == FRACTIONS ? 0.0 : fmin(any, LARGEST_ERROR * typical);
        const double bound = of_sums + 7.0 * sqrt(variance);
        for (int v = 0; v < VECTORS; v++)
            if (!(fabs(got[v] - want[v]) <= bound)) failed = i;
    }
    free(Bx), free(B_size), free(x), free(finite);
    return failed;
}

/* Whether an element may have overflowed, and a sum over a row says nothing. */
static bool may_overflow(const struct problem *p)
{
    const double largest = p->precision == FP32 ? 1.0 : 6.0; /* of A, B and C */
    return fabs(p->alpha) * p->K * largest * largest + fabs(p->beta) * largest >
           FLT_MAX / 2.0;
}

/* ---- saying what is wrong ---- */

static void append(struct verdict *verdict, const char *format, ...)
{
    size_t used = strlen(verdict->failure);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(verdict->failure + used, sizeof verdict->failure - used, format, arguments);
    va_end(arguments);
}

/* Where the wrong elements lie, if that says anything. */
static const char *whereabouts(const struct problem *p, const struct chapter *c,
                               const struct wrongs *w)
{
    if (!c->BM || !c->BN || (p->M <= c->BM && p->N <= c->BN) || w->count < 2) return NULL;
    if (w->first_row / c->BM == w->last_row / c->BM &&
        w->first_col / c->BN == w->last_col / c->BN)
        return "all of them in one tile";
    /* There must be whole tiles, and those must be right. */
    if (w->whole_rows && w->whole_cols && !w->in_whole_tiles) {
        if (w->first_row >= w->whole_rows)
            return "only in the last row of tiles, which is cut off: look at the guards";
        if (w->first_col >= w->whole_cols)
            return "only in the last column of tiles, which is cut off: look at the "
                   "guards";
        return "only in the tiles that the edges of C cut off: look at the guards";
    }
    if (p->M > c->BM && w->first_row >= c->BM)
        return "the first row of tiles is right, the others are not";
    if (p->N > c->BN && w->first_col >= c->BN)
        return "the first column of tiles is right, the others are not";
    return NULL;
}

/* The number of cell (row, col) in a grid of rows x cols. */
static int number_of(int row, int col, int rows, int cols, int goes_down)
{
    return goes_down ? col * rows + row : row * cols + col;
}

/* The thread that owns element (row, col) of a tile. */
static int thread_of(const struct chapter *c, int row, int col)
{
    if (c->thread_of) return c->thread_of(row, col);
    return number_of(row / c->TM, col / c->TN, c->BM / c->TM, c->BN / c->TN,
                     c->threads_go_down);
}

static void describe(const struct problem *p, const struct chapter *c,
                     const struct wrongs *w, struct verdict *verdict)
{
    for (int i = 0; i < w->kept && i < MOST_SHOWN; i++) {
        const struct wrong *one = &w->list[i];
        append(verdict, "  C[%d][%d] is %.9g, should be %.9g", one->row, one->col,
               one->got, verdict->exact ? stored_in_C(p, one->want) : one->want);
        if (c->BM && c->BN)
            append(verdict, "   (block %d, thread %d)",
                   number_of(one->row / c->BM, one->col / c->BN, (p->M - 1) / c->BM + 1,
                             (p->N - 1) / c->BN + 1, c->blocks_go_down),
                   thread_of(c, one->row % c->BM, one->col % c->BN));
        append(verdict, "\n");
    }
    if (w->count == 0) return; /* of a row as a whole one only knows that it is wrong */
    const char *where = whereabouts(p, c, w), *cause = likely_cause(p, w);
    if (where) append(verdict, "  where: %s\n", where);
    if (cause) append(verdict, "  likely: %s\n", cause);
}

/* ---- the check ---- */

struct verdict verify(const struct problem *p, const struct chapter *chapter,
                      uint64_t seed)
{
    struct verdict verdict = {.exact = p->values == FRACTIONS};
    CUDA_CHECK(cudaDeviceSynchronize());
    problem_read_C(p);

    const double work = (double)p->M * p->N * p->K;
    verdict.sampled = work > FULL_REFERENCE;
    int rows = verdict.sampled ? (int)(FULL_REFERENCE / ((double)p->N * p->K)) : p->M;
    if (rows < 3) rows = 3;
    if (rows > p->M) rows = p->M;

    double *want = host_zeros("to verify with", 2 * (size_t)p->N, sizeof *want),
           *size = want + p->N;
    struct findings found = {0};
    if (chapter->BM && chapter->BN) {
        found.wrong.whole_rows = p->M / chapter->BM * chapter->BM;
        found.wrong.whole_cols = p->N / chapter->BN * chapter->BN;
    }
    for (int i = 0; i < rows; i++) {
        /* All of them; or the first, the last, and any one of each stretch between. */
        const int begin = (int)((long long)p->M * i / rows);
        const int end = (int)((long long)p->M * (i + 1) / rows);
        int row = begin + (int)(mix(seed * 31 + i) % (end - begin));
        if (i == 0) row = 0;
        if (i == rows - 1) row = p->M - 1;
        check_row(p, row, want, size, &found);
        if (rows >= 64 && i % (rows / 64) == 0)
            progress("checking %d %%", 100 * i / rows);
    }
    int failed_row = -1;
    if (verdict.sampled && (p->values == FRACTIONS || !may_overflow(p))) {
        progress("checking all of C (Freivalds)");
        failed_row = freivalds(p, mix(seed));
        for (int i = 0; p->infinite && i < p->M; i++)
            if (!row_is_finite(p, i)) check_row(p, i, want, size, &found);
    }
    progress(NULL);

    char inputs[80];
    snprintf(inputs, sizeof inputs, "%s inputs", p->positive ? "positive" : "real");
    if (verdict.exact)
        snprintf(inputs, sizeof inputs, "fractions, alpha = %g, beta = %g", p->alpha,
                 p->beta);
    verdict.worst = found.worst;
    if (found.counted)
        verdict.rms = sqrt(found.squares / found.counted) / rms_limit(found.counted);
    if (found.wrong.count) {
        append(&verdict, "%zu of %zu elements are wrong (%s)", found.wrong.count,
               (size_t)rows * p->N, inputs);
        if (found.wrong.never_written && found.wrong.never_written < found.wrong.count)
            append(&verdict, ", %zu of them never written", found.wrong.never_written);
        append(&verdict, "\n");
        describe(p, chapter, &found.wrong, &verdict);
    } else if (failed_row >= 0) {
        append(&verdict, "row %d of C fails Freivalds' check (%s)\n", failed_row, inputs);
        check_row(p, failed_row, want, size, &found);
        describe(p, chapter, &found.wrong, &verdict);
    } else if (!(verdict.rms <= 1.0)) {
        append(&verdict,
               "no error is above its bound, but all of them together are %.3g times as "
               "large\nas %s makes them\n",
               verdict.rms,
               p->precision == FP32 ? "rounding in fp32" : "a tensor core's arithmetic");
        for (int i = 0; i < found.large_count; i++)
            note_wrong(&found.wrong, &found.large[i]);
        describe(p, chapter, &found.wrong, &verdict);
    }
    free(want);
    const char *damage = problem_damage(p);
    if (damage) append(&verdict, "%s\n", damage);
    verdict.passed = verdict.failure[0] == '\0';
    return verdict;
}
