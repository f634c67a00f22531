/* cuRAND's functions for kernels. As in curand.h, the names are CUDA's and the numbers are
 * others: every pseudorandom generator is Philox4x32-10, whose number `at` of a sequence
 * needs nothing of those before it, so that to begin one costs nothing. A normal number is
 * made of one uniform number, by inversion. */
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include "curand.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number `at` of a sequence; a normal number; how often something happens that happens
 * `lambda` times on average. `bits` are 64, the upper 32 as good as all. */
unsigned int emu_random_word(unsigned long long at, unsigned long long sequence,
                             unsigned long long seed);
double emu_random_normal(unsigned long long bits);
unsigned int emu_random_poisson(unsigned long long bits, double lambda);

#ifdef __cplusplus
}

#include "cuda_runtime.h"

/* ---- states ---- */

struct emu_random {
    unsigned long long seed, sequence, at;
};
template <class Word> struct emu_sobol {
    Word directions[8 * sizeof(Word)], scramble, at;
};

/* Types of their own, since a program may have a function for each. */
#define EMU_RANDOM_STATE(name, base)                                                     \
    struct name : base {                                                                 \
    };                                                                                   \
    typedef struct name name##_t;
EMU_RANDOM_STATE(curandStateXORWOW, emu_random)
EMU_RANDOM_STATE(curandStateMRG32k3a, emu_random)
EMU_RANDOM_STATE(curandStatePhilox4_32_10, emu_random)
EMU_RANDOM_STATE(curandStateSobol32, emu_sobol<unsigned int>)
EMU_RANDOM_STATE(curandStateScrambledSobol32, emu_sobol<unsigned int>)
EMU_RANDOM_STATE(curandStateSobol64, emu_sobol<unsigned long long>)
EMU_RANDOM_STATE(curandStateScrambledSobol64, emu_sobol<unsigned long long>)
#undef EMU_RANDOM_STATE
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

#define EMU_RANDOM static __inline__ __device__

EMU_RANDOM void curand_init(unsigned long long seed, unsigned long long sequence,
                            unsigned long long offset, emu_random *state)
{
    state->seed = seed;
    state->sequence = sequence;
    state->at = offset;
}
/* Not a template, which would not convert an offset of another type. */
#define EMU_SOBOL_INIT(Word)                                                             \
    EMU_RANDOM void curand_init(const Word *directions, Word scramble, Word offset,      \
                                emu_sobol<Word> *state)                                  \
    {                                                                                    \
        for (unsigned i = 0; i < 8 * sizeof(Word); i++)                                  \
            state->directions[i] = directions[i];                                        \
        state->scramble = scramble;                                                      \
        state->at = offset;                                                              \
    }                                                                                    \
    EMU_RANDOM void curand_init(const Word *directions, Word offset,                     \
                                emu_sobol<Word> *state)                                  \
    {                                                                                    \
        curand_init(directions, 0, offset, state);                                       \
    }
EMU_SOBOL_INIT(unsigned int)
EMU_SOBOL_INIT(unsigned long long)
#undef EMU_SOBOL_INIT

EMU_RANDOM void skipahead(unsigned long long n, emu_random *state)
{
    state->at += n;
}
template <class Word>
EMU_RANDOM void skipahead(unsigned long long n, emu_sobol<Word> *state)
{
    state->at += (Word)n;
}
EMU_RANDOM void skipahead_sequence(unsigned long long n, emu_random *state)
{
    state->sequence += n;
}
EMU_RANDOM void skipahead_subsequence(unsigned long long n, emu_random *state)
{
    state->sequence += n;
}

/* ---- bits ---- */

EMU_RANDOM unsigned int curand(emu_random *state)
{
    return emu_random_word(state->at++, state->sequence, state->seed);
}
template <class Word> EMU_RANDOM Word curand(emu_sobol<Word> *state)
{
    Word x = state->scramble, gray = state->at ^ state->at >> 1;
    for (int i = 0; gray; i++, gray >>= 1)
        if (gray & 1) x ^= state->directions[i];
    state->at++;
    return x;
}

