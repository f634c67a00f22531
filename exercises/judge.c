/* Makes the inputs of an exercise and judges what a student's kernel made of them.
 *
 *     judge kinds                                         the words for KIND
 *     judge make SEED KIND M N K [KIND M N K ...] > cases
 *     judge compare SEED KIND M N K [...] < results       one line of JSON a case
 *
 * Inputs are made again from the seed for the comparison, because the student's program
 * could have written over the file. The reference is computed in double; an element is
 * right within the rounding bound (n + 4) u * sum |terms| for n terms in any order,
 * doubled. Where numbers are only added, they are such that no order rounds, and the
 * result is exact: over a hundred thousand terms the bound would hide anything. Where the
 * task is to be exact although K is large, the bound does not grow with K. Written so
 * that NaN is never right. */
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[KINDS] = {KIND_NAMES};

static void stop(const char *why)
{
    fprintf(stderr, "judge: %s\n", why);
    exit(2);
}

static void *reserve(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    if (!p)
        stop("out of memory");
    return p;
}

/* SplitMix64 (Steele, Lea, Flood 2014): any seed will do, neighbouring ones too. */
static uint64_t random_state;

static uint64_t random_bits(void)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* In (-1, 1), and never so near to 0 that a term left out could hide in the rounding
 * bound. */
static float random_float(void)
{
    const float size = 0.0625f + 0.9375f * (float)(random_bits() >> 40) / 16777216.0f;
    return random_bits() & 1 ? size : -size;
}

/* Only adds, and of short numbers: then every sum is exact. */
static int is_exact(int kind)
{
    return kind == SUM || kind == SCAN || kind == ROW_SUMS;
}

static int is_product(int kind)
{
    return kind == MATMUL || kind == HALVES || kind == TO_HALVES || kind == PRECISE;
}

struct problem {
    struct test_case c;
    float *first, *second;
    uint32_t first_count, second_count; /* two halves are one word of a case */
    int counts[COUNTED_VALUES];         /* of a histogram */
};

/* The nearest number of 11 bits. */
static float rounded_to_half(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + 0x1000u) & ~0x1fffu;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Of such a number, neither 0 nor very large or small, the bits of the half. */
static uint16_t half_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits >> 16 & 0x8000u) |
                      ((bits & 0x7fffffffu) - (112u << 23)) >> 13);
}

static double value_of_half(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 0x3ff, sign = bits & 0x8000 ? -1.0 : 1.0;
    if (exponent == 31)
        return NAN;
    return sign *
           (exponent ? ldexp(fraction + 1024.0, exponent - 25) : ldexp(fraction, -24));
}

/* Rows of very different size, and within a row numbers that a half can hold, once the row
 * has been scaled. */
static void make_rows(struct problem *p)
{
    int size = 0;
    for (uint32_t i = 0; i < p->first_count; i++) {
        if (i % (uint32_t)p->c.N == 0)
            size = (int)(random_bits() % 121) - 60;
        p->first[i] = ldexpf(p->first[i], size - (int)(random_bits() % 8));
    }
}

/* Two halves are one word of a case. */
static int takes_halves(int kind)
{
    return kind == HALVES || kind == TO_HALVES;
}

/* Small integers. Of four, three are one and the same: so often that a block that counts in a
 * narrow format runs out of numbers. */
static void make_values(struct problem *p)
{
    const uint64_t frequent = random_bits();
    for (uint32_t i = 0; i < p->c.first; i++) {
        const uint64_t bits = random_bits();
        const int32_t value =
            (int32_t)((bits & 3 ? frequent : bits) >> 8) & (COUNTED_VALUES - 1);
        memcpy(&p->first[i], &value, sizeof value);
        p->counts[value]++;
    }
}

static void swap(float *a, float *b)
{
    const float kept = *a;
    *a = *b;
    *b = kept;
}

/* Times in a random order, each a tenth longer than the one before. K may put the fastest at
 * the beginning or at the end, and no candidate fails then. Otherwise every fourth or so
 * does, but never the fastest, and the first only where K says so. Thus each mistake is
 * alone in some list. */
