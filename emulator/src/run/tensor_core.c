/* The arithmetic of tensor cores, bit by bit.
 *
 * A tensor core adds up several products and the accumulator in one step. It multiplies
 * exactly, shifts every term to the largest exponent among them, cuts off what then lies
 * below F bits behind the point, adds exactly, and cuts the sum to the result's format.
 * So nothing is rounded to nearest, and the order of the terms does not matter.
 *
 * For Hopper this was compared with an H200: 26 forms of mma.sync and wgmma, 14 thousand
 * million results, infinities, NaNs and subnormal numbers among them, without a
 * difference. What the older and newer generations do (F, and how many products a step
 * takes) is from P. Xie et al., "MMA-Sim: bit-accurate reference model of tensor cores
 * and matrix cores" (2025), arXiv 2511.10909. */
#include "run/tensor_core.h"

#include <math.h>
#include <string.h>

#include "base/device.h"
#include "base/ptx.h"
#include "base/room.h"

/* ---- what the generations do ---- */

struct rule {
    int fraction;        /* F */
    unsigned step_bytes; /* of A that go into one step */
    int result_fraction; /* bits of an fp32 result behind the point */
    bool through_f16;    /* see multiply_through_f16 */
};

static bool is_fp8(enum ptx_type type)
{
    return type == PTX_E4M3 || type == PTX_E5M2;
}

static struct rule rule_for(const struct tensor_kind *kind)
{
    const int major = emu_gpu()->prop.major, minor = emu_gpu()->prop.minor;
    if (is_fp8(kind->a) && major == 8 && minor == 9)
        return (struct rule){13, 16, 13, false};
    if (is_fp8(kind->a) && major == 9 && kind->wgmma)
        return (struct rule){13, 32, 13, false};
    if (is_fp8(kind->a) && major == 9) return (struct rule){25, 32, 23, true};
    if (major >= 9) return (struct rule){25, 32, 23, false};
    return (struct rule){24, 16, 23, false};
}

/* ---- operands ---- */

enum sort { FINITE, INFINITE, NOT_A_NUMBER };

/* The exponent is that of the bit before the point, and not the value's own: a subnormal
 * number has the exponent of the least normal one. That of zero is far down. */
enum { FAR_DOWN = -10000, MOST_K = 64, MOST_M = 64, MOST_N = 256 };

struct layout {
    unsigned fraction, exponent_bits;
    int bias;
};

static struct layout layout_of(enum ptx_type type)
{
    switch (type) {
    case PTX_BF16: return (struct layout){7, 8, 127};
    case PTX_F16: return (struct layout){10, 5, 15};
    case PTX_TF32: return (struct layout){10, 8, 127};
    case PTX_E4M3: return (struct layout){3, 4, 7};
    case PTX_E5M2: return (struct layout){2, 5, 15};
    default: return (struct layout){23, 8, 127}; /* f32 */
    }
}

