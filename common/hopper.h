/* Hopper's copy engine, its barriers and its clusters of blocks, as thin functions under
 * PTX's names: CUDA C has no words for them. Its matrix instruction is in wgmma.h.
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
#include "shared_address.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define HOPPER_PTX(...) asm volatile(__VA_ARGS__)
#define CLUSTERS_OF(blocks) __cluster_dims__(blocks, 1, 1) /* of a kernel */
#else
#define HOPPER_PTX(...) __trap()
#define CLUSTERS_OF(blocks)
#endif

/* What Hopper alone has, or does fast: for code compiled with -arch=sm_90a. */
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL) ||                     \
    defined(__CUDA_EMULATED__)
#define SM_90A_PTX(...) asm volatile(__VA_ARGS__)
#else
#define SM_90A_PTX(...) __trap()
#endif

/* Begins the first phase; each takes `arrivals` arrivals. One thread does it, and the
 * others may use the barrier after fence_mbarrier_init() and __syncthreads(). PTX ISA,
 * mbarrier.init. */
static __device__ __forceinline__ void mbarrier_init(uint64_t *barrier, unsigned arrivals)
{
    HOPPER_PTX("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals) : "memory");
}

/* Makes the inits of this thread visible to the whole cluster, and to the copy engine.
 * PTX ISA, fence.mbarrier_init. */
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

/* Waits until the phase of this parity is over. For a new barrier, the phase before the
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
 * bytes, and the box must begin at a multiple of 16 bytes of its row: else the instruction
 * is illegal. PTX ISA, cp.async.bulk.tensor. */
static __device__ __forceinline__ void cp_async_bulk_tensor_2d(void *shared,
                                                               const CUtensorMap *map,
                                                               int x, int y,
                                                               uint64_t *barrier)
{
    HOPPER_PTX("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
               "bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(shared)),
               "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier)) : "memory");
}

/* The same for several blocks of a cluster at once: each block whose bit is set in
 * `blocks` gets the box at the same place of its own shared memory, and its bytes count
 * for the barrier at the same place. Needs -arch=sm_90a. PTX ISA, cp.async.bulk.tensor,
 * .multicast::cluster. */
static __device__ __forceinline__ void
cp_async_bulk_tensor_2d_multicast(void *shared, const CUtensorMap *map, int x, int y,
                                  uint64_t *barrier, unsigned blocks)
{
    SM_90A_PTX("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::"
               "bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(
                   shared_address(shared)),
               "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier)),
               "h"((unsigned short)blocks) : "memory");
}

/* Starts the copy of a box from shared memory to the matrix; what lies outside the matrix
 * is left out. Threads that wrote the box call fence_proxy_async() and meet at a barrier
 * first. PTX ISA, cp.async.bulk.tensor. */
static __device__ __forceinline__ void
cp_async_bulk_tensor_2d_store(const CUtensorMap *map, int x, int y, const void *shared)
{
    HOPPER_PTX("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], "
               "[%3];" ::"l"(map),
               "r"(x), "r"(y), "r"(shared_address(shared)) : "memory");
}

/* The same, and when the L2 cache needs room, these bytes are the first to leave it: for
 * results that are not read again soon. PTX ISA, createpolicy. */
static __device__ __forceinline__ void
cp_async_bulk_tensor_2d_store_evict_first(const CUtensorMap *map, int x, int y,
                                          const void *shared)
{
    HOPPER_PTX("{\n\t"
               ".reg .b64 policy;\n\t"
               "createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n\t"
               "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint "
               "[%0, {%1, %2}], [%3], policy;\n\t"
               "}" ::"l"(map),
               "r"(x), "r"(y), "r"(shared_address(shared)) : "memory");
}

/* As the store, but adds the box to what the matrix holds. PTX ISA,
 * cp.reduce.async.bulk.tensor. */
static __device__ __forceinline__ void
cp_reduce_async_bulk_tensor_2d_add(const CUtensorMap *map, int x, int y,
                                   const void *shared)
{
    HOPPER_PTX("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group "
               "[%0, {%1, %2}], [%3];" ::"l"(map),
               "r"(x), "r"(y), "r"(shared_address(shared)) : "memory");
}

/* Makes a group of this thread's stores since the last commit. PTX ISA,
 * cp.async.bulk.commit_group. */
static __device__ __forceinline__ void cp_async_bulk_commit_group(void)
{
    HOPPER_PTX("cp.async.bulk.commit_group;" :: : "memory");
}

/* Waits until at most PENDING groups of this thread's stores, the last ones, are under
 * way; with _read, until the others have only read shared memory, which may then be
 * written again. PTX ISA, cp.async.bulk.wait_group. */
template <int PENDING>
static __device__ __forceinline__ void cp_async_bulk_wait_group(void)
{
    HOPPER_PTX("cp.async.bulk.wait_group %0;" ::"n"(PENDING) : "memory");
}

template <int PENDING>
static __device__ __forceinline__ void cp_async_bulk_wait_group_read(void)
{
    HOPPER_PTX("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

/* Has the map brought where the copy engine looks first. PTX ISA, prefetch.tensormap. */
static __device__ __forceinline__ void prefetch_tensormap(const CUtensorMap *map)
{
    HOPPER_PTX("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

/* What this thread has written to shared memory becomes visible to the copy engine and to
 * wgmma. PTX ISA, fence.proxy.async. */
static __device__ __forceinline__ void fence_proxy_async(void)
{
    HOPPER_PTX("fence.proxy.async.shared::cta;" :: : "memory");
}

/* The number of this block in its cluster. PTX ISA, %cluster_ctarank. */
static __device__ __forceinline__ unsigned cluster_ctarank(void)
{
    unsigned rank = 0;
    HOPPER_PTX("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* The cluster's __syncthreads(), in two halves: all threads of all its blocks arrive, then
 * wait. PTX ISA, barrier.cluster. */
static __device__ __forceinline__ void barrier_cluster_arrive(void)
{
    HOPPER_PTX("barrier.cluster.arrive.release.aligned;" :: : "memory");
}

/* The same for who has nothing to hand over but mbarriers, after fence_mbarrier_init(): it
 * does not wait until all that was written before can be seen. */
static __device__ __forceinline__ void barrier_cluster_arrive_relaxed(void)
{
    HOPPER_PTX("barrier.cluster.arrive.relaxed.aligned;" :: : "memory");
}

static __device__ __forceinline__ void barrier_cluster_wait(void)
{
    HOPPER_PTX("barrier.cluster.wait.acquire.aligned;" :: : "memory");
}

/* Where block `rank` of the cluster has what this block has at p, as an address for
 * instructions of the space shared::cluster. PTX ISA, mapa. */
static __device__ __forceinline__ uint32_t mapa(const void *p, unsigned rank)
{
    uint32_t address = 0;
    HOPPER_PTX(
        "mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(shared_address(p)),
        "r"(rank));
    return address;
}

/* One arrival at the barrier in the same place of block `rank`: what has been waited for,
 * a wgmma or a copy, is over for that block too. It does not hand over what threads of
 * this block have written: that takes .release.cluster, which is a fence for the whole GPU
 * each time. PTX ISA, mbarrier.arrive. */
static __device__ __forceinline__ void mbarrier_arrive_cluster(uint64_t *barrier,
                                                               unsigned rank)
{
    HOPPER_PTX("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(
        mapa(barrier, rank)) : "memory");
}

/* Writes four numbers to the shared memory of a block of the cluster, and says so to an
 * mbarrier of that block, which counts 16 bytes. Both addresses are mapa's; the first is a
 * multiple of 16. PTX ISA, st.async. */
static __device__ __forceinline__ void st_async(uint32_t to, float4 four,
                                                uint32_t barrier)
{
    HOPPER_PTX("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], "
               "{%1, %2, %3, %4}, [%5];" ::"r"(to),
               "f"(four.x), "f"(four.y), "f"(four.z), "f"(four.w),
               "r"(barrier) : "memory");
}

/* A __syncthreads() for `threads` threads, whole warps, of the block; `number` is 1 to 15,
 * for 0 is __syncthreads() itself. PTX ISA, bar.sync. */
static __device__ __forceinline__ void bar_sync(unsigned number, unsigned threads)
{
    HOPPER_PTX("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* Counts there as well, and goes on. PTX ISA, bar.arrive. */
static __device__ __forceinline__ void bar_arrive(unsigned number, unsigned threads)
{
    HOPPER_PTX("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

/* A warp stores four matrices of 8 x 8 elements of 16 bits, two in each register: lanes
 * 8 i to 8 i + 7 say where the rows of matrix i go, 16 bytes each, and lane l's register
 * r[i] holds the elements of row l / 4, columns 2 * (l % 4) and the one after. With _trans
 * row and column change places. PTX ISA, stmatrix. */
static __device__ __forceinline__ void stmatrix_x4(void *row, const uint32_t (&r)[4])
{
    HOPPER_PTX("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared_address(row)),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
}

static __device__ __forceinline__ void stmatrix_x4_trans(void *row,
                                                         const uint32_t (&r)[4])
{
    HOPPER_PTX(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
            shared_address(row)),
        "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]) : "memory");
}

/* The driver's cuTensorMapEncodeTiled, found through the runtime so that nothing has to be
 * linked with libcuda; a driver without it ends the program with one line. */
typedef CUresult encode_tiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                              const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                              const cuuint32_t *, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion,
                              CUtensorMapFloatOOBfill);

static inline encode_tiled *find_encode_tiled(void)
{
    static void *function = NULL;
    if (!function) {
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
    }
    return (encode_tiled *)function;
}

/* A kernel that is launched with the attribute programmaticStreamSerialization may begin
 * before the one in front of it has ended. This waits for that end; what the other wrote
 * can be read then. PTX ISA, griddepcontrol. */
static __device__ __forceinline__ void griddepcontrol_wait(void)
{
    HOPPER_PTX("griddepcontrol.wait;" :: : "memory");
}

/* As soon as all blocks of this kernel have said so or ended, such a kernel behind it may
 * begin. PTX ISA, griddepcontrol. */
static __device__ __forceinline__ void griddepcontrol_launch_dependents(void)
{
    HOPPER_PTX("griddepcontrol.launch_dependents;");
}

/* Describes a row-major matrix to the copy engine, which will move boxes of it: of
 * `type`, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, TFLOAT32 (the engine rounds floats to tf32 on
 * their way in), BFLOAT16 or FLOAT16. Rows are `row_stride` elements apart. In shared
 * memory the rows of a box lie without gaps, and with `swizzle`
 * (CU_TENSOR_MAP_SWIZZLE_128B: rows of at most 128 bytes, the box at a multiple of 1,024)
 * the 16-byte pieces of a row change places as wgmma expects them. The L2 fetches
 * 128 bytes at a time. With 256, more sectors pass between its two halves
 * (lts__t_sectors_srcunit_ltcfabric), and products whose rows do not begin at multiples of
 * that take longer, as 4,092 in tf32 does.
 *
 * The engine moves in pieces of 16 bytes: the matrix must start at a multiple of 16 bytes,
 * and rows and boxes must be multiples of 16 bytes; the number of columns need not be. No
 * box may have more than 256 rows or columns. Otherwise the program ends with one line.
 * CUDA driver API, cuTensorMapEncodeTiled. */
static inline CUtensorMap tensor_map_2d_of(CUtensorMapDataType type, const void *matrix,
                                           size_t rows, size_t cols, size_t row_stride,
                                           unsigned box_rows, unsigned box_cols,
                                           CUtensorMapSwizzle swizzle)
{
    const size_t size = type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32 ||
                                type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
                            ? 4
                            : 2;
    const size_t most = swizzle == CU_TENSOR_MAP_SWIZZLE_128B  ? 128
                        : swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? 64
                        : swizzle == CU_TENSOR_MAP_SWIZZLE_32B ? 32
                                                               : 1024;
    const cuuint64_t dims[2] = {cols, rows}, strides[1] = {row_stride * size};
    const cuuint32_t box[2] = {box_cols, box_rows}, steps[2] = {1, 1};
    CUtensorMap map;
    const CUresult result = find_encode_tiled()(
        &map, type, 2, (void *)matrix, dims, strides, box, steps,
        CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        const char *rule =
            (uintptr_t)matrix % 16   ? "the matrix must start at a multiple of 16 bytes"
            : row_stride * size % 16 ? "rows must be a multiple of 16 bytes apart"
            : box_cols * size % 16   ? "a box must be a multiple of 16 bytes wide"
            : box_rows - 1 > 255 || box_cols - 1 > 255
                ? "a box has 1 to 256 rows and columns"
            : box_cols * size > most ? "a row of the box is longer than the swizzle"
            : result == CUDA_ERROR_NOT_SUPPORTED
                ? "it needs compute capability 9.0"
                : "see tensor_map_2d_of for what it asks";
        fprintf(stderr,
                "cuTensorMapEncodeTiled refuses a %zu x %zu matrix at %p, rows %zu "
                "elements of %zu bytes apart, in boxes of %u x %u (CUresult %d): %s\n",
                rows, cols, matrix, row_stride, size, box_rows, box_cols, (int)result,
                rule);
        exit(3);
    }
    return map;
}

/* The same for floats that stay as they are. */
static inline CUtensorMap tensor_map_2d(const float *matrix, size_t rows, size_t cols,
                                        size_t row_stride, unsigned box_rows,
                                        unsigned box_cols)
{
    return tensor_map_2d_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, matrix, rows, cols,
                            row_stride, box_rows, box_cols, CU_TENSOR_MAP_SWIZZLE_NONE);
}

#endif
