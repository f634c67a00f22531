/* What becomes of a warp's sums: alpha and beta, bf16, and the way to C. */
#ifndef RESULTS_CUH
#define RESULTS_CUH

#include "hopper.h"

#include <cuda_bf16.h>

const int SLAB = 64; // columns that lie together on the way out: 128 bytes

struct results {
    int M, N;
    float alpha, beta;
    __nv_bfloat16 *C;
    bool through_engine; // C may be written by the copy engine
};

// alpha and beta, in fp32, before anything is rounded: acc belongs to the 16 rows of C that
// begin with `row`. beta == 0 must not read C.
template <int COUNT>
static __device__ __forceinline__ void finish(const struct results *to,
                                              float (&acc)[COUNT], int row, int col)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
        const int r = row + i / 2 % 2 * 8 + lane / 4;
        const int c = col + i / 4 * 8 + lane % 4 * 2 + i % 2;
        acc[i] *= to->alpha;
        if (to->beta != 0.0f && r < to->M && c < to->N)
            acc[i] += to->beta * __bfloat162float(to->C[(size_t)r * to->N + c]);
    }
}

static __device__ __forceinline__ uint32_t two_bf16(float low, float high)
{
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    uint32_t bits;
    memcpy(&bits, &pair, sizeof bits);
    return bits;
}

// A warp's 16 rows, 64 columns at a time: into shared memory, swizzled as the map says, and
// from there by the copy engine, which writes whole rows of 128 bytes and leaves out what
// lies outside C. One part is made while the part before leaves; and while the last ones
// leave, the warp is at its next tile. A C that the engine cannot write, the warp writes
// itself.
template <int COUNT>
static __device__ __forceinline__ void
store(const struct results *to, const CUtensorMap *C_map, const float (&acc)[COUNT],
      __nv_bfloat16 (*out)[16][SLAB], int row, int col)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int slab = 0; slab < 2 * COUNT / SLAB; ++slab, col += SLAB) {
        __nv_bfloat16(*part)[SLAB] = out[slab % 2];
        // What left from here two parts ago has been read.
        if (lane == 0)
            cp_async_bulk_wait_group_read<1>();
        __syncwarp();
        // Four matrices of 8 x 8 at a time: rows 0-7 and 8-15, columns 0-7 and 8-15.
#pragma unroll
        for (int n = 0; n < SLAB; n += 16) {
            uint32_t matrices[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float *two = &acc[(slab * SLAB + n) / 2 + i * 2];
                matrices[i] = two_bf16(two[0], two[1]);
            }
            const int cell = n / 8 + lane / 16;
            stmatrix_x4(&part[lane % 16][(cell ^ lane % 8) * 8], matrices);
        }
        fence_proxy_async();
        __syncwarp();
        if (to->through_engine) {
            if (lane == 0) {
                cp_async_bulk_tensor_2d_store(C_map, col, row, part);
                cp_async_bulk_commit_group();
            }
        } else {
            for (int i = lane; i < 16 * SLAB; i += 32) {
                const int r = i / SLAB, c = i % SLAB;
                if (row + r < to->M && col + c < to->N)
                    to->C[(size_t)(row + r) * to->N + col + c] =
                        part[r][(c / 8 ^ r % 8) * 8 + c % 8];
            }
        }
    }
}

#endif
