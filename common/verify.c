/* Is the result right? A check is worth what it refuses, so:
 *
 *  - C is full of NaN before the launch (beta == 0), so an element that nobody writes is
 * seen; and every comparison is written as !(error <= bound), because with NaN every
 * comparison is false, `error > bound` too.
 *  - Twice, with different inputs. With random reals in (-1, 1) the error may be as large
 * as rounding can make it, and no larger. With small whole numbers nothing is rounded at
 * all, so there the result must be equal, to the last bit: a product that was forgotten
 * is lost in the first bound, never in the second.
 *  - The reference sums in double, straight from the definition.
 *
 * The bound. A sum of K products in fp32, in any order, fused or not, differs from the
 * true one by at most gamma(K) * (|A| |B|), gamma(n) = n u / (1 - n u), u = 2^-24
 * (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1 and 3.5).
 * Times alpha, plus beta * C, are three roundings more:
 *
 *     |computed - exact| <= gamma(K + 3) * (|alpha| |A| |B| + |beta| |C|)
 *
 * Large problems. The full reference costs as much as the product itself, so above 2^28
 * multiplications a few whole rows are compared as above, and all of C at once with
 * Freivalds' check (1977): for vectors x of random signs, C x must equal alpha A (B x) +
 * beta C x, which takes three matrix-vector products. With whole numbers that too is
 * exact; a wrong row of C slips past one x with a probability of at most 1/2, past the 8
 * used here in one case of 256; a single wrong element in a row never. */
#include "common.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN = 5, VECTORS = 8 };
static const double FULL_REFERENCE = 0x1p28; /* multiplications */

struct wrong {
    int row, col;
    float got;
    double want;
};

struct findings {
    size_t wrong, not_a_number;
    int first_row, last_row, first_col,
        last_col; /* the smallest box that holds all wrong elements */
    struct wrong shown[MOST_SHOWN];
    int shown_count;
    double worst;
};

static double gamma_of(double n)
{
    const double u = 0x1p-24;
    return n * u / (1.0 - n * u);
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

static void note_wrong(struct findings *f, int row, int col, float got, double want)
{
    if (f->shown_count < MOST_SHOWN)
        f->shown[f->shown_count++] = (struct wrong){row, col, got, want};
    if (f->wrong++ == 0) {
        f->first_row = f->last_row = row;
        f->first_col = f->last_col = col;
    }
    if (row < f->first_row) f->first_row = row;
    if (row > f->last_row) f->last_row = row;
    if (col < f->first_col) f->first_col = col;
    if (col > f->last_col) f->last_col = col;
    f->not_a_number += isnan(got) != 0;
}

static void check_row(const struct problem *p, int row, double *want, double *size,
                      struct findings *f)
{
    const float *got = p->result + (size_t)row * p->N;
    const double gamma = p->values == INTEGERS ? 0.0 : gamma_of(p->K + 3.0);
    /* Below the normal range rounding is absolute, not relative. */
    const double tiny = p->values == INTEGERS ? 0.0 : (p->K + 3.0) * FLT_TRUE_MIN;
    reference_row(p, row, want, size);
    for (int j = 0; j < p->N; j++) {
        const double bound = gamma * size[j] + tiny;
        const double error = fabs(got[j] - want[j]);
        if (!(error <= bound))
            note_wrong(f, row, j, got[j], want[j]);
        else if (bound > 0.0 && error / bound > f->worst)
            f->worst = error / bound;
    }
}

/* ---- all of C at once ---- */

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

/* The signs of row `index` of the random vectors, one a bit. */
static void signs(uint64_t seed, int index, double x[VECTORS])
{
    const uint64_t bits = mix(seed + (uint64_t)index);
    for (int v = 0; v < VECTORS; v++) x[v] = bits >> v & 1 ? 1.0 : -1.0;
}

/* Returns the first row that fails, or -1. */
static int freivalds(const struct problem *p, uint64_t seed)
{
    const int M = p->M, N = p->N, K = p->K;
    double(*Bx)[VECTORS] = calloc(K, sizeof *Bx);
    double *B_size = calloc(K, sizeof *B_size); /* sum of |B| along a row */
    double(*x)[VECTORS] = malloc((size_t)N * sizeof *x);
    int failed = -1;
    if (!Bx || !B_size || !x) {
        fprintf(stderr, "no host memory to verify with\n");
        exit(CANNOT);
    }
    for (int j = 0; j < N; j++) signs(seed, j, x[j]);
    for (int k = 0; k < K; k++)
        for (int j = 0; j < N; j++) {
            const double b = p->B[(size_t)k * N + j];
            for (int v = 0; v < VECTORS; v++) Bx[k][v] += b * x[j][v];
            B_size[k] += fabs(b);
        }
    for (int i = 0; i < M && failed < 0; i++) {
        double want[VECTORS] = {0}, got[VECTORS] = {0}, size = 0.0;
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
            for (int v = 0; v < VECTORS; v++) {
                got[v] += c * x[j][v];
                want[v] += old * x[j][v];
            }
            size += fabs(old);
        }
        /* The double sums' own rounding is far below the bound for reals, and zero for
         * whole numbers. */
        const double bound = p->values == INTEGERS ? 0.0 : gamma_of(K + 3.0) * size;
        for (int v = 0; v < VECTORS; v++)
            if (!(fabs(got[v] - want[v]) <= bound)) failed = i;
    }
    free(Bx), free(B_size), free(x);
    return failed;
}