enum place { ANYWHERE = 1, FIRST, LAST, BEHIND_A_FAILURE };
static void make_times(struct problem *p)
{
    const uint32_t n = p->c.first;
    const int may_fail = p->c.K != FIRST && p->c.K != LAST;
    float time = 1.0f;
    for (uint32_t i = 0; i < n; i++) {
        p->first[i] = may_fail && i > 0 && random_bits() % 4 == 0 ? -1.0f : time;
        time *= 1.1f;
    }
    for (uint32_t i = n; i > 1; i--) {
        const uint32_t j = (uint32_t)(random_bits() % i);
        swap(&p->first[i - 1], &p->first[j]);
    }
    uint32_t fastest = 0;
    while (p->first[fastest] != 1.0f)
        fastest++;
    const uint32_t wanted = p->c.K == FIRST ? 0 : p->c.K == LAST ? n - 1 : fastest;
    p->first[fastest] = p->first[wanted];
    p->first[wanted] = 1.0f;
    if (p->c.K == BEHIND_A_FAILURE) {
        if (wanted == 0)
            swap(&p->first[0], &p->first[n - 1]);
        p->first[0] = -1.0f;
    } else if (p->first[0] < 0.0f) {
        p->first[0] = time;
    }
}

static struct problem make_problem(const char *kind, long M, long N, long K)
{
    int number = 0;
    while (number < KINDS && strcmp(kind, kind_names[number]) != 0)
        number++;
    if (number == KINDS)
        stop("no such kind of exercise");
    if (M < 1 || N < 1 || K < 1 || M > 4096 || N > 1 << 22 || K > 4096)
        stop("sizes out of range");
    const uint32_t m = (uint32_t)M, n = (uint32_t)N, k = (uint32_t)K;
    struct problem p = {
        .c = {number, (int)M, (int)N, (int)K, random_float(), 0, 0, 0, 0}};
    switch (number) {
    case ON_TWO: p.c.scratch = 2 * n; /* falls through */
    case AXPY: p.c.first = p.c.second = p.c.out = n; break;
    case BLUR: p.c.first = p.c.out = n; break;
    case SCALE:
    case TRANSPOSE: p.c.first = p.c.out = m * n; break;
    case ROW_SUMS: p.c.first = m * n, p.c.out = m; break;
    case MATMUL:
    case HALVES:
    case TO_HALVES:
    case PRECISE: p.c.first = m * k, p.c.second = k * n, p.c.out = m * n; break;
    case SPLIT: p.c.first = m * n, p.c.out = m * n + m; break;
    case PREDICT: p.c.out = ANSWERS; break;
    case SUM: p.c.first = n, p.c.out = 1, p.c.scratch = SCRATCH; break;
    case SCAN: p.c.first = p.c.out = m * n; break;
    case HISTOGRAM: p.c.first = n, p.c.out = COUNTED_VALUES; break;
    case TUNE: p.c.first = n, p.c.out = 3; break;
    }
    p.first_count = p.c.first;
    p.second_count = p.c.second;
    p.first = reserve(p.first_count, sizeof *p.first);
    p.second = reserve(p.second_count, sizeof *p.second);
    for (uint32_t i = 0; i < p.first_count; i++)
        p.first[i] = random_float();
    for (uint32_t i = 0; i < p.second_count; i++)
        p.second[i] = random_float();
    if (takes_halves(number)) {
        if (p.c.first % 2 || p.c.second % 2)
            stop("an odd number of halves");
        p.c.first /= 2;
        p.c.second /= 2;
        for (uint32_t i = 0; i < p.first_count; i++)
            p.first[i] = rounded_to_half(p.first[i]);
        for (uint32_t i = 0; i < p.second_count; i++)
            p.second[i] = rounded_to_half(p.second[i]);
    }
    if (number == PRECISE) {
        for (uint32_t i = 0; i < p.first_count; i++)
            p.first[i] = fabsf(p.first[i]);
        for (uint32_t i = 0; i < p.second_count; i++)
            p.second[i] = fabsf(p.second[i]);
    }
    if (number == SPLIT)
        make_rows(&p);
    if (is_exact(number)) {
        /* As long as 24 bits hold the sum of all: who keeps fewer of them loses some. */
        float units = 128.0f;
        while (2.0f * units * n <= 0x1p24f)
            units *= 2.0f;
        for (uint32_t i = 0; i < p.c.first; i++)
            p.first[i] = rintf(units * p.first[i]) / units;
    }
    if (number == HISTOGRAM)
        make_values(&p);
    if (number == TUNE)
        make_times(&p);
    return p;
}

