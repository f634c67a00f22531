/* Why is it wrong? A cause is named only if it gives the numbers that came out.
 *
 * Each guess is a rule by which a wrong kernel computes an element: alpha left out, B read
 * with rows of another length, the last terms of the sum missing, inputs rounded to bf16.
 * The rule is applied to the wrong elements that the report shows, and it has to hit every
 * one of them. How much that says depends on how well it could have hit them by chance:
 * within `slack` of a number that is `apart` from the right one, in one case of about
 * apart / slack, and the more rules are tried, the more of them hit something. So a guess
 * is believed if the chance of all hits together, times the number of tries, is small. */
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a guess returns if one cannot say what the kernel would find there. */
static const double UNKNOWN = HUGE_VAL;
static const double SMALL_CHANCE = 1e-3;

/* What the element (row, col) would be by a rule; `which` says which of several. */
typedef double guess(const struct problem *p, int row, int col, int which);

/* Whether `would_be` is what came out, as far as rounding lets one tell. `chance` shrinks
 * by the probability that any number would have been. */
static bool hits(const struct problem *p, const struct wrong *w, double would_be,
                 double noise, double *chance)
{
    if (isnan(w->got)) return isnan(would_be);
    /* How far apart numbers are that can come out. */
    const double grain = p->precision == BF16 ? 0x1p-7 * fabs(w->got) : p->unit;
    const double apart = fabs(w->got - w->want);
    double slack = 1e-6 * apart + w->slack + noise;
    if (p->precision == BF16 && p->values == REALS) slack += grain / 2.0;
    if (!(fabs(w->got - stored_in_C(p, would_be)) <= slack)) return false;
    *chance *= fmin(1.0, fmax(slack, grain) / apart);
    return true;
}

/* Whether all wrong elements are what the guess says. `noise`: how far the rule's own
 * arithmetic may be rounded. */
static bool explains(const struct problem *p, const struct wrongs *w, guess *would_be,
                     int which, double noise, double tries)
{
    double chance = tries;
    for (int i = 0; i < w->kept; i++) {
        const struct wrong *one = &w->list[i];
        if (!hits(p, one, would_be(p, one->row, one->col, which), noise, &chance))
            return false;
    }
    return chance <= SMALL_CHANCE;
}

/* ---- the parts of an element ---- */

static double old_C(const struct problem *p, int row, int col)
{
    return p->C ? (double)p->C[(size_t)row * p->N + col] : 0.0;
}

/* The terms begin <= k < end of the sum. */
static double terms(const struct problem *p, int row, int col, int begin, int end)
{
    double sum = 0.0;
    for (int k = begin; k < end; k++)
        sum += (double)p->A[(size_t)row * p->K + k] * p->B[(size_t)k * p->N + col];
    return sum;
}

static double finished(const struct problem *p, double sum, double old)
{
    return p->alpha * sum + p->beta * old;
}

/* ---- alpha, beta, C ---- */

static const char *const OF_SCALES[] = {
    "alpha was not applied",
    "alpha was applied twice",
    "beta * C was not added",
    "C was added without beta",
    "beta * C was subtracted",
    "alpha * A * B was subtracted",
    "alpha and beta have changed places",
    "alpha was applied to beta * C too",
    "alpha was applied to C, and beta was not",
    "these elements still hold the old C",
    "A * B was left out: this is beta * C alone",
};

static double of_scales(const struct problem *p, int row, int col, int which)
{
    const double sum = terms(p, row, col, 0, p->K), old = old_C(p, row, col);
    const double alpha = p->alpha, beta = p->beta;
    switch (which) {
    case 0: return sum + beta * old;
    case 1: /* of a small alpha, that is nothing at all */
        return fabs(alpha) < 1e-3 ? UNKNOWN : alpha * alpha * sum + beta * old;
    case 2: return alpha * sum;
    case 3: return alpha * sum + old;
    case 4: return alpha * sum - beta * old;
    case 5: return old * beta - alpha * sum;
    case 6: return p->C ? beta * sum + alpha * old : UNKNOWN;
    case 7: return alpha * (sum + beta * old);
    case 8: return alpha * (sum + old);
    case 9: return p->C ? old : UNKNOWN;
    default: return p->C ? beta * old : UNKNOWN;
    }
}

