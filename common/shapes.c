/* Small odd products, checked in every run. Whatever size the reader asks for, most of
 * what a kernel can do wrong does not show there: at 256 or 4096 no tile is cut off, M, N
 * and K are each other, and C is not read. These take no time to speak of and leave
 * nothing out: sizes that are one more than a tile and one less, in each direction; K
 * shorter than any tile, and each rest that a step of 16 along K can leave; rows of A and
 * of B that are whole float4s, of one of them, of none; one row, one column; a long K;
 * alpha and beta with all their bits, large, or 0, and beta = 0 when C holds NaN; alpha and
 * beta of 1 and -1, for which a kernel may have a way of its own, each beside another
 * number, which that way may have forgotten, and beside each other; and numbers as small
 * and as large as fp32 holds, most of them beyond fp16's range, which may otherwise stand
 * in for bf16 or tf32 unseen. */
#include "common.h"

#include <ctype.h>
#include <cuda_profiler_api.h>
#include <stdio.h>
#include <stdlib.h>

/* M = down tiles and m more, N = across tiles and n more. */
static const struct {
    float down;
    int m;
    float across;
    int n, K;
    float alpha, beta;
    enum inputs inputs;
    char shift;
} ODD[] = {
    {1, 1, 1, 1, 33, 1.0f, 0.0f},    /* one row and one column more than a tile, one k */
    {1, -1, 2, 1, 36, -0.6f, 0.0f},  /* float4s of A, not of B */
    {2, 4, 1, 4, 63, -1.0f, 1.0f},   /* of B, not of A; one k less than a tile's */
    {2, -1, 2, -4, 28, -1.0f, 2.1f}, /* of both, with tiles cut off */
    {3, -2, 2, -1, 3, 1.0f, 1.0f},   /* K shorter than any tile's */
    {0, 1, 2, 4, 56, 0.4f, 0.0f},    /* one row; of A whole 16 bytes in bf16, of B not */
    {2, 5, 0, 1, 44, 1.3f, -0.4f},   /* one column */
    {1, 0, 3, 0, 72, 1.7f, -1.0f},   /* nothing cut off, and M, N and K all different */
    {2, 0, 1, 6, 64, -1.0f, 0.3f},   /* cut off in one direction only; pairs of B */
    {1, 7, 1, 0, 24, -1.0f, 0.0f, WIDE_ROWS}, /* and in the other */
    /* Cut off in the middle of a tile, where its warps' parts begin and end. */
    {0.5f, 3, 1.5f, 2, 57, 1.2f, -0.3f},
    {1.5f, 0, 0.5f, 0, 60, 1.0f, 1.0f}, /* whole 16 bytes of B in bf16, not of A */
    {1.25f, 3, 0.75f, 5, 42, 0.6f, 0.0f},
    /* C alone, by what is nearly 0 and yet is not; some results are below the normal range,
     * which on a GPU cuBLAS, chapter 0's kernel, need not keep. */
    {1, 3, 1, 5, 38, 0.0f, EMULATED ? 2e-37f : 6e-9f},
    {0, 3, 0, 5, 2062, 1.2f, 0.0f}, /* more of K than of anything */
    {0, 2, 0, 3, 2, 0.0f, 0.0f},    /* nothing but zeros */
    {0, 1, 0, 1, 1, 1.6f, -0.7f},   /* a single product */
    /* Two sides alike and the third not, a row times a column, a column times a row, and
     * sides in any other order. The first: A * B by what is nearly 0, and all results are
     * below the normal range. */
    {0, 2, 0, 2, 22, EMULATED ? 1e-39f : 3e-9f, 0.0f},
    {0, 5, 0, 4, 4, -0.7f, 1.2f}, /* sides of four floats, or two */
    {0, 2, 0, 4, 2, 2e9f, 7e8f},  /* and large multipliers */
    {0, 1, 0, 1, 75, 0.9f, 1.1f},
    {0, 5, 0, 6, 1, -0.5f, 0.0f}, /* products with all the bits of a float */
    {0, 14, 0, 4, 13, -0.4f, 1.6f},
    /* Rows of whole 16 bytes, in bf16 too, that begin anywhere: only the address of one
     * matrix forbids to read or write them so. */
    {1, 0, 1, 8, 40, 1.3f, 1.0f, USUAL, 'A'},
    {1, 0, 1, 8, 48, 1.0f, -0.7f, USUAL, 'B'},
    {1, 0, 1, 8, 56, 1.3f, -1.0f, USUAL, 'C'},
    /* Addresses that are good for pairs of floats, and not for fours. */
    {1, 0, 1, 8, 24, 1.3f, 1.0f, USUAL, 'a'},
    /* Of two or three of them: their sum or difference may be good for fours. */
    {1, 0, 1, 8, 24, 1.3f, 1.0f, USUAL, '2'},
    {1, 0, 1, 8, 24, 1.3f, 1.0f, USUAL, '3'},
    {1, 0, 1, 8, 32, 1.0f, -0.7f, USUAL, 'b'},
    {1, 0, 1, 8, 16, 1.3f, -1.0f, USUAL, 'c'},
};
enum { ODD_COUNT = sizeof ODD / sizeof *ODD };