static void put(const void *data, size_t size, size_t count)
{
    if (fwrite(data, size, count, stdout) != count)
        stop("cannot write");
}

/* How many words the results are. */
static uint32_t words_out(const struct test_case *c)
{
    return c->kind == TO_HALVES ? c->out / 2 : c->out;
}

static void put_input(const struct problem *p, const float *numbers, uint32_t count)
{
    if (!takes_halves(p->c.kind)) {
        put(numbers, sizeof *numbers, count);
        return;
    }
    uint16_t *halves = reserve(count, sizeof *halves);
    for (uint32_t i = 0; i < count; i++)
        halves[i] = half_of(numbers[i]);
    put(halves, sizeof *halves, count);
    free(halves);
}

/* ---- what is right ---- */

struct value {
    double sum, magnitude; /* magnitude: the sum of the absolute values of the terms */
    double last_rounding;  /* in the end, beside those of the sum */
    int terms;
};

static void add(struct value *v, double term)
{
    v->sum += term;
    v->magnitude += fabs(term);
    v->terms++;
}

/* Element `i` of the output, from the terms `from` <= k < `to` where there is a sum over
 * k. */
static struct value want_part(const struct problem *p, uint32_t i, int from, int to)
{
    const struct test_case *c = &p->c;
    struct value v = {0.0, 0.0, 0.0, 0};
    switch (c->kind) {
    case AXPY:
    case ON_TWO:
        add(&v, (double)c->a * p->first[i]);
        add(&v, p->second[i]);
        break;
    case BLUR:
        for (int64_t j = (int64_t)i - 1; j <= (int64_t)i + 1; j++)
            if (j >= 0 && j < c->N)
                add(&v, p->first[j] / 3.0);
        break;
    case SCALE: add(&v, (double)c->a * p->first[i]); break;
    case TRANSPOSE: {
        const uint32_t m = (uint32_t)c->M, n = (uint32_t)c->N;
        add(&v, p->first[i % m * n + i / m]);
        break;
    }
    case ROW_SUMS:
    case SUM:
        for (int k = from; k < to; k++)
            add(&v, p->first[i * (uint32_t)c->N + (uint32_t)k]);
        break;
    case SCAN: {
        const int row = (int)i / c->N, col = (int)i % c->N;
        for (int k = from; k < to && k <= col; k++)
            add(&v, p->first[row * c->N + k]);
        break;
    }
    case HISTOGRAM: v.sum = p->counts[i]; break;
    case SPLIT: add(&v, p->first[i]); break;
    case MATMUL:
    case HALVES:
    case TO_HALVES:
    case PRECISE: {
        const uint32_t n = (uint32_t)c->N, row = i / n, col = i % n;
        for (int k = from; k < to; k++)
            add(&v, (double)p->first[row * (uint32_t)c->K + (uint32_t)k] *
                        p->second[(uint32_t)k * n + col]);
        break;
    }
    }
    if (is_exact(c->kind))
        v.magnitude = 0.0;
    if (c->kind == TO_HALVES)
        v.last_rounding = 0x1p-11 * fabs(v.sum) + 0x1p-25;
    if (c->kind == PRECISE) /* 2^-19, whatever the number of terms */
        v.terms = 12;
    return v;
}

/* How many terms an element's sum over k has. */
static int terms_of(const struct problem *p)
{
    const int kind = p->c.kind;
    return kind == ROW_SUMS || kind == SUM || kind == SCAN ? p->c.N : p->c.K;
}

static double bound_of(struct value want)
{
    return 2.0 * (want.terms + 4) * 0x1p-24 * want.magnitude + want.last_rounding;
}

static int is_right(double got, struct value want)
{
    return fabs(got - want.sum) <= bound_of(want);
}

static uint32_t bits_of(float word)
{
    uint32_t bits;
    memcpy(&bits, &word, sizeof bits);
    return bits;
}

/* ---- what went wrong ---- */

struct mistakes {
    uint32_t wrong, unwritten, first; /* first: the first wrong element */
};

static int width(const struct test_case *c)
{
    switch (c->kind) {
    case TRANSPOSE: return c->M;
    case ROW_SUMS:
    case SUM: return 1;
    case HISTOGRAM: return COUNTED_VALUES;
    }
    return c->N;
}