/* 2 to the power of x. */
static inline double power(int x)
{
    const uint64_t bits = (uint64_t)(x + 1023) << 52;
    double result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* Of what is not finite, the value tells the sign and nothing else. */
static inline enum sort decode(enum ptx_type type, struct layout l, uint32_t bits,
                               bool negate, double *value, int16_t *exponent)
{
    if (type == PTX_TF32) bits >>= 13; /* cut, not rounded: a NaN may become infinite */
    const uint32_t fraction = bits & ((1u << l.fraction) - 1),
                   top = (1u << l.exponent_bits) - 1, field = bits >> l.fraction & top;
    const bool negative = (bits >> (l.fraction + l.exponent_bits) & 1) != negate;
    const int significand = (int)(fraction | (field ? 1u << l.fraction : 0)),
              e = (field ? (int)field : 1) - l.bias;
    *exponent = (int16_t)(significand ? e : FAR_DOWN);
    *value = (negative ? -significand : significand) * power(e - (int)l.fraction);
    if (type == PTX_E4M3) return field == top && fraction == 7 ? NOT_A_NUMBER : FINITE;
    if (field != top) return FINITE;
    *value = negative ? -1 : 1;
    return fraction ? NOT_A_NUMBER : INFINITE;
}

/* ---- one step ---- */

/* What a sum is rounded to. */
struct result {
    enum ptx_type type; /* f32 or f16 */
    int fraction;       /* bits kept behind the point; of an f32 they may be fewer */
};

/* magnitude * 2^exponent, as bits: cut for f32, to nearest even for f16. Zero has no
 * sign. */
static uint32_t round_sum(bool negative, uint64_t magnitude, int exponent,
                          struct result to)
{
    const bool half = to.type == PTX_F16;
    const int width = half ? 10 : 23, least = half ? -14 : -126, bias = half ? 15 : 127;
    const uint32_t infinite = half ? 0x7c00 : 0x7f800000;
    if (!magnitude) return 0;
    const int first = exponent + 63 - __builtin_clzll(magnitude);
    const int drop = (first < least ? least : first) - to.fraction - exponent;
    uint64_t kept;
    if (drop > 62) {
        kept = 0;
    } else if (drop > 0) {
        kept = magnitude >> drop;
        const uint64_t rest = magnitude & ((1ull << drop) - 1),
                       middle = 1ull << (drop - 1);
        if (half) kept += rest > middle || (rest == middle && (kept & 1));
    } else {
        kept = magnitude << -drop;
    }
    if (!kept) return 0;
    uint64_t bits = kept << (width - to.fraction);
    if (first >= least) bits += (uint64_t)(first + bias - 1) << width;
    if (bits > infinite || first > 200) bits = infinite;
    return (uint32_t)bits | (negative ? half ? 0x8000u : 0x80000000u : 0);
}

/* The terms of a step. */
struct terms {
    const double *a, *b;
    const int16_t *a_exponent, *b_exponent;
    const enum sort *a_sort, *b_sort;
    unsigned count; /* of products; they come in fours */
    double c;
    int16_t c_exponent;
    enum sort c_sort;
};

/* Added in one step, with F = `fraction` bits behind the point; all are finite. A double
 * holds every product, and is cut off where it becomes an integer: what is shifted to the
 * largest exponent is below 4 * 2^F, so eight fit into 32 bits. In four sums, so that the
 * compiler may calculate them side by side. */
static uint32_t add_products(const struct terms *t, int fraction, int lowest,
                             struct result to)
{
    enum { FOUR = 4 };
    int16_t most[FOUR] = {(int16_t)lowest, t->c_exponent, FAR_DOWN, FAR_DOWN};
    for (unsigned i = 0; i < t->count; i += FOUR)
        for (unsigned j = 0; j < FOUR; j++) {
            const int16_t e = (int16_t)(t->a_exponent[i + j] + t->b_exponent[i + j]);
            most[j] = e > most[j] ? e : most[j];
        }
    const int16_t even = most[0] > most[2] ? most[0] : most[2],
                  odd = most[1] > most[3] ? most[1] : most[3];
    const int unit = (even > odd ? even : odd) - fraction;
    const double scale = power(-unit);
    int32_t sums[FOUR] = {0};
    for (unsigned i = 0; i < t->count; i += FOUR)
        for (unsigned j = 0; j < FOUR; j++)
            sums[j] += (int32_t)(t->a[i + j] * t->b[i + j] * scale);
    const int64_t sum =
        (int64_t)(t->c * scale) + sums[0] + ((int64_t)sums[1] + sums[2]) + sums[3];
    return round_sum(sum < 0, (uint64_t)(sum < 0 ? -sum : sum), unit, to);
}

/* With infinities or NaNs among them. Returns whether that decides the result. */
static bool is_decided(const struct terms *t, enum ptx_type type, uint32_t *result)
{
    bool nan = t->c_sort == NOT_A_NUMBER;
    bool up = t->c_sort == INFINITE && t->c > 0, down = t->c_sort == INFINITE && t->c < 0;
    for (unsigned i = 0; i < t->count; i++) {
        nan |= t->a_sort[i] == NOT_A_NUMBER || t->b_sort[i] == NOT_A_NUMBER;
        if (t->a_sort[i] == FINITE && t->b_sort[i] == FINITE) continue;
        if (t->a[i] == 0 || t->b[i] == 0)
            nan = true; /* 0 times infinity */
        else if ((t->a[i] < 0) != (t->b[i] < 0))
            down = true;
        else
            up = true;
    }
    const bool half = type == PTX_F16;
    if (nan || (up && down))
        *result = half ? 0x7fff : 0x7fffffff;
    else if (up)
        *result = half ? 0x7c00 : 0x7f800000;
    else if (down)
        *result = half ? 0xfc00 : 0xff800000;
    else
        return false;
    return true;
}

/* ---- one instruction ---- */

struct operand {
    double value[MOST_K];
    int16_t exponent[MOST_K];
    enum sort sort[MOST_K];
    bool special; /* not all are finite */
    bool zero;    /* all are, as beyond a matrix' edge */
};
EMU_TABLE(struct operand, a_rows, MOST_M);
EMU_TABLE(struct operand, b_columns, MOST_N);

/* Where the k-th element goes: in order, or for a step that takes every other pair. */
static unsigned in_pairs(unsigned i, unsigned k)
{
    return (i >> 1 & 1) * (k / 2) + (i >> 2) * 2 + (i & 1);
}

static void decode_all(enum ptx_type type, bool negate, unsigned rows, unsigned k,
                       const uint32_t *bits, bool pairs, struct operand *to)
{
    const struct layout l = layout_of(type);
    for (unsigned row = 0; row < rows; row++, to++) {
        to->special = false;
        to->zero = true;
        for (unsigned i = 0; i < k; i++) {
            const unsigned at = pairs ? in_pairs(i, k) : i;
            to->sort[at] = decode(type, l, bits[row * k + i], negate, &to->value[at],
                                  &to->exponent[at]);
            to->special |= to->sort[at] != FINITE;
            to->zero &= to->value[at] == 0;
        }
    }
}

static float as_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void multiply_floats(const struct tensor_kind *kind, unsigned m, unsigned n,
                            unsigned k, const uint32_t *a, const uint32_t *b,
                            uint32_t *sums)
{
    const struct rule rule = rule_for(kind);
    const bool half = kind->sum == PTX_F16;
    const struct result to = {kind->sum, half ? 10 : rule.result_fraction};
    const struct layout sum_layout = layout_of(kind->sum);
    const int lowest = half ? -21 : -133;
    unsigned step = rule.step_bytes * 8 / ptx_types[kind->a].bits;
    /* Hopper's mma.sync has no fp8 of its own. It calculates in fp16, from zero, the k
     * with k % 4 < 2 first and then the others, and adds the accumulator at the end,
     * rounded to nearest. */
    const bool through_f16 = rule.through_f16;
    if (through_f16) step = k / 2;
    if (step > k) step = k;
    decode_all(kind->a, kind->negate_a, m, k, a, through_f16, a_rows);
    decode_all(kind->b, kind->negate_b, n, k, b, through_f16, b_columns);
    for (unsigned i = 0; i < m; i++)
        for (unsigned j = 0; j < n; j++) {
            const struct operand *x = &a_rows[i], *y = &b_columns[j];
            const uint32_t old = sums[i * n + j];
            uint32_t sum = through_f16 ? 0 : old;
            /* Of an fp32 with all its bits, zeros change nothing, but for the sign of
             * another zero. */
            if ((x->zero || y->zero) && !x->special && !y->special && old != 0x80000000 &&
                to.fraction == 23 && (old & 0x7f800000) != 0x7f800000)
                continue;
            for (unsigned at = 0; at < k; at += step) {
                struct terms t = {x->value + at,    y->value + at, x->exponent + at,
                                  y->exponent + at, x->sort + at,  y->sort + at,
                                  .count = step};
                t.c_sort = decode(kind->sum, sum_layout, sum, false, &t.c, &t.c_exponent);
                if ((x->special || y->special || t.c_sort != FINITE) &&
                    is_decided(&t, kind->sum, &sum))
                    continue;
                sum = add_products(&t, rule.fraction, lowest, to);
            }
            if (through_f16 && !half) {
                const float whole = as_float(old) + as_float(sum);
                memcpy(&sum, &whole, sizeof sum);
                if (whole != whole) sum = 0x7fffffff;
            }
            sums[i * n + j] = sum;
        }
}

/* ---- integers ---- */

static int64_t integer_of(enum ptx_type type, uint32_t bits)
{
    const unsigned unused = 32 - ptx_types[type].bits;
    return ptx_types[type].kind == PTX_SIGNED ? (int32_t)(bits << unused) >> unused
                                              : (int64_t)(bits << unused >> unused);
}

static int64_t saturated(int64_t sum, bool saturate)
{
    if (!saturate) return sum;
    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
}

static __attribute__((noinline)) void multiply_bits(const struct tensor_kind *kind,
                                                    unsigned m, unsigned n, unsigned k,
                                                    const uint32_t *a, const uint32_t *b,
                                                    uint32_t *sums)
{
    for (unsigned i = 0; i < m; i++)
        for (unsigned j = 0; j < n; j++) {
            int64_t sum = (int32_t)sums[i * n + j];
            for (unsigned l = 0; l < k; l++) {
                const uint32_t x = a[i * k + l], y = b[j * k + l];
                sum += __builtin_popcount(kind->binary_and ? x & y : x ^ y);
            }
            sums[i * n + j] = (uint32_t)saturated(sum, kind->saturate);
        }
}

EMU_TABLE(int32_t, a_numbers, (MOST_M * MOST_K));
EMU_TABLE(int32_t, b_numbers, (MOST_N * MOST_K));

/* Of 8 bits at most, so that 64 products fit into 32 bits. */
static __attribute__((noinline)) void multiply_integers(const struct tensor_kind *kind,
                                                        unsigned m, unsigned n,
                                                        unsigned k, const uint32_t *a,
                                                        const uint32_t *b, uint32_t *sums)
{
    int32_t *const x = a_numbers, *const y = b_numbers;
    for (unsigned i = 0; i < m * k; i++) x[i] = (int32_t)integer_of(kind->a, a[i]);
    for (unsigned i = 0; i < n * k; i++) y[i] = (int32_t)integer_of(kind->b, b[i]);
    for (unsigned i = 0; i < m; i++)
        for (unsigned j = 0; j < n; j++) {
            int32_t products = 0;
            for (unsigned l = 0; l < k; l++) products += x[i * k + l] * y[j * k + l];
            const int64_t sum = (int64_t)(int32_t)sums[i * n + j] + products;
            sums[i * n + j] = (uint32_t)saturated(sum, kind->saturate);
        }
}

void tensor_multiply(const struct tensor_kind *kind, unsigned m, unsigned n, unsigned k,
                     const uint32_t *a, const uint32_t *b, uint32_t *sums)
{
    if (kind->a == PTX_B1)
        multiply_bits(kind, m, n, k, a, b, sums);
    else if (kind->sum == PTX_S32)
        multiply_integers(kind, m, n, k, a, b, sums);
    else
        multiply_floats(kind, m, n, k, a, b, sums);
}

void tensor_multiply_f64(unsigned m, unsigned n, unsigned k, const double *a,
                         const double *b, double *sums)
{
    for (unsigned i = 0; i < m; i++)
        for (unsigned j = 0; j < n; j++)
            for (unsigned l = 0; l < k; l++)
                sums[i * n + j] = fma(a[i * k + l], b[j * k + l], sums[i * n + j]);
}