/* A side longer than a short can count, and than 133 of the widest tiles: more than the GPU
 * has multiprocessors, so a block for each must be there, or take two. Where blocks are
 * small enough that the emulator does it in a fraction of a second, longer than a short
 * without a sign can count. Where tiles are short too, and on a GPU, which does it in no
 * time, longer than MANY of them: more than 16 bits can number, and than there can be blocks
 * along the y and z of a grid. (That an int cannot count all elements shows in no product
 * that is fast: it takes 2^31 of one matrix, 8.6 GB. `46341 1 46341`, `1 46341 46341` and
 * `46341 46341 1 --beta 1` ask for A, B and C of that size.) */
enum { LONG = 133 * 256 + 1, LONGER = 257 * 256 + 1, MANY = 1 << 16 };
enum { LARGE_COUNT = 7 }; /* products with a side that is long, many elements or tiles */

/* `tile`: how long the chapter's tiles are along this side. */
static int long_side(const struct chapter *c, int tile)
{
    if (!EMULATED) return MANY * 32 + 1;
    if (!c->BM || c->threads > 512 || c->min_capability) return LONG;
    return tile <= 8 ? MANY * tile + 1 : LONGER;
}

/* A product with a launcher of its own for one precision only is not for the others. */
static bool is_for(const struct product *p, enum precision precision)
{
    if (!p->launch == !p->launch_bf16) return true;
    return precision == BF16 ? p->launch_bf16 != NULL : p->launch != NULL;
}

/* What only a GPU does in no time. */
static bool takes_long(const struct product *p)
{
    return EMULATED && (double)p->M * p->N * p->K > 1 << 28;
}

static void add(struct shapes *shapes, const struct product *p, enum precision precision,
                bool is_default)
{
    struct odd_shape *const shape = &shapes->list[shapes->count++];
    shape->product = *p;
    shape->precision = precision;
    if (!is_default) {
        const char *own = p->option ? p->option : "";
        snprintf(shape->option, sizeof shape->option, "--precision %s%s%s",
                 PRECISION_NAMES[precision], *own ? " " : "", own);
        shape->product.option = shape->option;
    }
}

/* Adds what the chapter asks for. */
static void list_own(const struct chapter *c, enum precision precision, bool few,
                     struct shapes *shapes)
{
    const int count = c->product_count;
    for (int i = 0; i < count; i++) {
        const struct product *const p = &c->products[few ? count - 1 - i : i];
        if (is_for(p, precision) && !takes_long(p))
            add(shapes, p, precision, precision == default_precision(c));
    }
}

/* Adds to the list: what is in ODD or a few of these, for the chapter's tile, and what the
 * chapter asks for. Among the few are all that begin behind an aligned address: a launcher
 * has a test of alignment of its own for each precision. And they come in an order in which
 * the first is the last of those before: who keeps anything from one call to the next is
 * seen if it does not fit another precision. */