/* The first row (down = 1) or column with a wrong element. */
static uint32_t first_wrong(const struct problem *p, const char *wrong, int down)
{
    const uint32_t columns = (uint32_t)width(&p->c);
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < p->c.out; i++)
        if (wrong[i] && (down ? i / columns : i % columns) < first)
            first = down ? i / columns : i % columns;
    return first;
}

/* The wrong elements begin where the last whole tile ends, in rows (down = 1) or columns.
 * Tells the tile's size, or 0. */
static int only_past_whole_tiles(const struct problem *p, const char *wrong, int down)
{
    const uint32_t columns = (uint32_t)width(&p->c), rows = p->c.out / columns;
    const uint32_t first = first_wrong(p, wrong, down);
    for (uint32_t tile = 128; tile >= 4; tile /= 2) {
        const uint32_t edge = (down ? rows : columns) / tile * tile;
        if (edge == 0 || edge == (down ? rows : columns))
            continue;
        if (edge == first)
            return (int)tile;
    }
    return 0;
}

/* Every wrong element sits below the first row of tiles (down = 1), or right of the first
 * column of them. Tells the tile's size, or 0. */
static int only_past_the_first_tile(const struct problem *p, const char *wrong, int down)
{
    const uint32_t columns = (uint32_t)width(&p->c), rows = p->c.out / columns;
    const uint32_t first = first_wrong(p, wrong, down);
    if (first < 4 || first > 256 || first & (first - 1) || rows == 1 || columns == 1)
        return 0;
    return (int)first;
}

/* Ways to add up only a part of the terms of a sum over k; the size of a tile comes with
 * them. */
enum part { TAIL_MISSING, LAST_ONLY, FIRST_MISSING, FIRST_ONLY, LAST_MISSING, PARTS };
static const char *const part_names[PARTS] = {
    "tail missing", "last only", "first missing", "first only", "last missing"};

/* Whether every wrong element is what the terms `from` <= k < `to` give. */
static int is_part(const struct problem *p, const double *got, const char *wrong,
                   int from, int to)
{
    for (uint32_t i = 0; i < p->c.out; i++)
        if (wrong[i] && !is_right(got[i], want_part(p, i, from, to)))
            return 0;
    return 1;
}

/* Which part of the sums is all that is there, and of what tiles; PARTS if none. */
static enum part part_of_the_sum(const struct problem *p, const double *got,
                                 const char *wrong, int *tile)
{
    const int K = terms_of(p);
    if (!is_product(p->c.kind) && p->c.kind != ROW_SUMS && p->c.kind != SUM)
        return PARTS;
    /* One number can be like another by chance: of a single sum only the most frequent
     * mistake is told. */
    const int known = p->c.kind == SUM ? TAIL_MISSING + 1 : PARTS;
    for (int part = 0; part < known; part++)
        for (*tile = part == TAIL_MISSING ? 128 : 1; *tile >= 1 && *tile <= 128;
             *tile = part == TAIL_MISSING ? *tile / 2
                     : *tile == 1         ? 4
                                          : *tile * 2) {
            const int whole = K / *tile * *tile, last = (K - 1) / *tile * *tile;
            const int from = part == FIRST_MISSING ? *tile : part == LAST_ONLY ? last : 0;
            const int to = part == TAIL_MISSING   ? whole
                           : part == FIRST_ONLY   ? *tile
                           : part == LAST_MISSING ? last
                                                  : K;
            if (to > 0 && to <= K && from < K && to - from < K &&
                is_part(p, got, wrong, from, to))
                return (enum part)part;
        }
    return PARTS;
}

/* Every wrong element is the same multiple of what it should be: 2, 3, 4 or a half. Tells
 * which, or 0. */
static double multiple(const struct problem *p, const double *got, const char *wrong)
{
    static const double factors[] = {2.0, 3.0, 4.0, 0.5};
    for (unsigned f = 0; f < sizeof factors / sizeof *factors; f++) {
        int all = 1;
        for (uint32_t i = 0; i < p->c.out && all; i++) {
            struct value want = want_part(p, i, 0, terms_of(p));
            want.sum *= factors[f];
            want.magnitude *= 4.0;
            all = !wrong[i] || is_right(got[i], want);
        }
        if (all)
            return factors[f];
    }
    return 0.0;
}

