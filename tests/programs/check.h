/* What every program here needs: a way to stop on an error, and a verdict at the end. */
#ifndef CHECK_H
#define CHECK_H

#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                      \
    do {                                                                                 \
        const cudaError_t status_ = (call);                                              \
        if (status_ != cudaSuccess) {                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                           \
                    cudaGetErrorString(status_));                                        \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

/* A statement about the result; the program ends at the first that is not true. */
#define EXPECT(condition)                                                                \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);    \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

/* Reproducible values in (-1, 1). */
static inline float noise(unsigned i)
{
    i = (i + 1u) * 2654435761u;
    i ^= i >> 15;
    i *= 2246822519u;
    i ^= i >> 13;
    return (float)(i >> 8) / 8388608.0f - 1.0f;
}

static inline int close_to(double got, double want, double tolerance)
{
    return fabs(got - want) <= tolerance * (1.0 + fabs(want));
}

static inline int pass(void)
{
    printf("PASS\n");
    return 0;
}

#endif
