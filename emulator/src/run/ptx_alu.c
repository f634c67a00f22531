/* The PTX instructions that make a value from values: arithmetic, logic, comparisons,
 * conversions.
 *
 * Results are those of the PTX ISA to the last bit, with two exceptions: what PTX calls
 * approximate (rcp.approx, ex2.approx, ...) is rounded correctly here, and so is a little
 * better than on a GPU; and a NaN is always the one with all bits set behind its sign, as
 * GPUs return it. */
#include "base/ptx.h"

#include <fenv.h>
#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "emulator_float16.h"
#include "emulator_ptx.h"

/* ---- bits ---- */

static unsigned bits_of(enum ptx_type type)
{
    return ptx_types[type].bits;
}

static uint64_t cut(uint64_t x, unsigned bits)
{
    return bits < 64 ? x & ((1ull << bits) - 1) : x;
}

static int64_t extended(uint64_t x, unsigned bits)
{
    return bits < 64 ? (int64_t)(x << (64 - bits)) >> (64 - bits) : (int64_t)x;
}

static bool is_signed(enum ptx_type type)
{
    return ptx_types[type].kind == PTX_SIGNED;
}

static bool is_float(enum ptx_type type)
{
    return ptx_types[type].kind == PTX_FLOAT;
}

/* The lowest bits as a number. */
static int64_t number_in(uint64_t x, unsigned bits, bool with_sign)
{
    return with_sign ? extended(x, bits) : (int64_t)cut(x, bits);
}

/* The value of an integer type, in 64 bits. */
static int64_t integer(enum ptx_type type, uint64_t x)
{
    return number_in(x, bits_of(type), is_signed(type));
}

static float float_of(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, sizeof x);
    return x;
}