/* What one lane of 32 adds up is all that is there. */
static int only_one_lane(const struct problem *p, const double *got)
{
    if (p->c.kind != ROW_SUMS || p->c.N <= 32)
        return 0;
    for (uint32_t i = 0; i < p->c.out; i++) {
        struct value v = {0.0, 0.0, 0.0, 0};
        for (int k = 0; k < p->c.N; k += 32)
            add(&v, p->first[i * (uint32_t)p->c.N + (uint32_t)k]);
        if (!is_right(got[i], v))
            return 0;
    }
    return 1;
}

/* The right values, in the places of the transposed matrix. */
static int is_transposed(const struct problem *p, const double *got)
{
    if (!is_product(p->c.kind) && p->c.kind != TRANSPOSE && p->c.kind != SCALE)
        return 0;
    const uint32_t columns = (uint32_t)width(&p->c), rows = p->c.out / columns;
    if (rows == 1 || columns == 1)
        return 0;
    const int to_k = is_product(p->c.kind) ? p->c.K : 0;
    for (uint32_t i = 0; i < p->c.out; i++)
        if (!is_right(got[i % columns * rows + i / columns], want_part(p, i, 0, to_k)))
            return 0;
    return 1;
}

/* The right values, one place further or earlier. Tells by how much, or 0. */
static int is_shifted(const struct problem *p, const double *got, int to_k)
{
    for (int by = -1; by <= 1; by += 2) {
        int64_t fit = 0;
        for (int64_t i = 1; i + 1 < (int64_t)p->c.out; i++)
            fit += is_right(got[i + by], want_part(p, (uint32_t)i, 0, to_k));
        if (p->c.out > 8 && fit > (int64_t)p->c.out * 3 / 4)
            return by;
    }
    return 0;
}

/* Every wrong element is right in its first bits, where the task asks for more of them. Tells
 * how many times too large the largest error is, or 0. */
static double only_rough(const struct problem *p, const double *got, const char *wrong)
{
    double worst = 0.0;
    if (p->c.kind != PRECISE && p->c.kind != SPLIT && p->c.kind != TO_HALVES)
        return 0.0;
    for (uint32_t i = 0; i < p->c.out; i++) {
        if (!wrong[i])
            continue;
        const struct value want = want_part(p, i, 0, terms_of(p));
        const double error = fabs(got[i] - want.sum);
        if (!(error <= 0x1p-9 * want.magnitude))
            return 0.0;
        if (error / bound_of(want) > worst)
            worst = error / bound_of(want);
    }
    return worst;
}

/* Errors are smaller than a term that is left out would make them, or, in products, than
 * one would in all of them: so all terms are there, and fewer bits of them. Where many add
 * up, a few errors are larger. Of few results that may be chance; and where nearly all are
 * right, it is not their type. */
static int only_narrow(const struct problem *p, const double *got, const char *wrong)
{
    const int kind = p->c.kind;
    if (!is_exact(kind) && kind != MATMUL && kind != SCALE && kind != AXPY)
        return 0;
    uint32_t found = 0, large = 0;
    for (uint32_t i = 0; i < p->c.out; i++) {
        const struct value want = want_part(p, i, 0, terms_of(p));
        const double limit = is_exact(kind) ? 0x1p-5 : 0x1p-9 * want.magnitude;
        found += wrong[i];
        large += wrong[i] && !(fabs(got[i] - want.sum) < limit);
        if (large > p->c.out / 8)
            return 0;
    }
    return found >= 8 && found > p->c.out / 4 && large <= found / 8;
}

/* The numbers that came out, in the judge's terms, and which of them hold what was there
 * before. What is left over of the words, as the exponents of a split are, counts no longer. */
static double *numbers_in(struct problem *p, const float *words, char *unwritten)
{
    const int kind = p->c.kind;
    if (kind == SPLIT)
        p->c.out = p->first_count;
    double *got = reserve(p->c.out, sizeof *got);
    for (uint32_t i = 0; i < p->c.out; i++) {
        const uint32_t bits = bits_of(words[kind == TO_HALVES ? i / 2 : i]);
        unwritten[i] = bits == NEVER_WRITTEN;
        if (kind == HISTOGRAM) {
            got[i] = (int32_t)bits;
        } else if (kind == TO_HALVES) {
            const uint16_t half = (uint16_t)(bits >> 16 * (i % 2));
            unwritten[i] = half == (uint16_t)(NEVER_WRITTEN >> 16 * (i % 2));
            got[i] = unwritten[i] ? NAN : value_of_half(half);
        } else if (kind == SPLIT) {
            const int32_t e = (int32_t)bits_of(words[p->c.out + i / (uint32_t)p->c.N]);
            const double y = value_of_half((uint16_t)bits) +
                             value_of_half((uint16_t)(bits >> 16)) / 2048.0;
            got[i] = e < -200 || e > 200 ? NAN : ldexp(y, -e);
            unwritten[i] = unwritten[i] || (uint32_t)e == NEVER_WRITTEN;
        } else {
            got[i] = words[i];
        }
    }
    return got;
}