/* ---- where A and B are read ---- */

enum reading { BY_ROWS, ROWS_OF_K, ROWS_OF_M, ROWS_OF_N, TRANSPOSED };
static const struct {
    const char *text;
    enum reading A, B;
} OF_READING[] = {
    {"A is read as if its rows had N elements; they have K", ROWS_OF_N, BY_ROWS},
    {"A is read as if its rows had M elements; they have K", ROWS_OF_M, BY_ROWS},
    {"B is read as if its rows had K elements; they have N", BY_ROWS, ROWS_OF_K},
    {"B is read as if its rows had M elements; they have N", BY_ROWS, ROWS_OF_M},
    {"A is read by columns, as if it were stored transposed", TRANSPOSED, BY_ROWS},
    {"B is read by columns, as if it were stored transposed", BY_ROWS, TRANSPOSED},
    {"A and B are read by columns, as if both were stored transposed", TRANSPOSED,
     TRANSPOSED},
    {"the rows of A and B are taken to be as long as each other's", ROWS_OF_N, ROWS_OF_K},
};

static size_t index_of(const struct problem *p, enum reading reading, int row, int col,
                       int rows, int cols)
{
    switch (reading) {
    case ROWS_OF_K: return (size_t)row * p->K + col;
    case ROWS_OF_M: return (size_t)row * p->M + col;
    case ROWS_OF_N: return (size_t)row * p->N + col;
    case TRANSPOSED: return (size_t)col * rows + row;
    default: return (size_t)row * cols + col;
    }
}

static double of_reading(const struct problem *p, int row, int col, int which)
{
    double sum = 0.0;
    for (int k = 0; k < p->K; k++) {
        const size_t a = index_of(p, OF_READING[which].A, row, k, p->M, p->K);
        const size_t b = index_of(p, OF_READING[which].B, k, col, p->K, p->N);
        if (a >= p->dA.count || b >= p->dB.count) return UNKNOWN;
        sum += (double)p->A[a] * p->B[b];
    }
    return finished(p, sum, old_C(p, row, col));
}

/* ---- where C is written ---- */

static const char *const OF_WRITING[] = {
    "row and column are swapped: this is the transposed result",
    "row and column of C are swapped, and the length of its rows is not",
    "C is written as if its rows had K elements; they have N",
    "C is written as if its rows had M elements; they have N",
};

/* Which element was stored where (row, col) has its place? */
static double of_writing(const struct problem *p, int row, int col, int which)
{
    const size_t at = (size_t)row * p->N + col;
    const int length = which == 0 || which == 3 ? p->M : which == 1 ? p->N : p->K;
    const bool swapped = which < 2;
    const int rows = swapped ? p->N : p->M, cols = swapped ? p->M : p->N;
    const size_t first = at / length;
    const int second = (int)(at % length);
    /* Rows that are written too close together overlap; take it that the later one is
     * left. What it has added to, with beta, is unknown. */
    if (p->C && first > 0 && second + length < cols) return UNKNOWN;
    if (first >= (size_t)rows || second >= cols)
        return p->C ? old_C(p, row, col) : NAN; /* there nothing was written */
    const int from_row = swapped ? second : (int)first;
    const int from_col = swapped ? (int)first : second;
    return finished(p, terms(p, from_row, from_col, 0, p->K), old_C(p, row, col));
}

/* ---- terms that are missing, or there twice ---- */

struct range {
    int begin, end, times; /* how often these terms are in the sum: 0 or 2 */
};

static const char *text_of(const struct range *r, int K, char *text, size_t room)
{
    const int count = r->end - r->begin;
    const char *what = r->times ? "there twice" : "missing";
    if (count == K)
        snprintf(text, room,
                 r->times ? "the whole sum is there twice"
                          : "the sum is 0: none of its terms is there");
    else if (count == 1)
        snprintf(text, room, "of the %d terms of the sum, the one with k = %d is %s", K,
                 r->begin, what);
    else
        snprintf(text, room,
                 "of the %d terms of the sum, the %s%d with k = %d to %d are %s", K,
                 r->begin == 0 ? "first "
                 : r->end == K ? "last "
                               : "",
                 count, r->begin, r->end - 1, what);
    return text;
}