static uint32_t bits_of_float(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return x != x ? 0x7fffffff : bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t bits_of_double(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ---- floating-point formats ---- */

struct format {
    unsigned fraction; /* bits behind the point */
    int least, most;   /* exponents of the smallest and largest normal number */
    bool infinite;     /* has infinities; without, its largest code is the only NaN */
};

static struct format format_of(enum ptx_type type)
{
    switch (type) {
    case PTX_F16:
    case PTX_F16X2: return (struct format){10, -14, 15, true};
    case PTX_BF16:
    case PTX_BF16X2: return (struct format){7, -126, 127, true};
    case PTX_TF32: return (struct format){10, -126, 127, true};
    case PTX_E4M3:
    case PTX_E4M3X2: return (struct format){3, -6, 8, false};
    case PTX_E5M2:
    case PTX_E5M2X2: return (struct format){2, -14, 15, true};
    case PTX_F32: return (struct format){23, -126, 127, true};
    default: return (struct format){52, -1022, 1023, true};
    }
}

/* The sign stands above the exponent's bits. */
static unsigned sign_place(const struct format *f)
{
    unsigned exponent_bits = 2;
    while (1 << (exponent_bits - 1) <= 1 - f->least) exponent_bits++;
    return f->fraction + exponent_bits;
}

static uint64_t not_a_number(const struct format *f)
{
    return (1ull << sign_place(f)) - 1;
}

static uint64_t infinity(const struct format *f)
{
    return (uint64_t)(f->most + 2 - f->least) << f->fraction;
}

static uint64_t largest(const struct format *f)
{
    return f->infinite ? infinity(f) - 1 : not_a_number(f) - 1;
}

static double value_in(const struct format *f, uint64_t bits)
{
    const unsigned place = sign_place(f);
    const bool negative = bits >> place & 1;
    bits &= (1ull << place) - 1;
    if (f->infinite ? bits > infinity(f) : bits == not_a_number(f)) return NAN;
    double x;
    if (f->infinite && bits == infinity(f)) {
        x = INFINITY;
    } else {
        const int exponent = (int)(bits >> f->fraction);
        const uint64_t fraction = bits & ((1ull << f->fraction) - 1);
        x = exponent ? ldexp((double)(fraction | 1ull << f->fraction),
                             exponent - 1 + f->least - (int)f->fraction)
                     : ldexp((double)fraction, f->least - (int)f->fraction);
    }
    return negative ? -x : x;
}

/* Rounds to the format. What is too large becomes infinite, or, saturating or without
 * infinities to have, the largest number (without either, NaN, as e4m3 does). */
static uint64_t rounded_to(const struct format *f, double x, enum ptx_rounding mode,
                           bool saturate)
{
    if (x != x) return not_a_number(f);
    const uint64_t bits = bits_of_double(x);
    const bool negative = bits >> 63;
    const uint64_t sign = (uint64_t)negative << sign_place(f);
    const int exponent = (int)(bits >> 52 & 2047) - 1023;
    const uint64_t too_large = saturate      ? largest(f)
                               : f->infinite ? infinity(f)
                                             : not_a_number(f);
    if (exponent == 1024) return sign | too_large;
    if (exponent == -1023) return sign; /* far below every format here */
    const uint64_t significand = (bits & ((1ull << 52) - 1)) | 1ull << 52;
    const int drop =
        (int)(52 - f->fraction) + (exponent < f->least ? f->least - exponent : 0);
    const bool up = (mode == PTX_RP && !negative) || (mode == PTX_RM && negative);
    uint64_t kept = 0;
    if (drop > 54) {
        kept = up;
    } else {
        kept = significand >> drop;
        const uint64_t rest = significand & ((1ull << drop) - 1),
                       half = drop ? 1ull << (drop - 1) : 1;
        if (mode == PTX_RN)
            kept += rest > half || (rest == half && (kept & 1));
        else if (mode == PTX_RNA)
            kept += rest >= half;
        else if (up)
            kept += rest != 0;
    }
    if (exponent > f->least) kept += (uint64_t)(exponent - f->least) << f->fraction;
    if (kept <= largest(f)) return sign | kept;
    const bool toward_zero =
        mode == PTX_RZ || (mode == PTX_RP && negative) || (mode == PTX_RM && !negative);
    return sign | (toward_zero ? largest(f) : too_large);
}

/* What is added is exact; the sum is rounded to odd, so that rounding it again, to a
 * format of at most 24 bits, is as good as rounding once. */
static double sum_to_odd(double a, double b)
{
    const double sum = a + b, part = sum - a;
    const double lost = (a - (sum - part)) + (b - part);
    if (lost != lost || lost == 0.0 || bits_of_double(sum) & 1) return sum;
    return (lost > 0.0) == (sum > 0.0) ? nextafter(sum, sum * 2.0) : nextafter(sum, 0.0);
}

/* ---- rounding of the host's own types ---- */

/* An x86-64 computes by SSE, whose rounding can be set alone; fesetround also sets that of
 * the x87, which takes longer than what is to be rounded. */
#ifdef __SSE2__
static const unsigned host_roundings[] = {_MM_ROUND_NEAREST, _MM_ROUND_TOWARD_ZERO,
                                          _MM_ROUND_DOWN, _MM_ROUND_UP};
#define SET_ROUNDING(mode) _MM_SET_ROUNDING_MODE(mode)
#else
static const int host_roundings[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
#define SET_ROUNDING(mode) fesetround(mode)
#endif

static void round_by(enum ptx_rounding mode)
{
    if (mode > PTX_RN && mode <= PTX_RP) SET_ROUNDING(host_roundings[mode]);
}

static void round_as_usual(enum ptx_rounding mode)
{
    if (mode > PTX_RN && mode <= PTX_RP) SET_ROUNDING(host_roundings[PTX_RN]);
}

static double to_integer(double x, enum ptx_rounding mode)
{
    switch (mode) {
    case PTX_RZI: return trunc(x);
    case PTX_RMI: return floor(x);
    case PTX_RPI: return ceil(x);
    default: return rint(x);
    }
}

/* ---- arithmetic ---- */

static float flushed(float x, uint64_t code)
{
    return code & PTX_FTZ && fpclassify(x) == FP_SUBNORMAL ? copysignf(0.0f, x) : x;
}

/* What .sat and .relu leave of a number; of a NaN, the first leaves 0. */
static double within(double x, uint64_t code)
{
    if (code & PTX_SAT) x = x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0;
    return code & PTX_RELU && x < 0.0 ? 0.0 : x;
}

static double lesser(double a, double b, uint64_t code)
{
    if (a != a || b != b) return code & PTX_KEEP_NAN ? NAN : a != a ? b : a;
    if (a == b) return signbit(a) ? a : b; /* -0 < +0 */
    return a < b ? a : b;
}

static double greater(double a, double b, uint64_t code)
{
    return -lesser(-a, -b, code);
}

/* C leaves open which of two zeros it is, a GPU does not. Programs are linked with these
 * instead of the C library's. */
float fminf(float a, float b)
{
    return (float)lesser(a, b, 0);
}
float fmaxf(float a, float b)
{
    return (float)greater(a, b, 0);
}
double fmin(double a, double b)
{
    return lesser(a, b, 0);
}
double fmax(double a, double b)
{
    return greater(a, b, 0);
}

/* Functions of one or two numbers that are rounded correctly from double. */
static double function_of(enum ptx_op op, double a, double b, uint64_t code)
{
    switch (op) {
    case PTX_MIN:
    case PTX_MAX: {
        double x = op == PTX_MIN ? lesser(a, b, code) : greater(a, b, code);
        if (code & PTX_XORSIGN) {
            x = op == PTX_MIN ? lesser(fabs(a), fabs(b), code)
                              : greater(fabs(a), fabs(b), code);
            if (signbit(a) != signbit(b)) x = -x;
        }
        return x;
    }
    case PTX_ABS: return fabs(a);
    case PTX_NEG: return -a;
    case PTX_RCP: return 1.0 / a;
    case PTX_RSQRT: return 1.0 / sqrt(a);
    case PTX_SQRT: return sqrt(a);
    case PTX_EX2: return exp2(a);
    case PTX_LG2: return log2(a);
    case PTX_SIN: return sin(a);
    case PTX_COS: return cos(a);
    case PTX_TANH: return tanh(a);
    case PTX_COPYSIGN: return copysign(b, a);
    default: return NAN;
    }
}

/* volatile: so that the compiler does not calculate under another rounding. */
static float single(uint64_t code, volatile float a, volatile float b, volatile float c)
{
    const enum ptx_op op = PTX_OP_OF(code);
    const enum ptx_rounding mode = PTX_ROUNDING_OF(code);
    volatile float x;
    a = flushed(a, code), b = flushed(b, code), c = flushed(c, code);
    round_by(mode);
    switch (op) {
    case PTX_ADD: x = a + b; break;
    case PTX_SUB: x = a - b; break;
    case PTX_MUL: x = a * b; break;
    case PTX_DIV: x = a / b; break;
    case PTX_FMA:
    case PTX_MAD: x = fmaf(a, b, c); break;
    case PTX_RCP: x = 1.0f / a; break;
    case PTX_SQRT: x = sqrtf(a); break;
    default: x = (float)function_of(op, a, b, code); break;
    }
    round_as_usual(mode);
    float result = flushed(x, code);
    if (code & PTX_SAT) result = result > 0.0f ? (result < 1.0f ? result : 1.0f) : 0.0f;
    return result;
}

static double of_two(uint64_t code, volatile double a, volatile double b,
                     volatile double c)
{
    const enum ptx_rounding mode = PTX_ROUNDING_OF(code);
    volatile double x;
    round_by(mode);
    switch (PTX_OP_OF(code)) {
    case PTX_ADD: x = a + b; break;
    case PTX_SUB: x = a - b; break;
    case PTX_MUL: x = a * b; break;
    case PTX_DIV: x = a / b; break;
    case PTX_FMA:
    case PTX_MAD: x = fma(a, b, c); break;
    case PTX_RCP: x = 1.0 / a; break;
    case PTX_SQRT: x = sqrt(a); break;
    default: x = function_of(PTX_OP_OF(code), a, b, code); break;
    }
    round_as_usual(mode);
    return x;
}

/* A subnormal number has no bit of the exponent. */
static uint64_t flushed_half(const struct format *f, uint64_t x, uint64_t code)
{
    return code & PTX_FTZ && !(x & infinity(f)) ? x & 0x8000 : x;
}

/* fp16 and bfloat16. */
static uint64_t half(enum ptx_type type, uint64_t code, uint64_t a, uint64_t b,
                     uint64_t c)
{
    const struct format f = format_of(type);
    const enum ptx_op op = PTX_OP_OF(code);
    a = flushed_half(&f, a, code), b = flushed_half(&f, b, code);
    c = flushed_half(&f, c, code);
    /* These change only the sign, also a NaN's. */
    if (op == PTX_NEG) return cut(a, 16) ^ 0x8000;
    if (op == PTX_ABS) return cut(a, 15);
    double x = value_in(&f, a), y = value_in(&f, b), z = value_in(&f, c);
    switch (op) {
    case PTX_ADD: x = sum_to_odd(x, y); break;
    case PTX_SUB: x = sum_to_odd(x, -y); break;
    case PTX_MUL: x = x * y; break;
    case PTX_FMA:
    case PTX_MAD: x = sum_to_odd(x * y, z); break;
    default: x = function_of(op, x, y, code); break;
    }
    if (code & PTX_FTZ && fabs(x) < ldexp(1.0, f.least)) x = copysign(0.0, x);
    return rounded_to(&f, within(x, code), PTX_RN, false);
}

static uint64_t in_float(enum ptx_type type, uint64_t code, uint64_t a, uint64_t b,
                         uint64_t c)
{
    if (type == PTX_F32 && PTX_OP_OF(code) == PTX_COPYSIGN)
        return (a & 0x80000000) | (b & 0x7fffffff);
    if (type == PTX_F32)
        return bits_of_float(single(code, float_of(a), float_of(b), float_of(c)));
    if (type == PTX_F64)
        return bits_of_double(of_two(code, double_of(a), double_of(b), double_of(c)));
    return half(type, code, a, b, c);
}

typedef unsigned __int128 uint128;
typedef __int128 int128;

/* mul, mad: the product's low half, high half, or (wide) the whole. With carries, the sum
 * of what mad adds, or add adds, runs over `bits`. */
static uint64_t product(uint64_t code, unsigned bits, uint64_t a, uint64_t b)
{
    const enum ptx_type type = PTX_TYPE_OF(code);
    const uint128 whole = is_signed(type)
                              ? (uint128)((int128)integer(type, a) * integer(type, b))
                              : (uint128)cut(a, bits) * cut(b, bits);
    return (uint64_t)(code & PTX_HI ? whole >> bits : whole);
}

static uint64_t with_carry(uint64_t code, unsigned bits, uint64_t a, uint64_t b,
                           uint64_t carry)
{
    const uint128 sum = (uint128)cut(a, bits) + cut(b, bits) + (carry & 1);
    return code & PTX_CARRY_OUT ? (uint64_t)(sum >> bits) & 1 : (uint64_t)sum;
}

static uint64_t saturated(int128 x, enum ptx_type type)
{
    const unsigned bits = bits_of(type);
    const int128 most =
        is_signed(type) ? ((int128)1 << (bits - 1)) - 1 : ((int128)1 << bits) - 1;
    const int128 least = is_signed(type) ? -((int128)1 << (bits - 1)) : 0;
    return (uint64_t)(x < least ? least : x > most ? most : x);
}

static uint64_t bit_reversed(uint64_t x, unsigned bits)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < bits; i++) result |= (x >> i & 1) << (bits - 1 - i);
    return result;
}

static unsigned leading_zeros(uint64_t x, unsigned bits)
{
    return x ? (unsigned)__builtin_clzll(x) - (64 - bits) : bits;
}

/* The bytes of b:a that the selector names; the modes are shorthands for selectors. */
static uint64_t permuted(unsigned mode, uint64_t a, uint64_t b, uint64_t selector)
{
    const uint64_t both = cut(b, 32) << 32 | cut(a, 32);
    const unsigned n = (unsigned)selector & 3;
    static const uint16_t selectors[][4] = {{0}, /* as the operand says */
                                            {0x3210, 0x4321, 0x5432, 0x6543},
                                            {0x5670, 0x6701, 0x7012, 0x0123},
                                            {0x0000, 0x1111, 0x2222, 0x3333},
                                            {0x3210, 0x3211, 0x3222, 0x3333},
                                            {0x0000, 0x1110, 0x2210, 0x3210},
                                            {0x1010, 0x3232, 0x1010, 0x3232}};
    const unsigned picked = mode ? selectors[mode][n] : (unsigned)selector & 0xffff;
    uint64_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned nibble = picked >> 4 * i & 15;
        uint64_t byte = both >> 8 * (nibble & 7) & 255;
        if (nibble & 8) byte = byte & 128 ? 255 : 0;
        result |= byte << 8 * i;
    }
    return result;
}