/* So many wrong elements are whole numbers that it is no chance. */
static int only_whole_numbers(const struct problem *p, const double *got,
                              const char *wrong)
{
    int found = 0;
    for (uint32_t i = 0; i < p->c.out; i++) {
        if (wrong[i] && !(fabs(got[i]) < 1e9 && got[i] == rint(got[i])))
            return 0;
        found += wrong[i];
    }
    return found >= 8 && p->c.kind != HISTOGRAM;
}

/* The wrong elements are larger than anything the inputs give: local variables hold bytes 0xfe
 * at first, -1.7e38 as a float, and a sum that begins with that stays there, or overflows. */
static int was_never_set(const struct problem *p, const double *got, const char *wrong)
{
    if (p->c.kind == SPLIT) /* whose exponents can make any number */
        return 0;
    for (uint32_t i = 0; i < p->c.out; i++)
        if (wrong[i] && !(fabs(got[i]) > 1e30))
            return 0;
    return 1;
}

/* The counts are right, but what was there before is in them. */
static int is_added_to(const struct problem *p, const double *got, const char *wrong)
{
    for (uint32_t i = 0; i < p->c.out; i++)
        if (wrong[i] && got[i] != p->counts[i] + (double)NEVER_WRITTEN)
            return 0;
    return 1;
}

static void judge(struct problem *p, const float *words)
{
    const int to_k = terms_of(p);
    char *wrong = reserve(p->c.out, 1), *unwritten = reserve(p->c.out, 1);
    double *got = numbers_in(p, words, unwritten);
    struct mistakes m = {0, 0, 0};
    for (uint32_t i = 0; i < p->c.out; i++) {
        wrong[i] = !is_right(got[i], want_part(p, i, 0, to_k));
        if (!wrong[i])
            continue;
        if (m.wrong++ == 0)
            m.first = i;
        m.unwritten += unwritten[i];
    }
    if (m.wrong == 0) {
        printf("{\"ok\": true}\n");
        free(got);
        free(wrong);
        free(unwritten);
        return;
    }
    const char *pattern = "other";
    int tile = 0;
    enum part part;
    double factor = 0.0;
    uint32_t zeros = 0, nans = 0;
    for (uint32_t i = 0; i < p->c.out; i++) {
        zeros += wrong[i] && got[i] == 0.0;
        nans += got[i] != got[i];
    }
    const int below = only_past_whole_tiles(p, wrong, 1);
    const int right = only_past_whole_tiles(p, wrong, 0);
    if (m.unwritten == m.wrong && (tile = below ? below : right))
        pattern = "edge unwritten";
    else if (m.unwritten == m.wrong)
        pattern = "unwritten";
    else if (was_never_set(p, got, wrong))
        pattern = "never set";
    else if (is_transposed(p, got))
        pattern = "transposed";
    else if (is_shifted(p, got, to_k))
        pattern = "shifted";
    else if (only_one_lane(p, got))
        pattern = "one lane";
    else if (p->c.kind == HISTOGRAM && is_added_to(p, got, wrong))
        pattern = "not set to 0";
    else if (zeros == m.wrong && !below && !right)
        pattern = "zero";
    else if (zeros < m.wrong && only_whole_numbers(p, got, wrong))
        pattern = "whole";
    else if ((factor = only_rough(p, got, wrong)) != 0.0)
        pattern = "rough";
    else if ((part = part_of_the_sum(p, got, wrong, &tile)) < PARTS)
        pattern = part_names[part];
    else if ((factor = multiple(p, got, wrong)) != 0.0)
        pattern = "multiple";
    else if (m.unwritten > 0)
        pattern = "partly unwritten";
    else if (nans == m.wrong)
        pattern = "nan";
    else if ((tile = below))
        pattern = "bottom edge";
    else if ((tile = right))
        pattern = "right edge";
    else if ((tile = only_past_the_first_tile(p, wrong, 1)))
        pattern = "lower blocks";
    else if ((tile = only_past_the_first_tile(p, wrong, 0)))
        pattern = "further blocks";
    else if (only_narrow(p, got, wrong))
        pattern = "narrow";
    /* Where the first digits are right, it takes the others too to see the difference. */
    const int digits = strcmp(pattern, "narrow") == 0 ? 9 : 6;
    const uint32_t columns = (uint32_t)width(&p->c);
    const struct value want = want_part(p, m.first, 0, to_k);
    printf("{\"ok\": false, \"wrong\": %u, \"of\": %u, \"unwritten\": %u, ", m.wrong,
           p->c.out, m.unwritten);
    printf("\"pattern\": \"%s\", \"tile\": %d, \"row\": %u, \"col\": %u, ", pattern, tile,
           m.first / columns, m.first % columns);
    printf("\"factor\": \"%.4g\", \"got\": \"%.*g\", \"want\": \"%.*g\"}\n", factor,
           digits, got[m.first], digits, want.sum);
    free(got);
    free(wrong);
    free(unwritten);
}

