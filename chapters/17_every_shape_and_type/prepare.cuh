/* What happens to the matrices before the kernel: device memory that is kept, and copies
 * whose rows the copy engine can read. */
#ifndef PREPARE_CUH
#define PREPARE_CUH

#include "matmul.h"

#include <stdint.h>
#include <stdlib.h>

// Device memory that lasts from one product to the next, and is freed when the program
// ends.
struct scratch {
    void *memory;
    size_t bytes;
};
enum { A_COPY, B_COPY, PARTS, ARRIVED, SCRATCHES };
static struct scratch scratches[SCRATCHES];

static void free_scratches(void)
{
    for (int i = 0; i < SCRATCHES; ++i)
        cudaFree(scratches[i].memory); // too late to complain
}

// At least `bytes` of device memory, zeros at first.
static void *scratch(int which, size_t bytes)
{
    static bool registered;
    if (!registered)
        atexit(free_scratches);
    registered = true;
    struct scratch *s = &scratches[which];
    if (s->bytes < bytes) {
        CUDA_CHECK(cudaFree(s->memory));
        s->bytes = 0;
        CUDA_CHECK(cudaMalloc(&s->memory, bytes));
        CUDA_CHECK(cudaMemset(s->memory, 0, bytes));
        s->bytes = bytes;
    }
    return s->memory;
}

// The 16 bytes at `at`, an even address, of a matrix of 2-byte elements in [begin, end):
// two aligned reads, shifted into place. At the matrix' ends, where those would leave it,
// element by element, and zeros for what is not there.
static __device__ __forceinline__ uint4 sixteen_bytes(uintptr_t at, uintptr_t begin,
                                                      uintptr_t end)
{
    const unsigned offset = at % 16;
    const uintptr_t start = at - offset;
    if (start < begin || start + (offset ? 32 : 16) > end) {
        uint32_t words[4] = {0, 0, 0, 0};
#pragma unroll
        for (int i = 0; i < 8; ++i)
            if (at + 2 * i < end)
                words[i / 2] |= (uint32_t)*(const uint16_t *)(at + 2 * i) << i % 2 * 16;
        return make_uint4(words[0], words[1], words[2], words[3]);
    }
    uint4 low = *(const uint4 *)start;
    if (offset == 0)
        return low;
    uint4 high = *(const uint4 *)(start + 16);
    if (offset & 8) {
        low = make_uint4(low.z, low.w, high.x, high.y);
        high.x = high.z, high.y = high.w;
    }
    if (offset & 4) {
        low = make_uint4(low.y, low.z, low.w, high.x);
        high.x = high.y;
    }
    if (offset & 2)
        low = make_uint4(
            __funnelshift_r(low.x, low.y, 16), __funnelshift_r(low.y, low.z, 16),
            __funnelshift_r(low.z, low.w, 16), __funnelshift_r(low.w, high.x, 16));
    return low;
}

// Copies rows of `bytes` bytes, an even number, to rows `stride` bytes apart, a multiple
// of 16. A row of threads copies a row.
static __global__ void __launch_bounds__(256)
    pad(const void *from, int rows, size_t bytes, void *to, size_t stride)
{
    const uintptr_t begin = (uintptr_t)from, end = begin + rows * bytes;
    for (int row = blockIdx.x * blockDim.y + threadIdx.y; row < rows;
         row += gridDim.x * blockDim.y)
        for (size_t at = threadIdx.x * (size_t)16; at < bytes; at += blockDim.x * 16)
            *(uint4 *)((uintptr_t)to + row * stride + at) =
                sixteen_bytes(begin + row * bytes + at, begin, end);
}

static bool engine_can(const void *matrix, size_t row_bytes)
{
    return (uintptr_t)matrix % 16 == 0 && row_bytes % 16 == 0;
}

// The matrix as the copy engine can read it: as it is, or a copy whose rows begin at
// multiples of 16 bytes; *stride is in bytes. What lies between the rows of a copy is not
// read: the map knows how long a row is.
static const void *readable(int which, const void *matrix, int rows, size_t bytes,
                            size_t *stride)
{
    *stride = bytes;
    if (engine_can(matrix, bytes))
        return matrix;
    *stride = (bytes + 15) / 16 * 16;
    void *copy = scratch(which, rows * *stride);
    // Threads side by side for a row, rounded up to a power of two; rows below each other
    // for the rest of the block.
    int wide = 1;
    while (wide < 256 && wide * 16 < (int)(bytes < 4096 ? bytes : 4096))
        wide *= 2;
    const int high = 256 / wide, most = 132 * 8;
    int blocks = (rows - 1) / high + 1;
    if (blocks > most)
        blocks = most;
    pad<<<blocks, dim3(wide, high)>>>(matrix, rows, bytes, copy, *stride);
    return copy;
}

#endif