static uint64_t funnel(uint64_t code, uint64_t low, uint64_t high, uint64_t count)
{
    unsigned n = (unsigned)cut(count, 32);
    n = code & PTX_WRAP ? n & 31 : n > 32 ? 32 : n;
    const uint64_t both = cut(high, 32) << 32 | cut(low, 32);
    return code & PTX_LEFT ? (n == 32 ? low : both << n >> 32) : both >> n;
}

static uint64_t field(enum ptx_type type, uint64_t a, uint64_t position, uint64_t length)
{
    const unsigned bits = bits_of(type), at = (unsigned)position & 255,
                   n = (unsigned)length & 255;
    if (!n) return 0;
    const uint64_t value = at < bits ? cut(a, bits) >> at : 0;
    if (!is_signed(type)) return n < bits ? cut(value, n) : value;
    const unsigned last = at + n - 1 < bits ? at + n - 1 : bits - 1;
    const bool negative = a >> last & 1;
    const unsigned have = at < bits ? last - at + 1 : 0;
    const uint64_t kept = cut(value, have < 64 ? have : 64);
    return negative && have < 64 ? kept | ~0ull << have : kept;
}

static uint64_t inserted(unsigned bits, uint64_t a, uint64_t b, uint64_t position,
                         uint64_t length)
{
    const unsigned at = (unsigned)position & 255, n = (unsigned)length & 255;
    if (at >= bits || !n) return b;
    const uint64_t mask = (n < 64 ? (1ull << n) - 1 : ~0ull) << at;
    return (b & ~mask) | (a << at & mask);
}