static void report_answers(const float *got)
{
    printf("{\"ok\": true, \"answers\": [");
    for (int i = 0; i < ANSWERS; i++)
        printf("%s%.0f", i ? ", " : "", got[i]);
    printf("]}\n");
}

/* Whether the fastest was chosen, after how many runs of each. */
static void judge_tuner(const struct problem *p, const float *words)
{
    const int32_t choice = (int32_t)bits_of(words[0]), calls = (int32_t)bits_of(words[1]);
    const int32_t runs_of_best = (int32_t)bits_of(words[2]);
    const char *pattern = "slower";
    int best = -1;
    for (int i = 0; i < p->c.N; i++)
        if (p->first[i] > 0.0f && (best < 0 || p->first[i] < p->first[best]))
            best = i;
    if (choice < 0 || choice >= p->c.N)
        pattern = "no candidate";
    else if (choice != best && runs_of_best == 0)
        pattern = "never run";
    else if (p->first[choice] < 0.0f)
        pattern = "one that fails";
    else if (calls > 20 * p->c.N)
        pattern = "too many runs";
    else if (choice == best) {
        printf("{\"ok\": true}\n");
        return;
    }
    printf("{\"ok\": false, \"wrong\": 1, \"of\": 1, \"unwritten\": 0, \"pattern\": "
           "\"%s\", \"tile\": 0, \"row\": %d, \"col\": %d, \"factor\": \"%.2g\", "
           "\"got\": \"%d\", \"want\": \"%d\"}\n",
           pattern, calls, p->c.N,
           choice >= 0 && choice < p->c.N ? p->first[choice] / p->first[best] : 0.0,
           choice, best);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "kinds") == 0) {
        for (int kind = 0; kind < KINDS; kind++)
            puts(kind_names[kind]);
        return 0;
    }
    if (argc < 7 || (argc - 3) % 4 != 0)
        stop("usage: judge make|compare SEED KIND M N K ...");
    const int make = strcmp(argv[1], "make") == 0;
    random_state = strtoull(argv[2], NULL, 10);
    for (int i = 3; i < argc; i += 4) {
        const long M = atol(argv[i + 1]), N = atol(argv[i + 2]), K = atol(argv[i + 3]);
        struct problem p = make_problem(argv[i], M, N, K);
        if (make) {
            struct test_case c = p.c;
            c.out = words_out(&p.c);
            put(&c, sizeof c, 1);
            put_input(&p, p.first, p.first_count);
            put_input(&p, p.second, p.second_count);
        } else {
            const uint32_t words = words_out(&p.c);
            float *got = reserve(words, sizeof *got);
            if (fread(got, sizeof *got, words, stdin) != words)
                break; /* it ended early */
            if (p.c.kind == PREDICT)
                report_answers(got);
            else if (p.c.kind == TUNE)
                judge_tuner(&p, got);
            else
                judge(&p, got);
            free(got);
        }
        free(p.first);
        free(p.second);
    }
    return fflush(stdout) ? 3 : 0;
}
