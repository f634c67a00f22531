/* A block that brings four boxes of 32 x 32 floats through two stages and adds them up; the faults are planted in the
 * macros that a program defines before it includes this. */
#ifndef BULK_H
#define BULK_H

#include "../../common/hopper.h"

#include "fault.h"

const int BOX = 32;
const int WARPS = 4;

extern "C" void cuda_check(cudaError_t error, const char *call, const char *file, int line)
{
    if (error != cudaSuccess) printf("%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(error));
}

/* Runs `kernel` with a map of 32 x 128 floats and 32 x 32 floats to write. */
static inline int run(void (*kernel)(const CUtensorMap map, float *out))
{
    float *from, *to;
    CUDA_CHECK(cudaMalloc(&from, 4 * BOX * BOX * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&to, BOX * BOX * sizeof(float)));
    CUDA_CHECK(cudaMemset(from, 0, 4 * BOX * BOX * sizeof(float)));
    kernel<<<1, 32 * WARPS>>>(tensor_map_2d(from, BOX, 4 * BOX, 4 * BOX, BOX, BOX), to);
    const int status = finish();
    CUDA_CHECK(cudaFree(from));
    CUDA_CHECK(cudaFree(to));
    return status;
}

#endif