/* ---- saying what is wrong ---- */

static double exact_element(const struct problem *p, int row, int col)
{
    double sum = 0.0;
    for (int k = 0; k < p->K; k++)
        sum += (double)p->A[(size_t)row * p->K + k] * p->B[(size_t)k * p->N + col];
    return sum;
}

static bool near(double x, double y)
{
    return fabs(x - y) <= 1e-5 * (fabs(x) + fabs(y)) + 1e-30;
}

/* Whether all the shown elements fit an explanation, given what each would be then. */
static bool explains(const struct problem *p, const struct findings *f, char kind)
{
    for (int i = 0; i < f->shown_count; i++) {
        const struct wrong *w = &f->shown[i];
        const double old = p->C ? p->C[(size_t)w->row * p->N + w->col] : 0.0;
        double would_be = NAN;
        if (kind == 'a') would_be = (w->want - p->beta * old) / p->alpha + p->beta * old;
        if (kind == 'b') would_be = w->want - p->beta * old;
        if (kind == '1') would_be = w->want - p->beta * old + old;
        if (kind == 'o') would_be = old;
        if (kind == 't' && p->M == p->N && w->row != w->col)
            would_be = p->alpha * exact_element(p, w->col, w->row) + p->beta * old;
        if (!near(w->got, would_be)) return false;
    }
    return f->shown_count > 0;
}

/* Which of the rounds, for a message. chapter.c doubles the product of whole numbers
 * where alpha is 1. */
static const char *inputs_of(const struct problem *p)
{
    if (p->values == REALS) return "real inputs";
    return p->alpha == 2.0f ? "whole-number inputs, alpha = 2" : "whole-number inputs";
}

static const char *likely_cause(const struct problem *p, const struct chapter *c,
                                const struct findings *f)
{
    if (p->beta == 0.0f && f->not_a_number == f->wrong)
        return "these elements were never written, or hold a NaN from memory outside the "
               "matrices";
    if (p->alpha != 1.0f && p->alpha != 0.0f && explains(p, f, 'a'))
        return "alpha was not applied";
    if (p->beta != 0.0f && explains(p, f, 'b')) return "beta * C was not added";
    if (p->beta != 1.0f && p->beta != 0.0f && explains(p, f, '1'))
        return "C was added without beta";
    if (p->beta != 0.0f && explains(p, f, 'o'))
        return "these elements still hold the old C";
    if (explains(p, f, 't'))
        return "row and column are swapped: this is the transposed result";
    if (!c->BM || !c->BN) return NULL;
    if (f->first_row / c->BM == f->last_row / c->BM &&
        f->first_col / c->BN == f->last_col / c->BN && (p->M > c->BM || p->N > c->BN))
        return "all of them lie in one tile";
    if (p->M % c->BM && f->first_row >= p->M / c->BM * c->BM)
        return "all of them lie in the last row of tiles, which is only partly filled: "
               "look at the guards";
    if (p->N % c->BN && f->first_col >= p->N / c->BN * c->BN)
        return "all of them lie in the last column of tiles, which is only partly "
               "filled: look at the guards";
    if (p->M > c->BM && f->first_row >= c->BM)
        return "the first row of tiles is right, the others are not: look at the tile's "
               "origin";
    if (p->N > c->BN && f->first_col >= c->BN)
        return "the first column of tiles is right, the others are not: look at the "
               "tile's origin";
    return NULL;
}