static bool range_explains(const struct problem *p, const struct wrongs *w,
                           struct range r, double tries)
{
    double chance = tries;
    for (int i = 0; i < w->kept; i++) {
        const struct wrong *one = &w->list[i];
        const double more =
            (r.times - 1) * p->alpha * terms(p, one->row, one->col, r.begin, r.end);
        if (!hits(p, one, one->want + more, 0.0, &chance)) return false;
    }
    return chance <= SMALL_CHANCE;
}

/* Looks for the terms that the first wrong element lacks, or has twice: the first ones,
 * the last ones, or one step of a tile; then asks the other elements. */
static bool find_range(const struct problem *p, const struct wrongs *w,
                       struct range *found)
{
    enum { STEPS = 9 };
    static const int steps[STEPS] = {1, 2, 4, 8, 16, 32, 64, 72, 128};
    const struct wrong *first = &w->list[0];
    const int K = p->K;
    const double tries = 2.0 * (2 + STEPS) * K;
    if (isnan(first->got) || K > 1 << 22) return false;
    double *until = malloc(((size_t)K + 1) * sizeof *until); /* the terms before k */
    if (!until) return false;
    until[0] = 0.0;
    for (int k = 0; k < K; k++)
        until[k + 1] = until[k] + (double)p->A[(size_t)first->row * K + k] *
                                      p->B[(size_t)k * p->N + first->col];
    bool ok = false;
    for (int times = 0; times <= 2 && !ok; times += 2)
        for (int kind = -2; kind < STEPS && !ok; kind++)
            for (int at = 0; at < K && !ok; at += kind < 0 ? 1 : steps[kind]) {
                struct range r = {at, K, times};
                if (kind == -1) r = (struct range){0, at + 1, times};
                if (kind >= 0 && at + steps[kind] < K) r.end = at + steps[kind];
                double chance = 1.0;
                const double more =
                    (times - 1) * p->alpha * (until[r.end] - until[r.begin]);
                if (!hits(p, first, first->want + more, 0.0, &chance)) continue;
                *found = r;
                ok = range_explains(p, w, r, tries);
            }
    free(until);
    return ok;
}

/* ---- narrower arithmetic ---- */

static const struct format {
    const char *name;
    int bits;     /* of the significand, with the one that is not stored */
    int smallest; /* the exponent of the smallest number above 0 */
    double largest;
} FORMATS[] = {
    {"bf16", 8, -133, 0x1.fep127},
    {"fp16", 11, -24, 65504.0},
    {"tf32", 11, -136, 0x1.ffcp127},
};
enum { FORMAT_COUNT = sizeof FORMATS / sizeof *FORMATS };

/* To the nearest number, towards 0, or to the nearest and from the middle away from 0. */
enum rounding { NEAREST, TRUNCATED, AWAY, ROUNDINGS };

static double rounded(double x, const struct format *format, enum rounding how)
{
    int exponent;
    if (x == 0.0 || !isfinite(x)) return x;
    frexp(x, &exponent);
    exponent -= format->bits;
    if (exponent < format->smallest) exponent = format->smallest;
    const double steps = ldexp(x, -exponent);
    const double whole = how == NEAREST     ? rint(steps)
                         : how == TRUNCATED ? trunc(steps)
                                            : round(steps);
    const double y = ldexp(whole, exponent);
    return fabs(y) <= format->largest ? y : copysign(HUGE_VAL, y);
}

/* What is narrow; a guess is a set of these. */
enum { OF_A = 1, OF_B = 2, INPUTS = OF_A | OF_B, PRODUCTS = 4, SUMS = 8, RESULTS = 16 };
static const struct {
    const char *text;
    int what;
} NARROW[] = {
    {"inputs", INPUTS},
    {"the elements of A", OF_A},
    {"the elements of B", OF_B},
    {"products", PRODUCTS},
    {"sums", SUMS},
    {"results", RESULTS},
    {"inputs and results", INPUTS | RESULTS},
    {"inputs and products", INPUTS | PRODUCTS},
    {"inputs and sums", INPUTS | SUMS},
    {"products and sums", PRODUCTS | SUMS},
    {"inputs, products and sums", INPUTS | PRODUCTS | SUMS},
    {"inputs, products, sums and results", INPUTS | PRODUCTS | SUMS | RESULTS},
};
enum { NARROW_COUNT = sizeof NARROW / sizeof *NARROW };