static uint64_t dot_product(uint64_t code, uint64_t a, uint64_t b, uint64_t c)
{
    const bool four = PTX_OP_OF(code) == PTX_DP4A;
    const unsigned width = four ? 8 : 16; /* of a's parts */
    uint64_t sum = c;
    if (code & PTX_HIGH_HALF) b >>= 16;
    for (unsigned i = 0; i < (four ? 4 : 2); i++)
        sum += (uint64_t)(number_in(a >> width * i, width, is_signed(PTX_TYPE_OF(code))) *
                          number_in(b >> 8 * i, 8, is_signed(PTX_FROM_OF(code))));
    return sum;
}

/* The place of the n-th set bit from `base` on, up (n > 0) or down (n < 0). */
static uint64_t find_nth_set(uint64_t mask, uint64_t base, int n)
{
    if (n == 0) return mask >> base & 1 ? base : 0xffffffff;
    const int step = n < 0 ? -1 : 1;
    for (int i = (int)base, left = n < 0 ? -n : n; i >= 0 && i < 32; i += step)
        if (mask >> i & 1 && --left == 0) return (uint64_t)i;
    return 0xffffffff;
}

static uint64_t in_integers(enum ptx_type type, uint64_t code, uint64_t a, uint64_t b,
                            uint64_t c, uint64_t d)
{
    const unsigned bits = bits_of(type), limit = bits == 64 ? 64 : 32;
    const int64_t x = integer(type, a), y = integer(type, b);
    const bool with_sign = is_signed(type);
    switch (PTX_OP_OF(code)) {
    case PTX_ADD:
        if (code & (PTX_CARRY_IN | PTX_CARRY_OUT))
            return with_carry(code, bits, a, b, code & PTX_CARRY_IN ? d : 0);
        return code & PTX_SAT ? saturated((int128)x + y, type) : a + b;
    case PTX_SUB:
        /* PTX's borrow is the inverse of the sum's carry. */
        if (code & (PTX_CARRY_IN | PTX_CARRY_OUT)) {
            const uint64_t sum =
                with_carry(code, bits, a, ~b, code & PTX_CARRY_IN ? !(d & 1) : 1);
            return code & PTX_CARRY_OUT ? !sum : sum;
        }
        return code & PTX_SAT ? saturated((int128)x - y, type) : a - b;
    case PTX_MUL: return product(code, bits, a, b);
    case PTX_MAD: {
        const uint64_t p = product(code, bits, a, b);
        if (code & (PTX_CARRY_IN | PTX_CARRY_OUT))
            return with_carry(code, bits, p, c, code & PTX_CARRY_IN ? d : 0);
        if (code & PTX_SAT)
            return saturated((int128)extended(p, bits) + extended(c, bits), type);
        return p + c;
    }
    case PTX_DIV:
        if (!cut(b, bits)) return ~0ull;
        if (with_sign) return y == -1 ? (uint64_t)0 - (uint64_t)x : (uint64_t)(x / y);
        return (uint64_t)x / (uint64_t)y;
    case PTX_REM:
        if (!cut(b, bits)) return a;
        if (with_sign) return y == -1 ? 0 : (uint64_t)(x % y);
        return (uint64_t)x % (uint64_t)y;
    case PTX_SAD:
        if (with_sign)
            return (x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x) + c;
        return ((uint64_t)x > (uint64_t)y ? a - b : b - a) + c;
    case PTX_MIN:
    case PTX_MAX: {
        const bool less = with_sign ? x < y : (uint64_t)x < (uint64_t)y;
        uint64_t result = less == (PTX_OP_OF(code) == PTX_MIN) ? a : b;
        if (code & PTX_RELU && extended(result, bits) < 0) result = 0;
        return result;
    }
    case PTX_ABS: return x < 0 ? (uint64_t)0 - (uint64_t)x : (uint64_t)x;
    case PTX_NEG: return (uint64_t)0 - a;
    case PTX_AND: return a & b;
    case PTX_OR: return a | b;
    case PTX_XOR: return a ^ b;
    case PTX_NOT: return ~a;
    case PTX_CNOT: return !cut(a, bits);
    case PTX_SHL: return cut(b, 32) >= bits ? 0 : a << cut(b, 32);
    case PTX_SHR:
        if (with_sign)
            return (uint64_t)(x >> (cut(b, 32) >= bits ? bits - 1 : cut(b, 32)));
        return cut(b, 32) >= bits ? 0 : cut(a, bits) >> cut(b, 32);
    case PTX_LOP3: {
        uint64_t result = 0;
        for (unsigned i = 0; i < 8; i++)
            if (d >> i & 1)
                result |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
        return result;
    }
    case PTX_PRMT: return permuted(PTX_DETAIL_OF(code), a, b, c);
    case PTX_SHF: return funnel(code, a, b, c);
    case PTX_BFE: return field(type, a, b, c);
    case PTX_BFI: return inserted(bits, a, b, c, d);
    case PTX_BFIND: {
        uint64_t value = cut(a, bits);
        if (with_sign && x < 0) value = cut(~a, bits);
        if (!value) return 0xffffffff;
        const unsigned place = 63 - (unsigned)__builtin_clzll(value);
        return code & PTX_SHIFT_AMOUNT ? bits - 1 - place : place;
    }
    case PTX_BREV: return bit_reversed(a, bits);
    case PTX_CLZ: return leading_zeros(cut(a, bits), bits);
    case PTX_POPC: return (uint64_t)__builtin_popcountll(cut(a, bits));
    case PTX_SZEXT: {
        unsigned n = (unsigned)cut(b, 32);
        n = code & PTX_WRAP ? n & 31 : n > 32 ? 32 : n;
        if (!n) return 0;
        return with_sign ? (uint64_t)extended(a, n) : cut(a, n);
    }
    case PTX_BMSK: {
        uint64_t at = cut(a, 32), n = cut(b, 32);
        if (code & PTX_WRAP) at &= 31, n &= 31;
        return at >= limit ? 0 : (n >= limit ? ~0ull : (1ull << n) - 1) << at;
    }
    case PTX_FNS: return find_nth_set(a, cut(b, 32), (int)extended(c, 32));
    default: return 0;
    }
}

