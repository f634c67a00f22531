/* cuRAND's calls of the host, and the numbers of its functions for kernels: see curand.h
 * for what they are. */
#include <math.h>
#include <stdlib.h>

#include "base/errors.h"
#include "base/now.h"
#include "curand_kernel.h"
#include "emulator_runtime.h"
#include "memory/copies.h"
#include "memory/spans.h"
#include "memory/streams.h"
#include "memory/values.h"

#define CALLER __builtin_return_address(0)

enum { DIMENSIONS = 10 };

struct curandGenerator_st {
    curandRngType_t type;
    bool on_host;
    cudaStream_t stream;
    uint64_t seed, at; /* how many numbers it has given, of each dimension */
    unsigned dimensions;
};

/* ---- numbers ---- */

/* Four times 32 bits: block `counter` of the sequence that `key` names. */
static void philox(uint64_t counter, uint64_t stream, uint64_t key, uint32_t out[4])
{
    uint32_t x[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), (uint32_t)stream,
                     (uint32_t)(stream >> 32)},
             k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t a = 0xd2511f53ull * x[0], b = 0xcd9e8d57ull * x[2];
        const uint32_t next[4] = {(uint32_t)(b >> 32) ^ x[1] ^ k0, (uint32_t)b,
                                  (uint32_t)(a >> 32) ^ x[3] ^ k1, (uint32_t)a};
        for (int i = 0; i < 4; i++) x[i] = next[i];
        k0 += 0x9e3779b9;
        k1 += 0xbb67ae85;
    }
    for (int i = 0; i < 4; i++) out[i] = x[i];
}

unsigned emu_random_word(unsigned long long at, unsigned long long sequence,
                         unsigned long long seed)
{
    uint32_t four[4];
    philox(at / 4, sequence, seed, four);
    return four[at % 4];
}

/* For dimensions from 2 on: the polynomial's degree, its inner coefficients, and the
 * first direction numbers. */
static const struct {
    unsigned degree, polynomial, first[5];
} sobol[DIMENSIONS - 1] = {{1, 0, {1}},
                           {2, 1, {1, 3}},
                           {3, 1, {1, 3, 1}},
                           {3, 2, {1, 1, 1}},
                           {4, 1, {1, 1, 3, 3}},
                           {4, 4, {1, 3, 5, 13}},
                           {5, 2, {1, 1, 5, 5, 17}},
                           {5, 4, {1, 1, 5, 5, 5}},
                           {5, 7, {1, 1, 7, 11, 19}}};

static curandDirectionVectors32_t vectors_32[DIMENSIONS];
static curandDirectionVectors64_t vectors_64[DIMENSIONS];

static void make_directions(void)
{
    if (vectors_64[0][0]) return;
    for (int d = 0; d < DIMENSIONS; d++) {
        unsigned long long *const v = vectors_64[d];
        const unsigned degree = d ? sobol[d - 1].degree : 64;
        for (unsigned i = 0; i < 64; i++) {
            if (i < degree) {
                v[i] = (unsigned long long)(d ? sobol[d - 1].first[i] : 1) << (63 - i);
                continue;
            }
            v[i] = v[i - degree] ^ v[i - degree] >> degree;
            for (unsigned k = 1; k < degree; k++)
                if (sobol[d - 1].polynomial >> (degree - 1 - k) & 1) v[i] ^= v[i - k];
        }
        for (unsigned i = 0; i < 32; i++) vectors_32[d][i] = (unsigned)(v[i] >> 32);
    }
}

static bool is_quasi(const struct curandGenerator_st *g)
{
    return g->type >= CURAND_RNG_QUASI_DEFAULT;
}

/* 64 bits, the upper 32 as good as all: number `at` of a dimension. */
static uint64_t bits_of(const struct curandGenerator_st *g, unsigned dimension,
                        uint64_t at)
{
    if (is_quasi(g)) {
        uint64_t x = 0, gray = at ^ at >> 1;
        for (int i = 0; gray; i++, gray >>= 1)
            if (gray & 1) x ^= vectors_64[dimension][i];
        return x;
    }
    uint32_t four[4];
    philox(at / 2, (uint64_t)g->type, g->seed, four);
    return (uint64_t)four[at % 2 * 2] << 32 | four[at % 2 * 2 + 1];
}

/* Above 0, at most 1. */
static double uniform(uint64_t bits)
{
    return ((double)(bits >> 11) + 1.0) * 0x1p-53;
}
static float uniform_float(uint64_t bits)
{
    return (float)((double)(bits >> 40) + 1.0) * 0x1p-24f;
}

