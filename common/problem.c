/* The matrices: what is in them, and where they lie. */
#include "common.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A part of CUDA, but a toolkit from single packages may lack it. */
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

/* A guard band is full of NaN, so that reading from it shows as writing into it does. */
enum { GUARD_WORDS = 1024, HALF_OF_16_BYTES = 8 };
#define OUTSIDE 0x7fb67fb6u /* of two bf16 each one */
#define POSITIVE_INFINITY 0x7f800000u

/* ---- does it fit? ---- */

static bool fits(const char *where, double need, double have, const char *limit)
{
    if (need <= have) return true;
    const bool small = need < 1e8;
    const double unit = small ? 1e6 : 1e9;
    fprintf(stderr, "this size needs %.2f %s of %s memory, and %.2f are free%s%s\n",
            need / unit, small ? "MB" : "GB", where, have / unit, limit ? " under " : "",
            limit ? limit : "");
    return false;
}

/* ---- elements ---- */

/* On the host every element is a float; on the device a bf16 is the upper half of one. */
static size_t size_of(enum precision precision)
{
    return precision == BF16 ? 2 : 4;
}

/* The last bits of a float that the elements of A and B lack. */
static int bits_cut(enum precision precision)
{
    return precision == BF16 ? 16 : precision == TF32 ? 13 : 0;
}

/* To the nearest, of two the even one, `cut` bits shorter. */
static float rounded(float x, int cut)
{
    uint32_t bits;
    if (cut == 0) return x;
    memcpy(&bits, &x, sizeof bits);
    bits += (1u << (cut - 1)) - 1 + (bits >> cut & 1);
    bits = bits >> cut << cut;
    memcpy(&x, &bits, sizeof x);
    return x;
}

double stored_in_C(const struct problem *p, double x)
{
    enum { SIGNIFICANT = 8, SMALLEST = -133 }; /* bits; exponent of the least number */
    int exponent;
    if (p->precision != BF16 || x == 0.0 || !isfinite(x)) return x;
    frexp(x, &exponent);
    exponent -= SIGNIFICANT;
    if (exponent < SMALLEST) exponent = SMALLEST;
    const double near = ldexp(rint(ldexp(x, -exponent)), exponent);
    return fabs(near) < 0x1p128 ? near : copysign(HUGE_VAL, near);
}

/* Elements that are converted at a time: not more, for a program that is larger than
 * `ulimit -d` allows is ended before it can say so. */
enum { PIECE = 1 << 14 };

static void to_device(void *device, const float *host, size_t count, size_t size)
{
    static uint16_t piece[PIECE];
    if (size == sizeof *host) {
        CUDA_CHECK(cudaMemcpy(device, host, count * size, cudaMemcpyHostToDevice));
        return;
    }
    for (size_t at = 0; at < count; at += PIECE) {
        const size_t n = count - at < PIECE ? count - at : PIECE;
        for (size_t i = 0; i < n; i++) {
            uint32_t bits;
            memcpy(&bits, &host[at + i], sizeof bits);
            piece[i] = (uint16_t)(bits >> 16);
        }
        CUDA_CHECK(cudaMemcpy((char *)device + at * size, piece, n * size,
                              cudaMemcpyHostToDevice));
    }
}