static void append(struct verdict *verdict, const char *format, ...)
{
    size_t used = strlen(verdict->failure);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(verdict->failure + used, sizeof verdict->failure - used, format, arguments);
    va_end(arguments);
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
                     const struct findings *f, int rows_checked, struct verdict *verdict)
{
    append(verdict, "%zu of %zu elements are wrong (%s)\n", f->wrong,
           (size_t)rows_checked * p->N, inputs_of(p));
    for (int i = 0; i < f->shown_count; i++) {
        const struct wrong *w = &f->shown[i];
        append(verdict, "  C[%d][%d] is %.9g, should be %.9g", w->row, w->col, w->got,
               w->want);
        if (c->BM && c->BN)
            append(verdict, "   (block %d, thread %d)",
                   number_of(w->row / c->BM, w->col / c->BN, (p->M - 1) / c->BM + 1,
                             (p->N - 1) / c->BN + 1, c->blocks_go_down),
                   thread_of(c, w->row % c->BM, w->col % c->BN));
        append(verdict, "\n");
    }
    const char *cause = likely_cause(p, c, f);
    if (cause) append(verdict, "  likely: %s\n", cause);
}

/* ---- the check ---- */

struct verdict verify(const struct problem *p, const struct chapter *chapter,
                      uint64_t seed)
{
    struct verdict verdict = {.exact = p->values == INTEGERS};
    const size_t bytes = (size_t)p->M * p->N * sizeof(float);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(p->result, p->dC.data, bytes, cudaMemcpyDeviceToHost));

    const double work = (double)p->M * p->N * p->K;
    verdict.sampled = work > FULL_REFERENCE;
    int rows = verdict.sampled ? (int)(FULL_REFERENCE / ((double)p->N * p->K)) : p->M;
    if (rows < 3) rows = 3;
    if (rows > p->M) rows = p->M;

    double *want = malloc(2 * (size_t)p->N * sizeof *want);
    if (!want) {
        fprintf(stderr, "no host memory to verify with\n");
        exit(CANNOT);
    }
    struct findings findings = {0};
    for (int i = 0; i < rows; i++) {
        int row = i;
        /* The first row, the last, and others anywhere between. */
        if (verdict.sampled)
            row = i == 0 ? 0 : i == 1 ? p->M - 1 : (int)(mix(seed * 31 + i) % p->M);
        check_row(p, row, want, want + p->N, &findings);
        if (rows >= 64 && i % (rows / 64) == 0)
            progress("checking %d %%", 100 * i / rows);
    }
    free(want);
    verdict.worst = findings.worst;
    if (findings.wrong) describe(p, chapter, &findings, rows, &verdict);
    if (verdict.sampled) {
        progress("checking all of C (Freivalds)");
        int row = freivalds(p, mix(seed));
        if (row >= 0)
            append(&verdict, "row %d of C fails Freivalds' check (%s inputs)\n", row,
                   p->values == REALS ? "real" : "whole-number");
    }
    const char *damage = problem_damage(p);
    if (damage) append(&verdict, "%s\n", damage);
    progress(NULL);
    verdict.passed = verdict.failure[0] == '\0';
    return verdict;
}