static void list_shapes(const struct chapter *c, enum precision precision, bool few,
                        struct shapes *shapes)
{
    const bool is_default = precision == default_precision(c);
    const int BM = c->BM ? c->BM : 64, BN = c->BN ? c->BN : 64;
    if (few) list_own(c, precision, few, shapes);
    for (int i = 0; i < ODD_COUNT; i++) {
        if (few && i % 3 && !ODD[i].shift) continue;
        /* Several GPUs have their pieces at addresses of their own. */
        if (c->several_gpus && ODD[i].shift && !isupper(ODD[i].shift)) continue;
        const struct product p = {.M = (int)(ODD[i].down * BM) + ODD[i].m,
                                  .N = (int)(ODD[i].across * BN) + ODD[i].n,
                                  .K = ODD[i].K,
                                  .alpha = ODD[i].alpha,
                                  .beta = ODD[i].beta,
                                  .inputs = ODD[i].inputs,
                                  .shift = ODD[i].shift};
        add(shapes, &p, precision, is_default);
    }
    /* In tensor cores' chapters not on the emulator, which would take long for it. */
    if (is_default && (precision == FP32 || !EMULATED)) {
        const struct product large[LARGE_COUNT] = {
            {long_side(c, BM), 1, 1, 1.6f, -0.7f},
            {1, long_side(c, BN), 1, 1.6f, -0.7f},
            /* More elements of C, and of A and B, than a short without a sign counts. */
            {214, 316, 12, -0.9f, 1.3f},
            /* Two tiles one way and many the other, for blocks that take tiles in groups:
             * the groups are several, and the last is smaller. K is one step of most, with
             * rows of whole float4s, or one less. */
            {17 * BM + 1, BN + 4, 8, 0.7f, -1.2f},
            {BM + 1, 17 * BN + 1, 7, -1.1f, 0.0f},
            {34, 33, 2053, 1.2f, 0.0f},
            {1, 1, LONGER, 0.8f, 0.0f},
        };
        int count = LARGE_COUNT;
        /* The emulator multiplies whole tiles, and so many take long if they are large. */
        if (EMULATED && c->BM * c->BN > 256) count--;
        if (c->several_gpus) count = 3; /* each multiplies as another chapter does */
        for (int i = 0; i < count; i++) add(shapes, &large[i], precision, is_default);
    }
    if (!few) list_own(c, precision, few, shapes);
}

/* What is checked twice, the second time with other numbers, and alpha and beta as they
 * are: who keeps anything from one call to the next, or rounds alpha, is seen. The larger
 * ones would take too long on the emulator. */
static bool is_small(const struct product *p)
{
    return (double)p->M * p->N * p->K <= 1 << 21 && p->M < LONG && p->N < LONG &&
           p->K <= 2048;
}

/* The product that is checked the second time. What a launcher may have a way of its own
 * for, one row or column, or a K of 1, is checked with beta = 0 and with another, what is
 * thin with its large matrix at any address, too, whole tiles with whole steps along K, and
 * two sides alike as three. A C that begins anywhere is written where it need not be read.
 * (Elsewhere beta stays 0: there a multiplier of nearly 0 shows, and a C that is read and
 * must not be.) */
static struct product second_look(const struct chapter *c, const struct product *first)
{
    struct product p = *first;
    if (c->BM && c->BN && p.M % c->BM == 0 && p.N % c->BN == 0 && p.K > 64) p.K = 64;
    if (p.N == p.K) p.M = p.N;
    const bool row = p.M == 1, column = p.N == 1;
    if (p.inputs == USUAL && p.M >= 4 && p.alpha != 0.0f) p.inputs = INFINITE;
    if (p.beta == 0.0f && (row || column || p.K == 1)) p.beta = -0.3f;
    if (p.shift == 'C') p.beta = 0.0f;
    if (!p.shift && row != column) p.shift = row ? 'B' : 'A';
    return p;
}

/* Whether there is a third product to check at this shape, and more: number `look`, from 3
 * on. What is thin is checked with its other matrices at any address, too. And two shapes
 * get the pairs of multipliers that no other has: one of whole 16 bytes in any precision,
 * the only one with wide rows, and one of none, the only one of C alone. */
static bool next_look(const struct chapter *c, const struct product *first, int look,
                      struct product *p)
{
    static const struct {
        float alpha, beta;
    } PAIRS[] = {{1.0f, -1.0f}, {-1.0f, -1.0f}, {0.0f, 1.7f}};
    enum { PAIR_COUNT = sizeof PAIRS / sizeof *PAIRS };
    *p = *first;
    if (first->inputs == WIDE_ROWS || (first->alpha == 0.0f && first->beta != 0.0f)) {
        if (look - 3 >= PAIR_COUNT) return false;
        p->inputs = USUAL;
        p->alpha = PAIRS[look - 3].alpha;
        p->beta = PAIRS[look - 3].beta;
        return true;
    }
    if (first->shift || c->several_gpus || (p->M == 1) == (p->N == 1)) return false;
    p->shift = look == 3 ? (p->M == 1 ? 'A' : 'B') : 'C';
    return look <= 4;
}

