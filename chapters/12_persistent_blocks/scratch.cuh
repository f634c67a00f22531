/* Device memory that lasts from one product to the next, and is freed when the program
 * ends. Each GPU has its own. */
#ifndef SCRATCH_CUH
#define SCRATCH_CUH

#include "matmul.h"

#include <stdlib.h>

const int GPUS = 16;

struct scratch {
    void *memory[GPUS];
    size_t bytes[GPUS];
    bool listed;
    struct scratch *next;
};
static struct scratch *scratches; // all that hold memory

static void free_scratches(void)
{
    for (struct scratch *s = scratches; s; s = s->next)
        for (int gpu = 0; gpu < GPUS; ++gpu)
            cudaFree(s->memory[gpu]); // too late to complain
}

// The number of the GPU in use, below GPUS.
static int this_gpu(void)
{
    int gpu;
    CUDA_CHECK(cudaGetDevice(&gpu));
    return gpu % GPUS;
}

// At least `bytes` of device memory, zeros at first.
static float *scratch(struct scratch *s, size_t bytes)
{
    const int gpu = this_gpu();
    if (!scratches)
        atexit(free_scratches);
    if (!s->listed) {
        s->listed = true;
        s->next = scratches;
        scratches = s;
    }
    if (s->bytes[gpu] < bytes) {
        CUDA_CHECK(cudaFree(s->memory[gpu]));
        s->bytes[gpu] = 0;
        CUDA_CHECK(cudaMalloc(&s->memory[gpu], bytes));
        CUDA_CHECK(cudaMemset(s->memory[gpu], 0, bytes));
        s->bytes[gpu] = bytes;
    }
    return (float *)s->memory[gpu];
}

#endif
