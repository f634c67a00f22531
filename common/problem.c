/* The matrices: what is in them, and where they lie. */
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 4096, GUARD_BYTE = 0xa5 };

/* ---- does it fit? ---- */

static bool fits(const char *where, double need, double have, const char *limit)
{
    if (need <= have) return true;
    fprintf(stderr, "this size needs %.1f GB of %s memory, and %.1f GB are free%s%s\n",
            need / 1e9, where, have / 1e9, limit ? " under " : "", limit ? limit : "");
    return false;
}

/* ---- allocation ---- */

static void buffer_create(struct buffer *b, size_t count, bool guards)
{
    b->count = count;
    b->guard = guards ? GUARD_BYTES : 0;
    char *start;
    CUDA_CHECK(cudaMalloc((void **)&start, count * sizeof(float) + 2 * b->guard));
    b->data = (float *)(start + b->guard);
    if (!guards) return;
    CUDA_CHECK(cudaMemset(start, GUARD_BYTE, b->guard));
    CUDA_CHECK(cudaMemset((char *)(b->data + count), GUARD_BYTE, b->guard));
}

static void buffer_destroy(struct buffer *b)
{
    CUDA_CHECK(cudaFree((char *)b->data - b->guard));
}

bool problem_create(struct problem *p, const struct options *o)
{
    const size_t a = (size_t)o->M * o->K, b = (size_t)o->K * o->N,
                 c = (size_t)o->M * o->N;
    const bool keeps_C = o->beta != 0.0f;

    /* The device holds A, B, C; C before the product if that matters; and cuBLAS' own C
     * while timing. */
    double device = 4.0 * ((double)a + b + c * (1.0 + keeps_C + !o->check_only));
    double host = 4.0 * ((double)a + b + c * (1.0 + keeps_C));
    size_t device_free, device_total;
    CUDA_CHECK(cudaMemGetInfo(&device_free, &device_total));
    if (!fits("GPU", device, (double)device_free, NULL)) return false;
    /* The emulated GPU's memory is this machine's too. */
    const struct room room = host_room();
    if (!fits("host", host + (EMULATED ? device : 0.0), (double)room.bytes, room.limit))
        return false;

    *p = (struct problem){.M = o->M, .N = o->N, .K = o->K};
    p->A = malloc(a * sizeof(float));
    p->B = malloc(b * sizeof(float));
    p->C = keeps_C ? malloc(c * sizeof(float)) : NULL;
    p->result = malloc(c * sizeof(float));
    if (!p->A || !p->B || (keeps_C && !p->C) || !p->result) {
        fprintf(stderr, "the host has no %.1f GB of memory left\n", host / 1e9);
        free(p->A), free(p->B), free(p->C), free(p->result);
        return false;
    }
    buffer_create(&p->dA, a, o->guards);
    buffer_create(&p->dB, b, o->guards);
    buffer_create(&p->dC, c, o->guards);
    if (keeps_C) CUDA_CHECK(cudaMalloc((void **)&p->dC_before, c * sizeof(float)));
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

static void fill(float *values, size_t count, enum values kind, int largest,
                 uint64_t seed)
{
    uint64_t state = seed;
    for (size_t i = 0; i < count; i++) {
        uint64_t r = next_random(&state) >> 40; /* 24 bits, all a float can hold */
        values[i] = kind == REALS ? ((float)r + 0.5f) * 0x1p-23f - 1.0f
                                  : (float)((int)(r % (2 * largest + 1)) - largest);
    }
}

/* A whole number that takes the place of x where the arithmetic must be exact; 0 only for
 * 0. */
static float whole(float x)
{
    float rounded = fmaxf(-3.0f, fminf(3.0f, roundf(x)));
    return rounded != 0.0f || x == 0.0f ? rounded : copysignf(1.0f, x);
}

void problem_fill(struct problem *p, const struct options *o, enum values values)
{
    int largest = 8;
    p->values = values;
    p->alpha = values == REALS ? o->alpha : whole(o->alpha);
    p->beta = values == REALS ? o->beta : whole(o->beta);
    /* fp32 holds every whole number up to 2^24, so sums that stay below are exact in any
     * order. */
    while (largest > 1 &&
           fabsf(p->alpha) * largest * largest * (double)p->K + fabsf(p->beta) * largest >
               0x1p24)
        largest--;

    const uint64_t seed = o->seed * 6 + (values == REALS ? 0 : 3);
    fill(p->A, p->dA.count, values, largest, seed);
    fill(p->B, p->dB.count, values, largest, seed + 1);
    CUDA_CHECK(cudaMemcpy(p->dA.data, p->A, p->dA.count * sizeof(float),
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(p->dB.data, p->B, p->dB.count * sizeof(float),
                          cudaMemcpyHostToDevice));
    if (p->C) {
        fill(p->C, p->dC.count, values, largest, seed + 2);
        CUDA_CHECK(cudaMemcpy(p->dC_before, p->C, p->dC.count * sizeof(float),
                              cudaMemcpyHostToDevice));
    }
}

void problem_reset_C(const struct problem *p)
{
    size_t bytes = p->dC.count * sizeof(float);
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
    unsigned char copy[GUARD_BYTES];
    if (!bytes) return true;
    CUDA_CHECK(cudaMemcpy(copy, band, bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < bytes; i++)
        if (copy[i] != GUARD_BYTE) return false;
    return true;
}

const char *problem_damage(const struct problem *p)
{
    const struct {
        const char *name;
        const struct buffer *device;
        const float *host;
    } matrices[] = {{"A", &p->dA, p->A}, {"B", &p->dB, p->B}, {"C", &p->dC, NULL}};
    static char text[160];
    for (int i = 0; i < 3; i++) {
        const struct buffer *b = matrices[i].device;
        bool before = band_intact((const char *)b->data - b->guard, b->guard);
        bool after = band_intact((const char *)(b->data + b->count), b->guard);
        if (!before || !after) {
            snprintf(text, sizeof text,
                     "memory %s %s was overwritten: a store without a guard",
                     before ? "behind" : "in front of", matrices[i].name);
            return text;
        }
        if (!matrices[i].host) continue;
        enum { PIECE = 1 << 16 };
        float *piece = malloc(PIECE * sizeof(float));
        for (size_t at = 0; piece && at < b->count; at += PIECE) {
            size_t n = b->count - at < PIECE ? b->count - at : PIECE;
            CUDA_CHECK(cudaMemcpy(piece, b->data + at, n * sizeof(float),
                                  cudaMemcpyDeviceToHost));
            if (memcmp(piece, matrices[i].host + at, n * sizeof(float)) == 0) continue;
            free(piece);
            snprintf(text, sizeof text, "the input %s was changed, near element %zu",
                     matrices[i].name, at);
            return text;
        }
        free(piece);
    }
    return NULL;
}