/* ---- comparisons ---- */

static bool compare_numbers(double a, double b, enum ptx_comparison how)
{
    const bool unordered = a != a || b != b;
    if (how == PTX_NUM) return !unordered;
    if (how == PTX_NAN) return unordered;
    if (unordered) return how >= PTX_EQU;
    switch (how >= PTX_EQU ? how - PTX_EQU : how) {
    case PTX_EQ: return a == b;
    case PTX_NE: return a != b;
    case PTX_LT: return a < b;
    case PTX_LE: return a <= b;
    case PTX_GT: return a > b;
    default: return a >= b;
    }
}

static bool compare(enum ptx_type type, uint64_t code, uint64_t a, uint64_t b)
{
    const enum ptx_comparison how = (enum ptx_comparison)PTX_DETAIL_OF(code);
    if (type == PTX_F32)
        return compare_numbers(flushed(float_of(a), code), flushed(float_of(b), code),
                               how);
    if (type == PTX_F64) return compare_numbers(double_of(a), double_of(b), how);
    if (is_float(type)) {
        const struct format f = format_of(type);
        return compare_numbers(value_in(&f, flushed_half(&f, a, code)),
                               value_in(&f, flushed_half(&f, b, code)), how);
    }
    const int64_t x = integer(type, a), y = integer(type, b);
    const bool less = is_signed(type) ? x < y : (uint64_t)x < (uint64_t)y;
    switch (how) {
    case PTX_EQ: return x == y;
    case PTX_NE: return x != y;
    case PTX_LT: return less;
    case PTX_LE: return less || x == y;
    case PTX_GT: return !less && x != y;
    default: return !less;
    }
}