static void to_host(float *host, const void *device, size_t count, size_t size)
{
    static uint16_t piece[PIECE];
    if (size == sizeof *host) {
        CUDA_CHECK(cudaMemcpy(host, device, count * size, cudaMemcpyDeviceToHost));
        return;
    }
    for (size_t at = 0; at < count; at += PIECE) {
        const size_t n = count - at < PIECE ? count - at : PIECE;
        CUDA_CHECK(cudaMemcpy(piece, (const char *)device + at * size, n * size,
                              cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < n; i++) {
            const uint32_t bits = (uint32_t)piece[i] << 16;
            memcpy(&host[at + i], &bits, sizeof bits);
        }
    }
}

/* ---- launch ---- */

/* Every function pointer can be kept as any other, and comes back as it was. */
typedef void any_function(void);

matmul_launcher *launcher_of(const struct chapter *chapter, enum precision precision)
{
    switch (precision) {
    case BF16: return (matmul_launcher *)(any_function *)chapter->launch_bf16;
    case TF32: return chapter->launch_tf32;
    default: return chapter->launch;
    }
}

matmul_launcher *launcher_of_product(const struct product *product,
                                     const struct chapter *chapter,
                                     enum precision precision)
{
    matmul_launcher *const own =
        precision == BF16 ? (matmul_launcher *)(any_function *)product->launch_bf16
                          : product->launch;
    return own ? own : launcher_of(chapter, precision);
}

static bool launching;

/* A launcher that ends the program leaves no verdict, and success would look like one. */
static void launcher_must_return(int code, void *unused)
{
    (void)unused;
    if (!launching || code != PASSED) return;
    fprintf(stderr, "the launcher has ended the program, and nothing was checked\n");
    printf("FAIL\n");
    fflush(stdout);
    _exit(WRONG);
}

void problem_launch(const struct problem *p, matmul_launcher *launch)
{
    static bool watched;
    if (!watched) on_exit(launcher_must_return, NULL);
    watched = launching = true;
    if (p->precision == BF16)
        ((bf16_launcher *)(any_function *)launch)(p->M, p->N, p->K, p->alpha, p->dA.data,
                                                  p->dB.data, p->beta, p->dC.data);
    else
        launch(p->M, p->N, p->K, p->alpha, p->dA.data, p->dB.data, p->beta, p->dC.data);
    launching = false;
}

/* ---- allocation ---- */

static void fill_bits(float *values, size_t count, uint32_t bits)
{
    for (size_t i = 0; i < count; i++) memcpy(&values[i], &bits, sizeof bits);
}

/* Tells tools that watch the program what the matrix is called. */
static void buffer_name(struct buffer *b, const char *letter, int rows, int cols)
{
#ifdef NVTX_VERSION
    char name[64];
    snprintf(name, sizeof name, "%s, %d x %d", letter, rows, cols);
    nvtxResourceAttributes_t about;
    memset(&about, 0, sizeof about);
    about.version = NVTX_VERSION;
    about.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
    about.identifierType = NVTX_RESOURCE_TYPE_GENERIC_POINTER;
    about.identifier.pValue = b->data;
    about.messageType = NVTX_MESSAGE_TYPE_ASCII;
    about.message.ascii = name;
    b->name = nvtxDomainResourceCreate(NULL, &about);
#else
    (void)b, (void)letter, (void)rows, (void)cols;
#endif
}

static char *behind(const struct buffer *b)
{
    return (char *)b->data + b->count * b->size;
}

static void buffer_create(struct buffer *b, size_t count, size_t size,
                          const struct options *o, char letter)
{
    static float band[GUARD_WORDS];
    const bool by_half = o->shift == tolower(letter) || o->shift == '3' ||
                         (o->shift == '2' && letter != 'C');
    const size_t shift = o->shift == letter ? size : by_half ? HALF_OF_16_BYTES : 0;
    b->count = count;
    b->size = size;
    b->guard = o->guards ? sizeof band : 0;
    CUDA_CHECK(cudaMalloc(&b->start, shift + count * size + 2 * b->guard));
    b->data = (char *)b->start + shift + b->guard;
    if (!o->guards) return;
    fill_bits(band, GUARD_WORDS, OUTSIDE);
    CUDA_CHECK(cudaMemcpy((char *)b->data - sizeof band, band, sizeof band,
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(behind(b), band, sizeof band, cudaMemcpyHostToDevice));
}

static void buffer_destroy(struct buffer *b)
{
#ifdef NVTX_VERSION
    nvtxDomainResourceDestroy((nvtxResourceHandle_t)b->name);
#endif
    CUDA_CHECK(cudaFree(b->start));
}

bool problem_create(struct problem *p, const struct options *o)
{
    const size_t a = (size_t)o->M * o->K, b = (size_t)o->K * o->N,
                 c = (size_t)o->M * o->N;
    const bool keeps_C = o->beta != 0.0f;
    const size_t size = size_of(o->precision);

    /* The device holds A, B, C; C before the product if that matters; and cuBLAS' own C
     * while timing. */
    double device = (double)size * ((double)a + b + c * (1.0 + keeps_C + !o->check_only));
    double host = 4.0 * ((double)a + b + c * (1.0 + keeps_C));
    size_t device_free, device_total;
    CUDA_CHECK(cudaMemGetInfo(&device_free, &device_total));
    /* The emulated GPU's memory is this machine's too. */
    const struct room room = host_room();
    if (!fits("GPU", device, (double)device_free, EMULATED ? room.limit : NULL))
        return false;
    if (!fits("host", host + (EMULATED ? device : 0.0), (double)room.bytes, room.limit))
        return false;

    *p = (struct problem){.M = o->M, .N = o->N, .K = o->K, .precision = o->precision};
    p->A = malloc(a * sizeof(float));
    p->B = malloc(b * sizeof(float));
    p->C = keeps_C ? malloc(c * sizeof(float)) : NULL;
    p->result = malloc(c * sizeof(float));
    if (!p->A || !p->B || (keeps_C && !p->C) || !p->result) {
        fprintf(stderr, "the host has no %.1f GB of memory left\n", host / 1e9);
        free(p->A), free(p->B), free(p->C), free(p->result);
        return false;
    }
    buffer_create(&p->dA, a, size, o, 'A');
    buffer_create(&p->dB, b, size, o, 'B');
    buffer_create(&p->dC, c, size, o, 'C');
    buffer_name(&p->dA, "A", o->M, o->K);
    buffer_name(&p->dB, "B", o->K, o->N);
    buffer_name(&p->dC, "C", o->M, o->N);
    if (keeps_C) CUDA_CHECK(cudaMalloc(&p->dC_before, c * size));
    return true;
}

void problem_destroy(struct problem *p)
{
    free(p->A), free(p->B), free(p->C), free(p->result);
    buffer_destroy(&p->dA);
    buffer_destroy(&p->dB);
    buffer_destroy(&p->dC);
    CUDA_CHECK(cudaFree(p->dC_before));
}

/* ---- what is in them ---- */

/* One step of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
 * generators", 2014): every seed gives a different, well mixed sequence, on every machine
 * the same. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Uniform in (-1, 1): odd multiples of 2^-23, 24 bits, which is all that a float holds. */
static void fill_reals(float *values, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        values[i] = ((float)(next_random(&seed) >> 41) + 0.5f) * 0x1p-22f - 1.0f;
}

/* Nearly normal, of variance 1: the sum of twelve uniform numbers less its mean. */
static void fill_normal(float *values, size_t count, uint64_t seed, int cut)
{
    for (size_t i = 0; i < count; i++) {
        int sum = -6 * 0xffff;
        for (int j = 0; j < 3; j++) {
            const uint64_t four = next_random(&seed);
            sum += (int)((four & 0xffff) + (four >> 16 & 0xffff) + (four >> 32 & 0xffff) +
                         (four >> 48));
        }
        values[i] = rounded((float)sum * 0x1p-16f, cut);
    }
}

/* ---- fractions that no order of summation rounds ---- */

/* How long the fractions are: a product has `bits` bits after the point, and full length
 * where (k / 3 + row or column) is a multiple of `stride`. Everywhere else a factor is
 * as small as it can be: still there, so that no k can be left out unseen, and next to
 * nothing in the sum. */
struct lengths {
    int bits, stride;
};

/* An odd number of 2^-bits between 1/2 and 1, or 2^-bits itself, with a random sign: 1
 * for no bits. The full ones need all their bits: any narrower format changes them. */
static float fraction(uint64_t random, int bits, bool full)
{
    uint32_t number = 1;
    if (full && bits > 0) {
        const uint32_t half = 1u << (bits - 1);
        number = half | (random & (half - 1)) | 1;
    }
    return (random >> 63 ? -1.0f : 1.0f) * (float)number / (float)(1u << bits);
}

/* The bits of a product come all from A, all from B, or half from each, in turn along k,
 * as far as an element holds that many: inputs that are rounded show in the first two,
 * products that are rounded in all three. */
static int bits_of_A(const struct problem *p, int k, int bits)
{
    const int held = 24 - bits_cut(p->precision), most = bits < held ? bits : held;
    return k % 3 == 0 ? most : k % 3 == 1 ? bits - most : bits / 2;
}

/* 1/2, 1 or 2: what all values of alpha * x or beta * x are multiples of, with x = 1, 2,
 * ... and a multiplier from halves(). */
static double step_of(float multiplier)
{
    return fmodf(multiplier, 2.0f) == 0.0f   ? 2.0
           : fmodf(multiplier, 1.0f) == 0.0f ? 1.0
                                             : 0.5;
}

/* What all sums of products with such lengths are multiples of. */
static double unit_of(const struct problem *p, struct lengths l)
{
    return ldexp(fmin(step_of(p->alpha), step_of(p->beta)), -l.bits);
}

/* Whether fp32 holds all these sums, whatever the order, with alpha applied to the sum or
 * to the factors, and C before or after: it holds 2^24 units. */
static bool is_exact(const struct problem *p, struct lengths l)
{
    const double full = p->K == 1 ? 1.0 : (double)p->K / l.stride + 3.0;
    /* Both factors small; or one, which then has at least as many bits as this. */
    int least = bits_of_A(p, 1, l.bits);
    if (least == 0) least = l.bits / 2;
    const double small =
        p->K == 1 ? 0.0 : p->K * (ldexp(1.0, -l.bits) + ldexp(1.0, -least) / l.stride);
    /* A partial sum holds at most all positive products or all negative ones. The signs
     * are random: of a million, neither has far more than half. */
    const double share = p->K < 1 << 20 ? 1.0 : 0.6;
    return share * fabs(p->alpha) * (full + small) + fabs(p->beta) <=
           0x1p24 * unit_of(p, l);
}

/* The longest fractions that are exact; but not below 13 bits, two more than fp16 and
 * tf32 have, and then fewer of them. (Of bf16 or tf32 it takes two factors for that.) */
static bool choose_lengths(const struct problem *p, struct lengths *l)
{
    const int held = 24 - bits_cut(p->precision);
    *l = (struct lengths){.bits = 2 * held < 24 ? 2 * held : 24, .stride = 1};
    while (l->bits > 13 && !is_exact(p, *l)) l->bits--;
    while (l->stride < p->K / 64 && !is_exact(p, *l)) l->stride *= 2;
    return is_exact(p, *l);
}

/* A multiple of 1/2 that takes the place of x where the arithmetic must be exact; 0 only
 * for 0. */
static float halves(float x)
{
    const float near = fmaxf(-3.0f, fminf(3.0f, roundf(2.0f * x) / 2.0f));
    return near != 0.0f || x == 0.0f ? near : copysignf(0.5f, x);
}

static void fill_fractions(struct problem *p, uint64_t seed)
{
    struct lengths l;
    /* A kernel that forgets alpha is right for 1; for 2 it is not. */
    p->alpha = p->alpha == 1.0f ? 2.0f : halves(p->alpha);
    p->beta = halves(p->beta);
    if (!choose_lengths(p, &l)) {
        /* So long a sum leaves no bits to multiply by anything but a power of two. */
        p->alpha = p->alpha ? copysignf(2.0f, p->alpha) : 0.0f;
        p->beta = p->beta ? copysignf(2.0f, p->beta) : 0.0f;
        choose_lengths(p, &l);
    }
    p->unit = unit_of(p, l);
    uint64_t state = seed;
    float *a = p->A, *b = p->B;
    for (int i = 0; i < p->M; i++)
        for (int k = 0; k < p->K; k++)
            *a++ = fraction(next_random(&state), bits_of_A(p, k, l.bits),
                            (k / 3 + i) % l.stride == 0);
    for (int k = 0; k < p->K; k++)
        for (int j = 0; j < p->N; j++)
            *b++ = fraction(next_random(&state), l.bits - bits_of_A(p, k, l.bits),
                            (k / 3 + j) % l.stride == 0);
    const int bits_of_C = p->precision == BF16 ? 8 : l.bits;
    for (size_t i = 0; p->C && i < p->dC.count; i++)
        p->C[i] = fraction(next_random(&state), bits_of_C, true);
}

static float unit_of_row(int row)
{
    return ldexpf(1.0f, 16 * (row % 7 - 3));
}

float problem_unit_of_column(const struct problem *p, int col)
{
    return p->wide ? ldexpf(1.0f, 26 * (col % 5 - 2)) : 1.0f;
}

/* WIDE_ROWS: gives each row of A and each column of B a unit of its own, a power of two,
 * and C the product of these, from 2^-100 to 2^100: what a kernel takes for nothing is all
 * of an element somewhere, and 24 bits further down there are still normal numbers of
 * fp32. And makes the first number of each row in the last third of A 2^40 times as large.
 * So that no sum has to hold both, zeros meet it in B. WIDE_COLUMNS: the same with columns
 * of B. */
static void widen(struct problem *p, bool columns)
{
    const int M = p->M, N = p->N, K = p->K;
    float *A = p->A, *B = p->B;
    for (int i = 0; i < M; i++)
        for (int k = 0; k < K; k++) A[(size_t)i * K + k] *= unit_of_row(i);
    for (size_t i = 0; i < (size_t)K * N; i++)
        B[i] *= problem_unit_of_column(p, (int)(i % N));
    for (size_t i = 0; p->C && i < (size_t)M * N; i++)
        p->C[i] *= unit_of_row((int)(i / N)) * problem_unit_of_column(p, (int)(i % N));
    for (int i = 0; i < M; i++)
        A[(size_t)i * K] *= columns ? 0.0f : i >= M - M / 3 ? 0x1p40f : 1.0f;
    for (int j = 0; j < N; j++) B[j] *= !columns ? 0.0f : j >= N - N / 3 ? 0x1p40f : 1.0f;
}

/* Puts an infinity there. `to` is a number of the other matrix that it meets, and the
 * `count` ones behind it, each `step` further, are the others: none may be zero. */
static void put_infinity(float *there, float *to, int count, int step)
{
    *there = INFINITY;
    for (int i = 0; i < count; i++, to += step)
        if (*to == 0.0f) *to = 1.0f;
}

/* INFINITE: two rows of A get one at their ends, where the rows beside them are near, and a
 * column of B at its own. A third row and another column get one in the middle: of the last
 * whole eight of k if a rest follows, which a kernel may fetch into the same registers or
 * tiles. In the last column and row each of these two meets a zero, which gives NaN; and a
 * row of A and a column of B hold a NaN themselves. So does C at one end of its last row,
 * and an infinity at the other. */
static void put_infinities(struct problem *p)
{
    const int M = p->M, N = p->N, K = p->K, last = K - 1, middle = last / 8 * 8 - 1;
    float *const A = p->A, *const B = p->B, *const half = &A[(size_t)(M / 2) * K];
    if (M > 1) put_infinity(half, B, N, 1); /* not in row 0, which has the other */
    put_infinity(&A[last], &B[(size_t)last * N], N, 1);
    if (M < 4 || N < 4 || middle < 0) return;
    put_infinity(&A[(size_t)(M / 4) * K + middle], &B[(size_t)middle * N], N, 1);
    put_infinity(&B[(size_t)middle * N + N / 2], &A[middle], M, K);
    put_infinity(&B[(size_t)last * N + N / 4], &A[last], M, K);
    /* Elements with two infinities: let these have one sign, or they would be NaN. */
    float *const met[] = {&B[N / 2],   &B[(size_t)last * N + N / 2],
                          &A[middle],  &half[middle],
                          &B[N / 4],   &B[(size_t)middle * N + N / 4],
                          &half[last], &A[(size_t)(M / 4) * K + last]};
    for (int i = 0; i < 8; i++) *met[i] = fabsf(*met[i]);
    B[(size_t)middle * N + N - 1] = A[(size_t)(M - 1) * K + middle] = 0.0f;
    A[(size_t)(M * 3 / 4) * K + K / 2] = B[(size_t)(K / 3) * N + N * 3 / 4] = NAN;
    if (!p->C) return;
    p->C[(size_t)(M - 1) * N] = NAN;
    p->C[(size_t)M * N - 1] = INFINITY;
}

void problem_fill(struct problem *p, const struct options *o, enum values values)
{
    const uint64_t seed = o->seed * 6 + (values == REALS ? 0 : 3);
    p->values = values;
    p->positive = values == REALS && o->inputs == POSITIVE;
    p->infinite = values == REALS && o->inputs == INFINITE;
    p->wide = o->inputs == WIDE_ROWS || o->inputs == WIDE_COLUMNS;
    p->unit = 0.0;
    p->alpha = o->alpha;
    p->beta = o->beta;
    if (values == FRACTIONS) {
        fill_fractions(p, seed);
    } else if (p->precision != FP32) {
        const int cut = bits_cut(p->precision);
        fill_normal(p->A, p->dA.count, seed, cut);
        fill_normal(p->B, p->dB.count, seed + 1, cut);
        if (p->C)
            fill_normal(p->C, p->dC.count, seed + 2, p->precision == BF16 ? cut : 0);
    } else {
        fill_reals(p->A, p->dA.count, seed);
        fill_reals(p->B, p->dB.count, seed + 1);
        if (p->C) fill_reals(p->C, p->dC.count, seed + 2);
        for (size_t i = 0; p->positive && i < p->dA.count; i++) p->A[i] = fabsf(p->A[i]);
        for (size_t i = 0; p->positive && i < p->dB.count; i++) p->B[i] = fabsf(p->B[i]);
    }
    if (p->wide) widen(p, o->inputs == WIDE_COLUMNS);
    if (p->infinite) put_infinities(p);
    to_device(p->dA.data, p->A, p->dA.count, p->dA.size);
    to_device(p->dB.data, p->B, p->dB.count, p->dB.size);
    if (p->C) {
        to_device(p->dC_before, p->C, p->dC.count, p->dC.size);
        problem_reset_C(p);
    } else {
        /* A kernel may not read C, nor read it and let no NaN pass. */
        fill_bits(p->result, p->dC.count,
                  p->infinite ? POSITIVE_INFINITY : NEVER_WRITTEN);
        to_device(p->dC.data, p->result, p->dC.count, p->dC.size);
    }
}

void problem_read_C(const struct problem *p)
{
    to_host(p->result, p->dC.data, p->dC.count, p->dC.size);
}

void problem_reset_C(const struct problem *p)
{
    size_t bytes = p->dC.count * p->dC.size;
    if (p->dC_before)
        CUDA_CHECK(cudaMemcpyAsync(p->dC.data, p->dC_before, bytes,
                                   cudaMemcpyDeviceToDevice, 0));
    else
        CUDA_CHECK(
            cudaMemsetAsync(p->dC.data, 0xff, bytes, 0)); /* all bits set is a NaN */
}

/* Whether the band of `bytes` at device address `band` is as buffer_create left it. */
static bool band_intact(const char *band, size_t bytes)
{
    uint32_t copy[GUARD_WORDS];
    CUDA_CHECK(cudaMemcpy(copy, band, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < bytes / sizeof *copy; i++)
        if (copy[i] != OUTSIDE) return false;
    return true;
}

const char *problem_damage(const struct problem *p)
{
    const struct {
        const char *name;
        const struct buffer *device;
        const float *host;
    } matrices[] = {{"A", &p->dA, p->A}, {"B", &p->dB, p->B}, {"C", &p->dC, NULL}};
    static float piece[PIECE];
    static char text[160];
    for (int i = 0; i < 3; i++) {
        const struct buffer *b = matrices[i].device;
        bool before = band_intact((const char *)b->data - b->guard, b->guard);
        bool after = band_intact(behind(b), b->guard);
        if (!before || !after) {
            snprintf(text, sizeof text,
                     "memory %s %s was overwritten: a store without a guard",
                     before ? "behind" : "in front of", matrices[i].name);
            return text;
        }
        for (size_t at = 0; matrices[i].host && at < b->count; at += PIECE) {
            const size_t n = b->count - at < PIECE ? b->count - at : PIECE;
            to_host(piece, (const char *)b->data + at * b->size, n, b->size);
            if (memcmp(piece, matrices[i].host + at, n * sizeof(float)) == 0) continue;
            snprintf(text, sizeof text, "the input %s was changed, near element %zu",
                     matrices[i].name, at);
            return text;
        }
    }
    return NULL;
}