/* `which`: format, what is narrow and how it is rounded, as one number. Sums are taken in
 * the order of k. */
static double of_format(const struct problem *p, int row, int col, int which)
{
    const enum rounding how = which % ROUNDINGS;
    const int what = NARROW[which / ROUNDINGS % NARROW_COUNT].what;
    const struct format *format = &FORMATS[which / ROUNDINGS / NARROW_COUNT];
    double sum = 0.0;
    for (int k = 0; k < p->K; k++) {
        double a = p->A[(size_t)row * p->K + k], b = p->B[(size_t)k * p->N + col];
        if (what & OF_A) a = rounded(a, format, how);
        if (what & OF_B) b = rounded(b, format, how);
        const double product = a * b;
        sum += what & PRODUCTS ? rounded(product, format, how) : product;
        if (what & SUMS) sum = rounded(sum, format, how);
    }
    const double result = finished(p, sum, old_C(p, row, col));
    return what & RESULTS ? rounded(result, format, how) : result;
}

static const char *const OF_WHOLE[] = {
    "results were truncated to whole numbers",
    "results were rounded to whole numbers",
    "sums were truncated to whole numbers",
};

static double of_whole(const struct problem *p, int row, int col, int which)
{
    const double sum = terms(p, row, col, 0, p->K), old = old_C(p, row, col);
    if (which == 2) return finished(p, trunc(sum), old);
    return which ? rint(finished(p, sum, old)) : trunc(finished(p, sum, old));
}

/* Sums that are kept in a narrow format in another order than k's cannot be computed
 * here. But then every sum is a number of that format, and most right ones are not. */
static bool sums_fit(const struct problem *p, const struct wrongs *w,
                     const struct format *format)
{
    int right = 0; /* sums that are such numbers too */
    if (w->kept < 8 || p->alpha == 0.0f || p->values == REALS || p->precision == BF16)
        return false;
    for (int i = 0; i < w->kept; i++) {
        const struct wrong *one = &w->list[i];
        const double old = p->beta * old_C(p, one->row, one->col);
        const double got = (one->got - old) / p->alpha;
        const double want = (one->want - old) / p->alpha;
        if (got == 0.0 || !isfinite(got) || rounded(got, format, NEAREST) != got)
            return false;
        right += rounded(want, format, NEAREST) == want;
    }
    return right <= w->kept / 2;
}

/* Names the formats for which the guess holds, from the narrowest on: fp16 and tf32 can be
 * told apart only where fp16 overflows. */
static bool find_format(const struct problem *p, const struct wrongs *w, double tries,
                        char *text, size_t room)
{
    char names[40] = "";
    for (int rest = 0; rest < NARROW_COUNT * ROUNDINGS; rest++) {
        const int one = NARROW_COUNT * ROUNDINGS;
        for (int i = 0; i < FORMAT_COUNT; i++)
            if (explains(p, w, of_format, i * one + rest, 0.0, tries))
                snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                         *names ? " or " : "", FORMATS[i].name);
        if (!*names) continue;
        snprintf(text, room, "looks like %s: %s %s", names, NARROW[rest / ROUNDINGS].text,
                 rest % ROUNDINGS == TRUNCATED ? "truncated" : "rounded");
        return true;
    }
    for (int i = 0; i < FORMAT_COUNT && !*names; i++)
        if (sums_fit(p, w, &FORMATS[i]))
            snprintf(names, sizeof names, "%s%s", FORMATS[i].name,
                     i == 1 && sums_fit(p, w, &FORMATS[2]) ? " or tf32" : "");
    if (*names)
        snprintf(text, room, "looks like %s: every sum is a number of this format",
                 names);
    return *names;
}

/* ---- elements in each other's place ---- */

/* The element whose value this one holds, if it is a near one. `chance` shrinks as in
 * hits(). */