static bool combine(uint64_t code, bool result, uint64_t with)
{
    switch (PTX_BOOL_OF(code)) {
    case PTX_BOOL_AND: return result && (with & 1);
    case PTX_BOOL_OR: return result || (with & 1);
    case PTX_BOOL_XOR: return result != (with & 1);
    default: return result;
    }
}

static enum ptx_type element_of(enum ptx_type type)
{
    return type == PTX_F16X2    ? PTX_F16
           : type == PTX_BF16X2 ? PTX_BF16
           : type == PTX_U16X2  ? PTX_U16
           : type == PTX_S16X2  ? PTX_S16
                                : type;
}

/* The second result of a comparison of pairs is that of the upper halves; of any other,
 * the opposite of the first. */
static uint64_t set_predicate(uint64_t code, uint64_t a, uint64_t b, uint64_t with)
{
    const enum ptx_type type = PTX_TYPE_OF(code);
    if (code & PTX_HIGH_HALF) a >>= 16, b >>= 16;
    const bool result = compare(element_of(type), code, a, b);
    return combine(code, code & PTX_COMPLEMENT ? !result : result, with);
}

static uint64_t true_as(enum ptx_type type)
{
    switch (type) {
    case PTX_F32: return 0x3f800000;
    case PTX_F16: return 0x3c00;
    case PTX_BF16: return 0x3f80;
    case PTX_U16:
    case PTX_S16: return 0xffff;
    default: return 0xffffffff;
    }
}

static uint64_t set_value(uint64_t code, uint64_t a, uint64_t b, uint64_t with)
{
    const enum ptx_type to = element_of(PTX_TYPE_OF(code)), from = PTX_FROM_OF(code);
    const bool low = combine(code, compare(element_of(from), code, a, b), with);
    uint64_t result = low ? true_as(to) : 0;
    if (element_of(from) == from) return result;
    const bool high =
        combine(code, compare(element_of(from), code, a >> 16, b >> 16), with);
    if (PTX_TYPE_OF(code) == PTX_U32 || PTX_TYPE_OF(code) == PTX_S32)
        return (low ? 0xffff : 0) | (high ? 0xffff0000 : 0);
    return result | (high ? true_as(to) << 16 : 0);
}

static bool test_property(enum ptx_type type, unsigned property, uint64_t a)
{
    const double x = type == PTX_F64 ? double_of(a) : float_of(a);
    const int class = type == PTX_F64 ? fpclassify(x) : fpclassify(float_of(a));
    switch (property) {
    case 0: return class != FP_NAN && class != FP_INFINITE; /* finite */
    case 1: return class == FP_INFINITE;
    case 2: return class != FP_NAN; /* number */
    case 3: return class == FP_NAN;
    case 4: return class == FP_NORMAL || class == FP_ZERO; /* as PTX has it */
    default: return class == FP_SUBNORMAL;
    }
}

/* ---- conversions ---- */

