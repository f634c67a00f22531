/* Hopper's bulk copies and the barriers that they report to, as functions with the names of
 * the PTX instructions: CUDA C has no words for them. Needs compute capability 9.0; on an older
 * GPU they trap. "PTX" below names the section of NVIDIA's PTX ISA manual,
 * https://docs.nvidia.com/cuda/parallel-thread-execution
 *
 * A bulk copy brings a whole tile (a "box") of a matrix from global to shared memory. One thread
 * asks for it and goes on at once; no thread holds the data in between, and no register either.
 *
 * An mbarrier, 8 bytes of shared memory, says when it has arrived. The barrier goes through phases,
 * 0, 1, 2, ...; a phase is complete when the expected threads have arrived and the expected bytes
 * have been copied, and then the next one begins by itself. Waiting names a phase by its parity, its
 * last bit, so nobody may fall two phases behind. */
#ifndef HOPPER_H
#define HOPPER_H

#include <cuda.h>
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __CUDA_EMULATED__
#include <emulator_ptx.h> /* the same six functions, in C */
#else

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define HOPPER_PTX(...) __trap()
#else
#define HOPPER_PTX(...) asm volatile(__VA_ARGS__)
#endif

/* PTX names shared memory by its offset in the block's window, in 32 bits. */
static __device__ __forceinline__ unsigned shared_offset(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

/* Makes `barrier` one whose phases need `arrivals` arrivals each. One thread does it, once a
 * block; the others use the barrier after a __syncthreads(). PTX: "mbarrier.init". */
static __device__ __forceinline__ void mbarrier_init(uint64_t *barrier, unsigned arrivals)
{
    HOPPER_PTX("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_offset(barrier)),
               "r"(arrivals)
               : "memory");
}

/* Shows the barriers that this thread has initialised to the copy engine too, which reads
 * shared memory by a way of its own. PTX: "membar/fence". */
static __device__ __forceinline__ void fence_mbarrier_init(void)
{
    HOPPER_PTX("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Counts as one arrival. All that the thread has read and written before is done, for those who
 * wait for this phase. PTX: "mbarrier.arrive". */
static __device__ __forceinline__ void mbarrier_arrive(uint64_t *barrier)
{
    HOPPER_PTX("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_offset(barrier))
               : "memory");
}

/* An arrival that also makes the phase last until `bytes` bytes more have been copied.
 * PTX: "mbarrier.arrive", with .expect_tx. */
static __device__ __forceinline__ void mbarrier_arrive_expect_tx(uint64_t *barrier,
                                                                 unsigned bytes)
{
    HOPPER_PTX("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                   shared_offset(barrier)),
               "r"(bytes)
               : "memory");
}

/* Returns when the phase of this parity is complete; at once if the present phase has the other
 * parity. So on a new barrier, waiting for parity 1 means not waiting. A try sleeps for a while by
 * itself and may give up. PTX: "mbarrier.test_wait, mbarrier.try_wait". */
static __device__ __forceinline__ void mbarrier_wait_parity(uint64_t *barrier, unsigned parity)
{
    unsigned complete = 0;
    while (!complete)
        HOPPER_PTX("{ .reg .pred p;"
                   "  mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;"
                   "  selp.u32 %0, 1, 0, p; }"
                   : "=r"(complete)
                   : "r"(shared_offset(barrier)), "r"(parity)
                   : "memory");
}

/* Starts the copy of the map's box whose first element is in column x and row y; what lies
 * outside of the matrix becomes zero. `shared` must be a multiple of 128 bytes; the rows of the box
 * follow each other there. All bytes of the box count for the barrier's phase. One thread calls it.
 * PTX: "cp.async.bulk.tensor". */
static __device__ __forceinline__ void cp_async_bulk_tensor_2d(void *shared,
                                                               const CUtensorMap *map, int x,
                                                               int y, uint64_t *barrier)
{
    HOPPER_PTX("cp.async.bulk.tensor.2d.shared::cluster.global"
               ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   shared_offset(shared)),
               "l"(map), "r"(x), "r"(y), "r"(shared_offset(barrier))
               : "memory");
}

#undef HOPPER_PTX
#endif

/* Ends the program with one line; the codes are those of chapter_main. */
static inline void tensor_map_fail(int code, const char *what)
{
    fflush(stdout);
    fprintf(stderr, "tensor_map_2d: %s\n", what);
    exit(code);
}

/* Describes a matrix of rows x cols floats in global memory to the bulk copies, which will take
 * boxes of box_rows x box_cols out of it; its rows are row_stride floats apart. A kernel takes the
 * map by value, as a `const __grid_constant__ CUtensorMap`. The rules are those of
 * cuTensorMapEncodeTiled (CUDA driver API, "Tensor Map Object Management"); a breach of one ends
 * the program with a line that says which, exit 1, and a GPU without bulk copies with exit 3. */
static inline CUtensorMap tensor_map_2d(const float *matrix, size_t rows, size_t cols,
                                        size_t row_stride, unsigned box_rows,
                                        unsigned box_cols)
{
    typedef CUresult encode_tiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                                  const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                                  const cuuint32_t *, CUtensorMapInterleave,
                                  CUtensorMapSwizzle, CUtensorMapL2promotion,
                                  CUtensorMapFloatOOBfill);
    enum { FIRST_VERSION = 12000, MOST = 256, ALIGNMENT = 16 };
    if ((uintptr_t)matrix % ALIGNMENT)
        tensor_map_fail(1, "the matrix must begin at a multiple of 16 bytes");
    if (row_stride * sizeof(float) % ALIGNMENT)
        tensor_map_fail(1, "rows must be a multiple of 16 bytes (4 floats) apart");
    if (box_cols * sizeof(float) % ALIGNMENT)
        tensor_map_fail(1, "a box's rows must be a multiple of 16 bytes (4 floats) long");
    if (box_rows < 1 || box_rows > MOST || box_cols < 1 || box_cols > MOST)
        tensor_map_fail(1, "a box must have 1 to 256 rows and columns");

    /* By name through the runtime, so that the program needs no -lcuda. */
    void *function = NULL;
    enum cudaDriverEntryPointQueryResult found;
    cudaError_t error = cudaGetDriverEntryPointByVersion(
        "cuTensorMapEncodeTiled", &function, FIRST_VERSION, cudaEnableDefault, &found);
    if (error != cudaSuccess || !function)
        tensor_map_fail(3, "the driver has no cuTensorMapEncodeTiled; it must be of CUDA 12 or newer");

    CUtensorMap map;
    const cuuint64_t dims[2] = {cols, rows}, strides[1] = {row_stride * sizeof(float)};
    const cuuint32_t box[2] = {box_cols, box_rows}, every_element[2] = {1, 1};
    CUresult result = ((encode_tiled *)function)(
        &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)matrix, dims, strides, box,
        every_element, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result == CUDA_ERROR_NOT_SUPPORTED)
        tensor_map_fail(3, "this GPU has no bulk copies; they need compute capability 9.0");
    if (result != CUDA_SUCCESS) {
        char what[160];
        snprintf(what, sizeof what,
                 "cuTensorMapEncodeTiled refuses %zu x %zu floats, rows %zu apart, in boxes of "
                 "%u x %u (error %d)",
                 rows, cols, row_stride, box_rows, box_cols, (int)result);
        tensor_map_fail(1, what);
    }
    return map;
}

#endif