static bool find_owner(const struct problem *p, const struct wrong *w, int *row, int *col,
                       double *chance)
{
    enum { AROUND = 16 };
    const int top = w->row < AROUND ? 0 : w->row - AROUND;
    const int left = w->col < AROUND ? 0 : w->col - AROUND;
    *chance *= (2 * AROUND + 1) * (2 * AROUND + 1);
    for (*row = top; *row < p->M && *row <= w->row + AROUND; ++*row)
        for (*col = left; *col < p->N && *col <= w->col + AROUND; ++*col) {
            const double sum = terms(p, *row, *col, 0, p->K);
            const double would_be = finished(p, sum, old_C(p, w->row, w->col));
            if (!isnan(w->got) && hits(p, w, would_be, 0.0, chance)) return true;
        }
    return false;
}

static bool place_explains(const struct problem *p, const struct wrongs *w, char *text,
                           size_t room)
{
    double chance = 1.0;
    if (p->K > 1 << 16) return false; /* that would take long */
    for (int i = 0, row, col; i < w->kept && i < MOST_SHOWN; i++) {
        const struct wrong *one = &w->list[i];
        if (!find_owner(p, one, &row, &col, &chance)) return false;
        if (i > 0) continue;
        snprintf(text, room,
                 "elements are in each other's place: C[%d][%d] holds what belongs in "
                 "C[%d][%d]",
                 one->row, one->col, row, col);
    }
    return w->kept > 0 && chance <= SMALL_CHANCE;
}

/* Whether all wrong elements that are shown should be infinite, or NaN. */
static bool all_infinite(const struct wrongs *w)
{
    for (int i = 0; i < w->kept; i++)
        if (!isinf(w->list[i].want)) return false;
    return true;
}

static bool all_nan(const struct wrongs *w)
{
    for (int i = 0; i < w->kept; i++)
        if (!isnan(w->list[i].want)) return false;
    return true;
}

/* ---- all of them ---- */

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

const char *likely_cause(const struct problem *p, const struct wrongs *w)
{
    static char text[160];
    const double tries = COUNT(OF_SCALES) + COUNT(OF_READING) + COUNT(OF_WRITING) +
                         ROUNDINGS * FORMAT_COUNT * NARROW_COUNT;
    /* Where rows are taken for what they are not, long fractions meet, and are rounded. */
    const double noise = p->values == REALS ? 0.0 : fabs(p->alpha) * p->K * 0x1p-24;
    struct range range = {0};

    if (w->never_written == w->count) return "these elements were never written";
    for (int i = 0; i < COUNT(OF_SCALES); i++)
        if (explains(p, w, of_scales, i, 0.0, tries)) return OF_SCALES[i];
    for (int i = 0; i < COUNT(OF_WRITING); i++)
        if (explains(p, w, of_writing, i, 0.0, tries)) return OF_WRITING[i];
    for (int i = 0; i < COUNT(OF_READING); i++)
        if (explains(p, w, of_reading, i, noise, tries)) return OF_READING[i].text;
    if (p->infinite && all_nan(w))
        return "a NaN was left out: of A or B, or from zero times infinity";
    if (p->infinite && w->not_a_number == w->count)
        return all_infinite(w)
                   ? "an infinity was multiplied by a zero that is not in the matrices, "
                     "or subtracted: either is NaN (a compensated sum must leave out a "
                     "correction that is not finite)"
                   : "an infinity of another row or column came in, or of C though beta "
                     "is 0: zero times infinity is NaN";
    if (w->not_a_number == w->count)
        return p->beta == 0.0f && w->read_C == w->count
                   ? "C was read, though beta is 0: it holds NaN, and 0 * NaN is NaN"
                   : "a NaN came in: memory that was never written, or outside the "
                     "matrices";
    if (find_range(p, w, &range)) return text_of(&range, p->K, text, sizeof text);
    for (int i = 0; i < COUNT(OF_WHOLE); i++)
        if (explains(p, w, of_whole, i, 0.0, tries)) return OF_WHOLE[i];
    if (find_format(p, w, tries, text, sizeof text)) return text;
    return place_explains(p, w, text, sizeof text) ? text : NULL;
}
