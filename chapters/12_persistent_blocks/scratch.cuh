/* Device memory that lasts from one product to the next, and is freed when the program
 * ends. */
#ifndef SCRATCH_CUH
#define SCRATCH_CUH

#include "matmul.h"

#include <stdlib.h>

struct scratch {
    void *memory;
    size_t bytes;
    struct scratch *next;
};
static struct scratch *scratches; // all that hold memory

static void free_scratches(void)
{
    for (struct scratch *s = scratches; s; s = s->next)
        cudaFree(s->memory); // too late to complain
}

// At least `bytes` of device memory, zeros at first.
static float *scratch(struct scratch *s, size_t bytes)
{
    if (!scratches)
        atexit(free_scratches);
    if (!s->memory) {
        s->next = scratches;
        scratches = s;
    }
    if (s->bytes < bytes) {
        CUDA_CHECK(cudaFree(s->memory));
        s->bytes = 0;
        CUDA_CHECK(cudaMalloc(&s->memory, bytes));
        CUDA_CHECK(cudaMemset(s->memory, 0, bytes));
        s->bytes = bytes;
    }
    return (float *)s->memory;
}

#endif