/* The next number in the upper bits of 64; for a double, all 64 where there are so many. */
EMU_RANDOM unsigned long long emu_bits(emu_random *state, bool wide)
{
    const unsigned long long upper = (unsigned long long)curand(state) << 32;
    return wide ? upper | curand(state) : upper;
}
EMU_RANDOM unsigned long long emu_bits(emu_sobol<unsigned int> *state, bool)
{
    return (unsigned long long)curand(state) << 32;
}
EMU_RANDOM unsigned long long emu_bits(emu_sobol<unsigned long long> *state, bool)
{
    return curand(state);
}

/* ---- distributions: one number of any generator ---- */

/* Above 0, at most 1. */
template <class State> EMU_RANDOM float curand_uniform(State *state)
{
    return (float)((double)(emu_bits(state, false) >> 40) + 1.0) * 0x1p-24f;
}
template <class State> EMU_RANDOM double curand_uniform_double(State *state)
{
    return ((double)(emu_bits(state, true) >> 11) + 1.0) * 0x1p-53;
}
template <class State> EMU_RANDOM float curand_normal(State *state)
{
    return (float)emu_random_normal(emu_bits(state, false));
}
template <class State> EMU_RANDOM double curand_normal_double(State *state)
{
    return emu_random_normal(emu_bits(state, true));
}
template <class State>
EMU_RANDOM float curand_log_normal(State *state, float mean, float deviation)
{
    return expf(mean + deviation * curand_normal(state));
}
template <class State>
EMU_RANDOM double curand_log_normal_double(State *state, double mean, double deviation)
{
    return exp(mean + deviation * curand_normal_double(state));
}
template <class State> EMU_RANDOM unsigned int curand_poisson(State *state, double lambda)
{
    return emu_random_poisson(emu_bits(state, true), lambda);
}

/* ---- two numbers, four numbers ---- */

#define EMU_TWO(result, name, parameters, one)                                           \
    template <class State> EMU_RANDOM result name parameters                             \
    {                                                                                    \
        result r;                                                                        \
        r.x = one;                                                                       \
        r.y = one;                                                                       \
        return r;                                                                        \
    }
EMU_TWO(float2, curand_normal2, (State * state), curand_normal(state))
EMU_TWO(double2, curand_normal2_double, (State * state), curand_normal_double(state))
EMU_TWO(double2, curand_uniform2_double, (State * state), curand_uniform_double(state))
EMU_TWO(float2, curand_log_normal2, (State * state, float mean, float deviation),
        curand_log_normal(state, mean, deviation))
EMU_TWO(double2, curand_log_normal2_double,
        (State * state, double mean, double deviation),
        curand_log_normal_double(state, mean, deviation))
#undef EMU_TWO

/* Only Philox makes four at once. */
#define EMU_FOUR(result, name, parameters, one)                                          \
    EMU_RANDOM result name parameters                                                    \
    {                                                                                    \
        result r;                                                                        \
        r.x = one;                                                                       \
        r.y = one;                                                                       \
        r.z = one;                                                                       \
        r.w = one;                                                                       \
        return r;                                                                        \
    }
EMU_FOUR(uint4, curand4, (curandStatePhilox4_32_10 * state), curand(state))
EMU_FOUR(float4, curand_uniform4, (curandStatePhilox4_32_10 * state),
         curand_uniform(state))
EMU_FOUR(double4, curand_uniform4_double, (curandStatePhilox4_32_10 * state),
         curand_uniform_double(state))
EMU_FOUR(float4, curand_normal4, (curandStatePhilox4_32_10 * state), curand_normal(state))
EMU_FOUR(double4, curand_normal4_double, (curandStatePhilox4_32_10 * state),
         curand_normal_double(state))
EMU_FOUR(float4, curand_log_normal4,
         (curandStatePhilox4_32_10 * state, float mean, float deviation),
         curand_log_normal(state, mean, deviation))
EMU_FOUR(uint4, curand_poisson4, (curandStatePhilox4_32_10 * state, double lambda),
         curand_poisson(state, lambda))
#undef EMU_FOUR
#undef EMU_RANDOM

#endif
#endif