static double number(enum ptx_type type, uint64_t bits)
{
    if (type == PTX_F64) return double_of(bits);
    if (type == PTX_F32) return float_of(bits);
    const struct format f = format_of(type);
    return value_in(&f, cut(bits, bits_of(type)));
}

static uint64_t float_to_integer(uint64_t code, enum ptx_type to, enum ptx_type from,
                                 uint64_t a)
{
    double x = number(from, a);
    if (from == PTX_F32) x = flushed((float)x, code);
    /* NaN becomes 0, from or to 64 bits the lowest number. */
    if (x != x)
        return bits_of(to) == 64 || from == PTX_F64 ? 1ull << (bits_of(to) - 1) : 0;
    x = to_integer(x, PTX_ROUNDING_OF(code));
    const unsigned bits = bits_of(to);
    const double limit = ldexp(1.0, (int)(is_signed(to) ? bits - 1 : bits)),
                 least = is_signed(to) ? -limit : 0.0;
    if (x >= limit) return saturated(((int128)1) << 100, to);
    if (x < least) return saturated(-(((int128)1) << 100), to);
    return is_signed(to) ? (uint64_t)(int64_t)x : (uint64_t)x;
}

/* To one number of a format that the host does not calculate in. */
static uint64_t narrow(enum ptx_type to, uint64_t code, double x)
{
    const struct format f = format_of(to);
    const uint64_t bits =
        rounded_to(&f, within(x, code), PTX_ROUNDING_OF(code), code & PTX_SATFINITE);
    if (to != PTX_TF32) return bits;
    return x != x ? 0x7fffffff : bits << 13;
}

static uint64_t float_to_float(uint64_t code, enum ptx_type to, enum ptx_type from,
                               uint64_t a)
{
    const enum ptx_rounding mode = PTX_ROUNDING_OF(code);
    double x = number(from, a);
    if (from == PTX_F32) x = flushed((float)x, code);
    if (mode >= PTX_RNI) x = to_integer(x, mode);
    if (to != PTX_F32 && to != PTX_F64) return narrow(to, code, x);
    x = within(x, code);
    if (to == PTX_F64) return bits_of_double(x);
    round_by(mode);
    volatile double wide = x;
    volatile float result = (float)wide;
    round_as_usual(mode);
    return bits_of_float(flushed(result, code));
}

static uint64_t integer_to_float(uint64_t code, enum ptx_type to, enum ptx_type from,
                                 uint64_t a)
{
    const enum ptx_rounding mode = PTX_ROUNDING_OF(code);
    volatile int64_t x = integer(from, a);
    volatile uint64_t u = (uint64_t)x;
    const bool with_sign = is_signed(from);
    uint64_t result;
    round_by(mode);
    if (to == PTX_F32) {
        volatile float y = with_sign ? (float)x : (float)u;
        result = bits_of_float(y);
    } else {
        volatile double y = with_sign ? (double)x : (double)u;
        result = to == PTX_F64
                     ? bits_of_double(y)
                     : narrow(to, code,
                              with_sign && x < 0 ? -emu_to_odd(0 - u) : emu_to_odd(u));
    }
    round_as_usual(mode);
    return result;
}

/* Two numbers in one register; of two operands, the first becomes the upper half. */
static uint64_t convert_pair(uint64_t code, uint64_t a, uint64_t b)
{
    const enum ptx_type to = PTX_TYPE_OF(code), from = PTX_FROM_OF(code);
    const unsigned width = bits_of(to) / 2;
    uint64_t high = a, low = b;
    enum ptx_type part = from;
    if (bits_of(from) == 32 && from != PTX_F32) { /* a pair already */
        part = element_of(from);
        high = a >> 16, low = a;
    } else if (from == PTX_E4M3X2 || from == PTX_E5M2X2) {
        part = from == PTX_E4M3X2 ? PTX_E4M3 : PTX_E5M2;
        high = a >> 8, low = a;
    }
    const enum ptx_type half_of = to == PTX_F16X2    ? PTX_F16
                                  : to == PTX_BF16X2 ? PTX_BF16
                                  : to == PTX_E4M3X2 ? PTX_E4M3
                                                     : PTX_E5M2;
    return narrow(half_of, code, number(part, high)) << width |
           narrow(half_of, code, number(part, low));
}

static uint64_t convert(uint64_t code, uint64_t a, uint64_t b)
{
    const enum ptx_type to = PTX_TYPE_OF(code), from = PTX_FROM_OF(code);
    if (to == PTX_F16X2 || to == PTX_BF16X2 || to == PTX_E4M3X2 || to == PTX_E5M2X2)
        return convert_pair(code, a, b);
    const bool to_number = is_float(to) || to == PTX_TF32, from_number = is_float(from);
    if (from_number)
        return to_number ? float_to_float(code, to, from, a)
                         : float_to_integer(code, to, from, a);
    if (to_number) return integer_to_float(code, to, from, a);
    const int64_t x = integer(from, a);
    if (!(code & PTX_SAT)) return (uint64_t)x;
    return saturated(is_signed(from) ? (int128)x : (int128)(uint64_t)x, to);
}