/* Half the product, with the same matrices at the same addresses. What a launcher keeps
 * for an address, a tensor map for one, does not fit the whole product that comes next. */
static void rehearse(struct problem *whole, matmul_launcher *launch)
{
    struct problem half = *whole;
    half.M = (half.M + 1) / 2;
    half.N = (half.N / 2 + 7) / 8 * 8;
    half.K = (half.K / 2 + 7) / 8 * 8;
    if (half.N <= whole->N && half.K <= whole->K) problem_launch(&half, launch);
}

static void options_for(const struct product *p, struct options *o)
{
    o->M = p->M;
    o->N = p->N;
    o->K = p->K;
    o->alpha = p->alpha;
    o->beta = p->beta;
    o->inputs = p->inputs;
    o->shift = p->shift;
}

const char *command_for(const struct product *p, const char *program, uint64_t seed)
{
    static char text[200];
    const int room = sizeof text;
    int used =
        snprintf(text, room, "%s %s%s%d %d %d", program, p->option ? p->option : "",
                 p->option ? " " : "", p->M, p->N, p->K);
    if (p->alpha != 1.0f && used < room)
        used += snprintf(text + used, room - used, " --alpha %.9g", p->alpha);
    if (p->beta != 0.0f && used < room)
        used += snprintf(text + used, room - used, " --beta %.9g", p->beta);
    if (p->inputs != USUAL && used < room)
        used +=
            snprintf(text + used, room - used, " --inputs %s", INPUT_NAMES[p->inputs]);
    if (p->shift && used < room)
        used += snprintf(text + used, room - used, " --shift %c", p->shift);
    if (seed != 1 && used < room)
        snprintf(text + used, room - used, " --seed %llu", (unsigned long long)seed);
    return text;
}

void check_shapes(const struct chapter *chapter, const struct options *o,
                  const char *program, struct shapes *shapes)
{
    const int most = PRECISIONS * (ODD_COUNT + LARGE_COUNT + chapter->product_count);
    *shapes = (struct shapes){0};
    shapes->list = host_zeros("for a list of shapes", most, sizeof *shapes->list);
    list_shapes(chapter, o->precision, false, shapes);
    for (int i = 0; i < PRECISIONS; i++) /* the chapter's others, in fewer products */
        if (has_precision(chapter, i) && i != (int)o->precision)
            list_shapes(chapter, i, true, shapes);
    /* Who profiles the program, or looks through the lens, means the product asked for. */
    CUDA_CHECK(cudaProfilerStop());
    while (shapes->passed < shapes->count && !shapes->failure[0]) {
        const struct odd_shape *const shape = &shapes->list[shapes->passed];
        const struct product *product = &shape->product;
        struct options options = *o;
        struct problem problem;
        options_for(product, &options);
        options.precision = shape->precision;
        options.check_only = true;
        const char *command = command_for(product, program, o->seed);
        now_checking(command);
        if (!problem_create(&problem, &options)) exit(CANNOT);
        matmul_launcher *const launch =
            launcher_of_product(product, chapter, options.precision);
        const enum values first = product->inputs == POSITIVE ? REALS : FRACTIONS;
        struct verdict verdict =
            run_and_verify(&problem, &options, chapter, launch, first);
        const bool again = first != REALS && is_small(product);
        struct product other = second_look(chapter, product);
        for (int look = 2; again && verdict.passed; look++) {
            if (look > 2 && !next_look(chapter, product, look, &other)) break;
            options_for(&other, &options);
            command = command_for(&other, program, o->seed);
            now_checking(command);
            problem_destroy(&problem);
            if (!problem_create(&problem, &options)) exit(CANNOT);
            if (product->inputs == WIDE_ROWS && look > 2 && !chapter->several_gpus) {
                problem_fill(&problem, &options, REALS);
                rehearse(&problem, launch);
                CUDA_CHECK(cudaDeviceSynchronize());
            }
            verdict = run_and_verify(&problem, &options, chapter, launch, REALS);
        }
        problem_destroy(&problem);
        if (verdict.passed)
            shapes->passed++;
        else
            snprintf(shapes->failure, sizeof shapes->failure,
                     "%d x %d x %d: %s  repeat it: %s\n", product->M, product->N,
                     product->K, verdict.failure, command);
        now_checking(NULL);
    }
    CUDA_CHECK(cudaProfilerStart());
}
