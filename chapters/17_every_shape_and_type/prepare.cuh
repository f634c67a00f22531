/* What happens to the matrices before the kernel: device memory that is kept, and copies
 * whose rows the copy engine can read. */
#ifndef PREPARE_CUH
#define PREPARE_CUH

#include "hopper.h"
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

// 16 of the 32 bytes in `low` and `high`, from byte `offset` on, an even number below 16.
static __device__ __forceinline__ uint4 shift_bytes(uint4 low, uint4 high,
                                                    unsigned offset)
{
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

// v with zeros for its elements of 2 bytes but those from `first` to before `end`.
static __device__ __forceinline__ uint4 only(uint4 v, int first, int end)
{
    uint32_t words[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if (2 * i < first || 2 * i >= end)
            words[i] &= 0xffff0000u;
        if (2 * i + 1 < first || 2 * i + 1 >= end)
            words[i] &= 0xffffu;
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
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
    const uint4 low = *(const uint4 *)start;
    return offset ? shift_bytes(low, *(const uint4 *)(start + 16), offset) : low;
}

// Rows of `bytes` bytes, an even number, that go to rows `stride` bytes apart, a multiple of
// 16. Rows 0: nothing is to be copied.
struct copy {
    const void *from;
    void *to;
    int rows;
    size_t bytes, stride;
};

// Copies A's rows and B's in one launch: a row of threads copies a row, and zeros up to the
// next multiple of 16 bytes.
static __global__ void __launch_bounds__(256)
    pad(const __grid_constant__ struct copy A, const __grid_constant__ struct copy B)
{
    griddepcontrol_launch_dependents(); // whoever reads the copies waits until I have ended
    for (int i = blockIdx.x * blockDim.y + threadIdx.y; i < A.rows + B.rows;
         i += gridDim.x * blockDim.y) {
        const struct copy *c = i < A.rows ? &A : &B;
        const int row = i < A.rows ? i : i - A.rows;
        const uintptr_t begin = (uintptr_t)c->from, end = begin + c->rows * c->bytes;
        for (size_t at = threadIdx.x * (size_t)16; at < c->bytes; at += blockDim.x * 16) {
            const uint4 v = sixteen_bytes(begin + row * c->bytes + at, begin, end);
            const size_t left = c->bytes - at;
            *(uint4 *)((uintptr_t)c->to + row * c->stride + at) =
                left < 16 ? only(v, 0, (int)left / 2) : v;
        }
    }
}

static bool engine_can(const void *matrix, size_t row_bytes)
{
    return (uintptr_t)matrix % 16 == 0 && row_bytes % 16 == 0;
}

// How far apart the rows are that the engine reads: a copy's rows begin at cache lines.
static size_t stride_of(const void *matrix, size_t row_bytes)
{
    return engine_can(matrix, row_bytes) ? row_bytes : (row_bytes + 127) / 128 * 128;
}

static struct copy copy_of(int which, const void *matrix, int rows, size_t bytes)
{
    struct copy c = {matrix, NULL, 0, bytes, stride_of(matrix, bytes)};
    if (!engine_can(matrix, bytes)) {
        c.rows = rows;
        c.to = scratch(which, rows * c.stride);
    }
    return c;
}

// Makes of A and B, whose rows have A_bytes and B_bytes, matrices that the copy engine can
// read, and read fast: as they are, or copies whose rows begin at multiples of 128 bytes. Of
// what lies between the rows of a copy only the zeros up to the next multiple of 16 bytes
// are ever read.
static bool make_readable(const void **A, int A_rows, size_t A_bytes, size_t *A_stride,
                          const void **B, int B_rows, size_t B_bytes, size_t *B_stride)
{
    const struct copy a = copy_of(A_COPY, *A, A_rows, A_bytes);
    const struct copy b = copy_of(B_COPY, *B, B_rows, B_bytes);
    *A_stride = a.stride;
    *B_stride = b.stride;
    if (a.rows)
        *A = a.to;
    if (b.rows)
        *B = b.to;
    if (a.rows + b.rows == 0)
        return false;
    // Threads side by side for a row, rows below each other for the rest of a block.
    const size_t longest = a.rows && (!b.rows || a.bytes > b.bytes) ? a.bytes : b.bytes;
    int wide = 1;
    while (wide < 256 && wide * 16ul < longest)
        wide *= 2;
    const long long high = 256 / wide, most = 132 * 8;
    const long long blocks = ((long long)a.rows + b.rows - 1) / high + 1;
    pad<<<(int)(blocks < most ? blocks : most), dim3(wide, high)>>>(a, b);
    return true;
}

#endif
