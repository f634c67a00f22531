/* Hopper's copy engine and its barriers, as thin functions under PTX's names: CUDA C has
 * no words for them.
 *
 * The copy engine (Tensor Memory Accelerator, TMA) moves a box of a matrix between global
 * and shared memory on the order of one thread. It reports to an mbarrier, 8 bytes of
 * shared memory that count in *phases*: a phase is over when as many threads have arrived
 * as its init said, and as many bytes have come as were announced. Phases are told apart
 * by parity: the first has parity 0, the next 1, then 0 again.
 *
 * Each function names the chapter of the PTX ISA that defines it. They need compute
 * capability 9.0 (Hopper); compiled for anything older they trap.
 */
#ifndef HOPPER_H
#define HOPPER_H

#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "matmul.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define HOPPER_PTX(...) asm volatile(__VA_ARGS__)
#else
#define HOPPER_PTX(...) __trap()
#endif

/* PTX wants addresses inside shared memory, not C's. */
static __device__ __forceinline__ uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

/* Begins the first phase; each takes `arrivals` arrivals. One thread does it, and the
 * others may use the barrier after fence_mbarrier_init() and __syncthreads(). PTX ISA,
 * mbarrier.init. */
static __device__ __forceinline__ void mbarrier_init(uint64_t *barrier, unsigned arrivals)
{
    HOPPER_PTX("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals) : "memory");
}

/* Makes the inits of this thread visible to the copy engine. PTX ISA,
 * fence.mbarrier_init. */
static __device__ __forceinline__ void fence_mbarrier_init(void)
{
    HOPPER_PTX("fence.mbarrier_init.release.cluster;" :: : "memory");
}

/* One arrival. Whatever this thread did before is done for those who wait for the phase.
 * PTX ISA, mbarrier.arrive. */
static __device__ __forceinline__ void mbarrier_arrive(uint64_t *barrier)
{
    HOPPER_PTX("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(
        shared_address(barrier)) : "memory");
}

/* One arrival, and `bytes` more must come before the phase is over. PTX ISA,
 * mbarrier.arrive.expect_tx. */
static __device__ __forceinline__ void mbarrier_arrive_expect_tx(uint64_t *barrier,
                                                                 unsigned bytes)
{
    HOPPER_PTX("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   shared_address(barrier)),
               "r"(bytes) : "memory");
}

/* Waits until the phase of this parity is over. Of a new barrier, the phase before the
 * first counts as over: waiting for parity 1 returns at once. PTX ISA, mbarrier.try_wait:
 * the hardware puts the thread to sleep for a while, then it asks again. */
static __device__ __forceinline__ void mbarrier_wait_parity(uint64_t *barrier,
                                                            unsigned parity)
{
    unsigned over = 1;
    do {
        HOPPER_PTX("{\n"
                   " .reg .pred p;\n"
                   " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                   " selp.u32 %0, 1, 0, p;\n"
                   "}" : "=r"(over) : "r"(shared_address(barrier)),
                   "r"(parity) : "memory");
    } while (!over);
}

/* Starts the copy of the map's box from column x, row y on into shared memory, where its
 * rows lie without gaps, and returns. What lies outside the matrix comes as zeros. All
 * bytes of the box count for the barrier's phase. `shared` must be a multiple of 128
 * bytes. PTX ISA, cp.async.bulk.tensor. */
static __device__ __forceinline__ void cp_async_bulk_tensor_2d(void *shared,
                                                               const CUtensorMap *map,
                                                               int x, int y,
                                                               uint64_t *barrier)
{
    HOPPER_PTX("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
               "bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(shared)),
               "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier)) : "memory");
}

/* Describes a row-major matrix of floats to the copy engine, which will move boxes of it.
 * `row_stride` is in floats. The engine moves in pieces of 16 bytes: the matrix must
 * start at a multiple of 16 bytes, row_stride and box_cols must be multiples of 4, and no
 * box may have more than 256 rows or columns; otherwise the program ends with one line.
 * CUDA driver API, cuTensorMapEncodeTiled, found through the runtime so that nothing has
 * to be linked with libcuda. */
static inline CUtensorMap tensor_map_2d(const float *matrix, size_t rows, size_t cols,
                                        size_t row_stride, unsigned box_rows,
                                        unsigned box_cols)
{
    typedef CUresult encode_tiled(
        CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
        const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
        CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    static encode_tiled *encode;
    if (!encode) {
        void *function = NULL;
        enum cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
        CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                    12000, cudaEnableDefault, &found));
#else /* older toolkits have only this one, and newer ones warn of it */
        CUDA_CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function,
                                           cudaEnableDefault, &found));
#endif
        if (found != cudaDriverEntryPointSuccess) {
            fprintf(stderr, "this driver has no cuTensorMapEncodeTiled: version 12.0 or "
                            "newer is needed\n");
            exit(3);
        }
        encode = (encode_tiled *)function;
    }
    const cuuint64_t dims[2] = {cols, rows}, strides[1] = {row_stride * sizeof(float)};
    const cuuint32_t box[2] = {box_cols, box_rows}, steps[2] = {1, 1};
    CUtensorMap map;
    const CUresult result =
        encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)matrix, dims, strides,
               box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        const char *rule =
            (uintptr_t)matrix % 16 ? "the matrix must start at a multiple of 16 bytes"
            : row_stride % 4       ? "rows must be a multiple of 4 floats apart"
            : box_cols % 4         ? "a box must be a multiple of 4 floats wide"
            : box_rows - 1 > 255 || box_cols - 1 > 255
                ? "a box has 1 to 256 rows and columns"
            : result == CUDA_ERROR_NOT_SUPPORTED ? "it needs compute capability 9.0"
                                                 : "see tensor_map_2d for what it asks";
        fprintf(stderr,
                "cuTensorMapEncodeTiled refuses a %zu x %zu matrix at %p, rows %zu "
                "floats apart, in boxes of %u x %u "
                "(CUresult %d): %s\n",
                rows, cols, (const void *)matrix, row_stride, box_rows, box_cols,
                (int)result, rule);
        exit(3);
    }
    return map;
}

#endif