/* cvt.pack: a and b, saturated, side by side, above what fits of c. */
static uint64_t pack(uint64_t code, uint64_t a, uint64_t b, uint64_t c)
{
    const enum ptx_type to = PTX_TYPE_OF(code), from = PTX_FROM_OF(code);
    const unsigned bits = bits_of(to);
    const uint64_t pair = cut(saturated(integer(from, a), to), bits) << bits |
                          cut(saturated(integer(from, b), to), bits);
    return bits == 16 ? pair : c << 2 * bits | pair;
}

/* ---- the way in ---- */

uint64_t emu_ptx_alu(uint64_t code, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    const enum ptx_type type = PTX_TYPE_OF(code);
    const unsigned bits = bits_of(type);
    switch (PTX_OP_OF(code)) {
    case PTX_SETP: return set_predicate(code, a, b, c);
    case PTX_SET: return set_value(code, a, b, c);
    case PTX_SELP: return cut(c & 1 ? a : b, bits);
    case PTX_SLCT: {
        const enum ptx_type by = PTX_FROM_OF(code);
        const bool first =
            by == PTX_F32 ? flushed(float_of(c), code) >= 0.0f : integer(by, c) >= 0;
        return cut(first ? a : b, bits);
    }
    case PTX_CVT: return cut(convert(code, a, b), type == PTX_TF32 ? 32 : bits);
    case PTX_CVT_PACK: return cut(pack(code, a, b, c), 32);
    case PTX_TESTP: return test_property(type, PTX_DETAIL_OF(code), a);
    case PTX_DP4A:
    case PTX_DP2A: return cut(dot_product(code, a, b, c), 32);
    case PTX_EXCH: return cut(b, bits);
    case PTX_CAS: return cut(cut(a, bits) == cut(b, bits) ? c : a, bits);
    case PTX_INC: return cut(a, bits) >= cut(b, bits) ? 0 : cut(a + 1, bits);
    case PTX_DEC:
        return cut(a, bits) == 0 || cut(a, bits) > cut(b, bits) ? cut(b, bits)
                                                                : cut(a - 1, bits);
    default: break;
    }
    if (type == PTX_F16X2 || type == PTX_BF16X2) {
        const enum ptx_type part = element_of(type);
        return cut(half(part, code, a, b, c), 16) |
               half(part, code, a >> 16, b >> 16, c >> 16) << 16;
    }
    if (type == PTX_U16X2 || type == PTX_S16X2) {
        const enum ptx_type part = element_of(type);
        return cut(in_integers(part, code, a, b, c, d), 16) |
               cut(in_integers(part, code, a >> 16, b >> 16, c >> 16, d), 16) << 16;
    }
    if (is_float(type)) return in_float(type, code, a, b, c);
    switch (PTX_OP_OF(code)) {
    case PTX_CLZ:
    case PTX_POPC:
    case PTX_BFIND: return cut(in_integers(type, code, a, b, c, d), 32);
    default:
        return cut(in_integers(type, code, a, b, c, d),
                   code & PTX_WIDE ? 2 * bits : bits);
    }
}

/* ---- numbers of 16 bits in C++: emulator_float16.h ---- */

double emu_add16(double a, double b)
{
    return a + b;
}
double emu_sub16(double a, double b)
{
    return a - b;
}
double emu_mul16(double a, double b)
{
    return a * b;
}
double emu_div16(double a, double b)
{
    return a / b;
}
double emu_fma16(double a, double b, double c)
{
    return sum_to_odd(a * b, c);
}

/* ---- several numbers in a word ---- */

uint64_t emu_ptx_video(int op, int bits, unsigned signs, int saturate, int add_up,
                       uint64_t a, uint64_t b, uint64_t c)
{
    const unsigned width = (unsigned)bits;
    const int64_t most = (1ll << (signs & 4 ? width - 1 : width)) - 1,
                  least = signs & 4 ? -most - 1 : 0;
    uint64_t all = 0, sum = c;
    for (unsigned at = 0; at < 32; at += width) {
        const int64_t x = number_in(a >> at, width, signs & 1),
                      y = number_in(b >> at, width, signs & 2);
        int64_t part = op == 'a'   ? x + y
                       : op == 's' ? x - y
                       : op == 'v' ? (x + y + (x + y >= 0)) >> 1
                       : op == 'd' ? (x > y ? x - y : y - x)
                       : op == 'n' ? (x < y ? x : y)
                                   : (x > y ? x : y);
        if (saturate) part = part < least ? least : part > most ? most : part;
        sum += (uint64_t)part;
        all |= cut((uint64_t)part, width) << at;
    }
    return add_up ? cut(sum, 32) : all;
}