/* ---- the making of a generator ---- */

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t type,
                             bool on_host)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT: type = CURAND_RNG_PSEUDO_XORWOW; break;
    case CURAND_RNG_QUASI_DEFAULT: type = CURAND_RNG_QUASI_SOBOL32; break;
    case CURAND_RNG_PSEUDO_XORWOW:
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
    case CURAND_RNG_QUASI_SOBOL32:
    case CURAND_RNG_QUASI_SOBOL64: break;
    default: return CURAND_STATUS_TYPE_ERROR;
    }
    struct curandGenerator_st *const g = calloc(1, sizeof *g);
    if (!g) return CURAND_STATUS_ALLOCATION_FAILED;
    g->type = type;
    g->on_host = on_host;
    g->dimensions = 1;
    if (is_quasi(g)) make_directions();
    *generator = g;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type)
{
    return create(generator, type, false);
}

curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator,
                                         curandRngType_t type)
{
    return create(generator, type, true);
}

curandStatus_t curandDestroyGenerator(curandGenerator_t generator)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    free(generator);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int *version)
{
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetProperty(libraryPropertyType type, int *value)
{
    *value = type == MAJOR_VERSION   ? CURAND_VER_MAJOR
             : type == MINOR_VERSION ? CURAND_VER_MINOR
                                     : CURAND_VER_PATCH;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                  unsigned long long seed)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (is_quasi(generator)) return CURAND_STATUS_TYPE_ERROR;
    generator->seed = seed;
    generator->at = 0;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
                                        unsigned long long offset)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    generator->at = offset;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator,
                                          curandOrdering_t order)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    const bool quasi = order == CURAND_ORDERING_QUASI_DEFAULT;
    return quasi == is_quasi(generator) ? CURAND_STATUS_SUCCESS
                                        : CURAND_STATUS_OUT_OF_RANGE;
}

curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator,
                                                       unsigned int dimensions)
{
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (!is_quasi(generator)) return CURAND_STATUS_TYPE_ERROR;
    if (dimensions < 1 || dimensions > DIMENSIONS) return CURAND_STATUS_OUT_OF_RANGE;
    generator->dimensions = dimensions;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerateSeeds(curandGenerator_t generator)
{
    return generator ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t **vectors,
                                           curandDirectionVectorSet_t set)
{
    if (set != CURAND_DIRECTION_VECTORS_32_JOEKUO6) return CURAND_STATUS_OUT_OF_RANGE;
    make_directions();
    *vectors = vectors_32;
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t **vectors,
                                           curandDirectionVectorSet_t set)
{
    if (set != CURAND_DIRECTION_VECTORS_64_JOEKUO6) return CURAND_STATUS_OUT_OF_RANGE;
    make_directions();
    *vectors = vectors_64;
    return CURAND_STATUS_SUCCESS;
}

/* ---- numbers into memory ---- */

/* Before `count` numbers of so many bytes are written: whether they may be. */
static curandStatus_t begin(curandGenerator_t g, const char *call, void *to, size_t count,
                            size_t bytes, const void *pc)
{
    EMU_ALONE;
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    if (count % g->dimensions) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    if (g->on_host || !count) return CURAND_STATUS_SUCCESS;
    if (emu_call_begins(g->stream) != cudaSuccess) return CURAND_STATUS_LAUNCH_FAILURE;
    if (!emu_is_device_range(to, count * bytes))
        emu_fault(pc,
                  "%s: the numbers go to %zu bytes that are not device memory (a "
                  "generator for the host is made by curandCreateGeneratorHost)",
                  call, count * bytes);
    emu_work_touches(to, count * bytes, true, pc);
    return CURAND_STATUS_SUCCESS;
}

static void end(curandGenerator_t g, void *to, size_t count, size_t bytes)
{
    g->at += count / g->dimensions;
    if (!g->on_host) emu_check_host_wrote(to, count * bytes);
}

/* Statements for each number of one dimension after the other, with its `bits`. */
#define FOR_EACH(g, count)                                                               \
    for (size_t i = 0, each = (count) / (g)->dimensions; i < (count); i++)               \
        for (uint64_t once = 1,                                                          \
                      bits = bits_of(g, (unsigned)(i / each), (g)->at + i % each);       \
             once; once = 0)

#define GENERATE(name, T, value)                                                         \
    curandStatus_t name(curandGenerator_t generator, T *to, size_t count)                \
    {                                                                                    \
        const curandStatus_t refused =                                                   \
            begin(generator, #name, to, count, sizeof *to, CALLER);                      \
        if (refused) return refused;                                                     \
        FOR_EACH(generator, count) to[i] = value;                                        \
        end(generator, to, count, sizeof *to);                                           \
        return CURAND_STATUS_SUCCESS;                                                    \
    }
GENERATE(curandGenerate, unsigned int, (unsigned int)(bits >> 32))
GENERATE(curandGenerateLongLong, unsigned long long, bits)
GENERATE(curandGenerateUniform, float, uniform_float(bits))
GENERATE(curandGenerateUniformDouble, double, uniform(bits))

static double quotient(const double (*of)[2], double x)
{
    double over = 0.0, under = 0.0;
    for (int i = 0; i < 6; i++) {
        over = over * x + of[i][0];
        under = under * x + of[i][1];
    }
    return over / under;
}

/* The point where a normal distribution has so much on its left: P. J. Acklam's quotients
 * of polynomials, which give nine digits, and a step of Halley's method from there. */
double emu_random_normal(unsigned long long bits)
{
    static const double middle[6][2] = {{-3.969683028665376e+01, -5.447609879822406e+01},
                                        {2.209460984245205e+02, 1.615858368580409e+02},
                                        {-2.759285104469687e+02, -1.556989798598866e+02},
                                        {1.383577518672690e+02, 6.680131188771972e+01},
                                        {-3.066479806614716e+01, -1.328068155288572e+01},
                                        {2.506628277459239e+00, 1.0}},
                        tail[6][2] = {{-7.784894002430293e-03, 0.0},
                                      {-3.223964580411365e-01, 7.784695709041462e-03},
                                      {-2.400758277161838e+00, 3.224671290700398e-01},
                                      {-2.549732539343734e+00, 2.445134137142996e+00},
                                      {4.374664141464968e+00, 3.754408661907416e+00},
                                      {2.938163982698783e+00, 1.0}};
    const double u = uniform(bits) - 0x1p-54, p = u < 0.5 ? u : 1.0 - u, q = 0.5 - p;
    double x =
        p > 0.02425 ? q * quotient(middle, q * q) : -quotient(tail, sqrt(-2.0 * log(p)));
    const double d =
        (0.5 * erfc(x * M_SQRT1_2) - p) * sqrt(2.0 * M_PI) * exp(0.5 * x * x);
    x += d / (1.0 - 0.5 * d * x);
    return u < 0.5 ? -x : x;
}

#define GENERATE_NORMAL(name, T, value)                                                  \
    curandStatus_t name(curandGenerator_t generator, T *to, size_t count, T mean,        \
                        T deviation)                                                     \
    {                                                                                    \
        const curandStatus_t refused =                                                   \
            begin(generator, #name, to, count, sizeof *to, CALLER);                      \
        if (refused) return refused;                                                     \
        if (!is_quasi(generator) && count % 2) return CURAND_STATUS_LENGTH_NOT_MULTIPLE; \
        FOR_EACH(generator, count) to[i] = (T)(value);                                   \
        end(generator, to, count, sizeof *to);                                           \
        return CURAND_STATUS_SUCCESS;                                                    \
    }
GENERATE_NORMAL(curandGenerateNormal, float, mean + deviation * emu_random_normal(bits))
GENERATE_NORMAL(curandGenerateNormalDouble, double,
                mean + deviation * emu_random_normal(bits))
GENERATE_NORMAL(curandGenerateLogNormal, float,
                exp(mean + deviation * emu_random_normal(bits)))
GENERATE_NORMAL(curandGenerateLogNormalDouble, double,
                exp(mean + deviation * emu_random_normal(bits)))

/* How often something happens that happens `lambda` times on average: by inversion, from
 * the most likely value outwards, so that nothing underflows. */
unsigned emu_random_poisson(unsigned long long bits, double lambda)
{
    double u = uniform(bits);
    const double middle = floor(lambda);
    const double at_middle =
        lambda > 0.0 ? exp(middle * log(lambda) - lambda - lgamma(middle + 1.0)) : 1.0;
    double up = at_middle, down = at_middle, high = middle, low = middle;
    u -= at_middle;
    while (u > 0.0) {
        const double before = u;
        up *= lambda / ++high;
        u -= up;
        if (u <= 0.0) return (unsigned)high;
        if (low > 0.0) {
            down *= low-- / lambda;
            u -= down;
            if (u <= 0.0) return (unsigned)low;
        }
        if (u == before) break;
    }
    return (unsigned)middle;
}

curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int *to,
                                     size_t count, double lambda)
{
    if (!(lambda > 0.0) || lambda > 400000.0) return CURAND_STATUS_OUT_OF_RANGE;
    const curandStatus_t refused =
        begin(generator, "curandGeneratePoisson", to, count, sizeof *to, CALLER);
    if (refused) return refused;
    FOR_EACH(generator, count) to[i] = emu_random_poisson(bits, lambda);
    end(generator, to, count, sizeof *to);
    return CURAND_STATUS_SUCCESS;
}
