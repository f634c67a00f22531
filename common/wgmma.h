/* Hopper's matrix instruction, wgmma: four warps multiply two matrices that lie in shared
 * memory, while they and everyone else do something different.
 *
 *     wgmma_fence();                                    // accumulators may be used now
 *     wgmma_mma_async_bf16<0, 0>(d, a, b, 1);           // as often as you like
 *     wgmma_commit_group();                             // these are one group
 *     wgmma_wait_group<0>();                            // no group is under way
 *
 * All 128 threads of a *warpgroup* (four warps, the first a multiple of four) execute each
 * of these together. The accumulators belong to the instruction until its group has been
 * waited for. The matrices must have been written by the copy engine, or be followed by
 * fence_proxy_async() in each thread that wrote them, and a barrier.
 *
 * A thread's accumulators: of warp w of the warpgroup, lane l,
 *     d[4 * j + 2 * h + i] is the element in row 16 * w + l / 4 + 8 * h,
 *                                        column 8 * j + 2 * (l % 4) + i   (h, i: 0 or 1).
 *
 * Each function names the chapter of the PTX ISA that defines it. They exist on compute
 * capability 9.0 alone and need -arch=sm_90a; compiled for anything else they trap.
 */
#ifndef WGMMA_H
#define WGMMA_H

#include "hopper.h"

/* How the rows of a matrix in shared memory are swizzled, as a descriptor says it. The
 * copy engine has numbers of its own: CU_TENSOR_MAP_SWIZZLE_128B and so on. */
enum wgmma_swizzle {
    WGMMA_SWIZZLE_NONE = 0,
    WGMMA_SWIZZLE_128B = 1,
    WGMMA_SWIZZLE_64B = 2,
    WGMMA_SWIZZLE_32B = 3
};

/* Describes a matrix in shared memory. `leading` and `stride` are in bytes, multiples of
 * 16, as the start is. With a swizzle of W bytes, 8 rows of W bytes are a *core matrix*,
 * which begins at a multiple of 8 * W:
 *   - K-major (elements with neighbouring k lie side by side): `stride` leads to the next
 *     8 rows of A or columns of B; `leading` is not used. The next 16 bytes along k begin
 *     16 bytes further, although the data is swizzled: the XOR is taken of the whole
 *     address.
 *   - MN-major (neighbouring rows of A or columns of B lie side by side, TNSP 1):
 *     `stride` leads to the next 8 k, `leading` to the next W bytes of rows or columns.
 * PTX ISA, matrix-descriptor format of wgmma. */
static __device__ __forceinline__ uint64_t wgmma_descriptor(const void *start,
                                                            unsigned leading,
                                                            unsigned stride,
                                                            enum wgmma_swizzle swizzle)
{
    return (uint64_t)((shared_address(start) & 0x3ffff) >> 4) |
           (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 |
           (uint64_t)swizzle << 62;
}

/* Before the first wgmma, and before one that uses registers which the threads have
 * written since. PTX ISA, wgmma.fence. */
static __device__ __forceinline__ void wgmma_fence(void)
{
    SM_90A_PTX("wgmma.fence.sync.aligned;" :: : "memory");
}

/* Makes a group of all wgmmas since the last commit. PTX ISA, wgmma.commit_group. */
static __device__ __forceinline__ void wgmma_commit_group(void)
{
    SM_90A_PTX("wgmma.commit_group.sync.aligned;" :: : "memory");
}

/* Waits until at most PENDING groups, the last ones, are under way. PTX ISA,
 * wgmma.wait_group. */
template <int PENDING> static __device__ __forceinline__ void wgmma_wait_group(void)
{
    SM_90A_PTX("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

/* Tells the compiler that the accumulators may change here, behind the wait for them: so it
 * reads none of them earlier, although the wgmmas that it believes to have written them
 * stand before the wait. No instruction comes of it. */
template <int COUNT> static __device__ __forceinline__ void wgmma_touch(float (&d)[COUNT])
{
#pragma unroll
    for (int i = 0; i < COUNT; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

/* The registers of a thread from now on, a multiple of 8: `inc` waits until others of the
 * block have given away enough. All warps of a warpgroup do it. PTX ISA, setmaxnreg. */
template <int REGISTERS> static __device__ __forceinline__ void setmaxnreg_inc(void)
{
    SM_90A_PTX("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

template <int REGISTERS> static __device__ __forceinline__ void setmaxnreg_dec(void)
{
    SM_90A_PTX("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

/* Accumulators as PTX names them and as C does. */
#define WGMMA_EIGHT(n) n "0, " n "1, " n "2, " n "3, " n "4, " n "5, " n "6, " n "7"
#define WGMMA_TEN(n) WGMMA_EIGHT(n) ", " n "8, " n "9"
#define WGMMA_NAMES_8 WGMMA_EIGHT("%")
#define WGMMA_NAMES_16 WGMMA_TEN("%") ", %10, %11, %12, %13, %14, %15"
#define WGMMA_NAMES_32                                                                   \
    WGMMA_TEN("%")                                                                       \
    ", " WGMMA_TEN("%1") ", " WGMMA_TEN("%2") ", %30, %31"
#define WGMMA_NAMES_48                                                                   \
    WGMMA_NAMES_32                                                                       \
    ", %32, %33, %34, %35, %36, %37, %38, %39, " WGMMA_EIGHT("%4")
#define WGMMA_NAMES_56 WGMMA_NAMES_48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define WGMMA_NAMES_64                                                                   \
    WGMMA_NAMES_32                                                                       \
    ", %32, %33, %34, %35, %36, %37, %38, %39, " WGMMA_TEN("%4") ", " WGMMA_TEN(         \
        "%5") ", %60, %61, %62, %63"
#define WGMMA_NAMES_72 WGMMA_NAMES_64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define WGMMA_NAMES_80                                                                   \
    WGMMA_NAMES_64                                                                       \
    ", %64, %65, %66, %67, %68, %69, " WGMMA_TEN("%7")
#define WGMMA_NAMES_96                                                                   \
    WGMMA_NAMES_64                                                                       \
    ", %64, %65, %66, %67, %68, %69, " WGMMA_TEN("%7") ", " WGMMA_TEN(                   \
        "%8") ", %90, %91, %92, %93, %94, %95"
#define WGMMA_NAMES_128                                                                  \
    WGMMA_NAMES_96                                                                       \
    ", %96, %97, %98, %99, " WGMMA_TEN("%10") ", " WGMMA_TEN("%11") ", " WGMMA_EIGHT(    \
        "%12")
#define WGMMA_8(d, i)                                                                    \
    "+f"((d)[i]), "+f"((d)[i + 1]), "+f"((d)[i + 2]), "+f"((d)[i + 3]),                  \
        "+f"((d)[i + 4]), "+f"((d)[i + 5]), "+f"((d)[i + 6]), "+f"((d)[i + 7])
#define WGMMA_16(d, i) WGMMA_8(d, i), WGMMA_8(d, i + 8)
#define WGMMA_32(d, i)                                                                   \
    WGMMA_8(d, i), WGMMA_8(d, i + 8), WGMMA_8(d, i + 16), WGMMA_8(d, i + 24)
#define WGMMA_48(d, i) WGMMA_32(d, i), WGMMA_8(d, i + 32), WGMMA_8(d, i + 40)
#define WGMMA_56(d, i) WGMMA_48(d, i), WGMMA_8(d, i + 48)
#define WGMMA_64(d, i) WGMMA_32(d, i), WGMMA_32(d, i + 32)
#define WGMMA_72(d, i) WGMMA_64(d, i), WGMMA_8(d, i + 64)
#define WGMMA_80(d, i) WGMMA_64(d, i), WGMMA_8(d, i + 64), WGMMA_8(d, i + 72)
#define WGMMA_96(d, i) WGMMA_64(d, i), WGMMA_32(d, i + 64)
#define WGMMA_128(d, i) WGMMA_64(d, i), WGMMA_64(d, i + 64)

/* d = A * B + (scale_d ? d : 0), A 64 x 16 and B 16 x N, of bf16 or fp16; N is twice the
 * number of a thread's accumulators: 64, 96, 112, 128, 144, 160, 192 or 256. `a` and `b`
 * are descriptors. TNSP_A, TNSP_B: 0 for K-major, 1 for MN-major (see wgmma_descriptor).
 * PTX ISA, wgmma.mma_async. */
#define WGMMA_HALVES(TYPE, N, COUNT, A, B, ADD, TA, TB)                                  \
    template <int TNSP_A, int TNSP_B>                                                    \
    static __device__ __forceinline__ void wgmma_mma_async_##TYPE(                       \
        float(&d)[COUNT], uint64_t a, uint64_t b, int scale_d)                           \
    {                                                                                    \
        SM_90A_PTX("{\n"                                                                 \
                   " .reg .pred p;\n"                                                    \
                   " setp.ne.b32 p, " ADD ", 0;\n"                                       \
                   " wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #TYPE "." #TYPE    \
                   " {" WGMMA_NAMES_##COUNT "}, " A ", " B ", p, 1, 1, " TA ", " TB      \
                                            ";\n"                                        \
                                            "}" : WGMMA_##COUNT(d, 0) : "l"(a),          \
                   "l"(b), "r"(scale_d), "n"(TNSP_A), "n"(TNSP_B));                      \
    }
#define WGMMA_ALL_HALVES(TYPE)                                                           \
    WGMMA_HALVES(TYPE, 64, 32, "%32", "%33", "%34", "%35", "%36")                        \
    WGMMA_HALVES(TYPE, 96, 48, "%48", "%49", "%50", "%51", "%52")                        \
    WGMMA_HALVES(TYPE, 112, 56, "%56", "%57", "%58", "%59", "%60")                       \
    WGMMA_HALVES(TYPE, 128, 64, "%64", "%65", "%66", "%67", "%68")                       \
    WGMMA_HALVES(TYPE, 144, 72, "%72", "%73", "%74", "%75", "%76")                       \
    WGMMA_HALVES(TYPE, 160, 80, "%80", "%81", "%82", "%83", "%84")                       \
    WGMMA_HALVES(TYPE, 192, 96, "%96", "%97", "%98", "%99", "%100")                      \
    WGMMA_HALVES(TYPE, 256, 128, "%128", "%129", "%130", "%131", "%132")
WGMMA_ALL_HALVES(bf16)
WGMMA_ALL_HALVES(f16)

/* The same of tf32, floats whose last 13 bits are cut off, with 8 k at a time: both
 * matrices K-major, or A from registers: a[r] of lane l of warp w is the element in row
 * 16 * w + l / 4 + 8 * (r % 2), column l % 4 + 4 * (r / 2). Those registers belong to the
 * instruction as the accumulators do. PTX ISA, wgmma.mma_async. */
#define WGMMA_TF32(N, COUNT, A, B, ADD)                                                  \
    static __device__ __forceinline__ void wgmma_mma_async_tf32(                         \
        float(&d)[COUNT], uint64_t a, uint64_t b, int scale_d)                           \
    {                                                                                    \
        SM_90A_PTX("{\n"                                                                 \
                   " .reg .pred p;\n"                                                    \
                   " setp.ne.b32 p, " ADD ", 0;\n"                                       \
                   " wgmma.mma_async.sync.aligned.m64n" #N "k8.f32.tf32.tf32"            \
                   " {" WGMMA_NAMES_##COUNT "}, " A ", " B ", p, 1, 1;\n"                \
                                            "}" : WGMMA_##COUNT(d, 0) : "l"(a),          \
                   "l"(b), "r"(scale_d));                                                \
    }
#define WGMMA_TF32_REGISTERS(N, COUNT, A0, A1, A2, A3, B, ADD)                           \
    static __device__ __forceinline__ void wgmma_mma_async_tf32(                         \
        float(&d)[COUNT], const uint32_t(&a)[4], uint64_t b, int scale_d)                \
    {                                                                                    \
        SM_90A_PTX("{\n"                                                                 \
                   " .reg .pred p;\n"                                                    \
                   " setp.ne.b32 p, " ADD ", 0;\n"                                       \
                   " wgmma.mma_async.sync.aligned.m64n" #N "k8.f32.tf32.tf32"            \
                   " {" WGMMA_NAMES_##COUNT "}, {" A0 ", " A1 ", " A2 ", " A3 "}, " B    \
                                            ", p, 1, 1;\n"                               \
                                            "}" : WGMMA_##COUNT(d, 0) : "r"(a[0]),       \
                   "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(scale_d));               \
    }
WGMMA_TF32(64, 32, "%32", "%33", "%34")
WGMMA_TF32(128, 64, "%64", "%65", "%66")
WGMMA_TF32(192, 96, "%96", "%97", "%98")
WGMMA_TF32(256, 128, "%128", "%129", "%130")
WGMMA_TF32_REGISTERS(16, 8, "%8", "%9", "%10", "%11", "%12", "%13")
WGMMA_TF32_REGISTERS(32, 16, "%16", "%17", "%18", "%19", "%20", "%21")
WGMMA_TF32_REGISTERS(64, 32, "%32", "%33", "%34", "%35", "%36", "%37")
WGMMA_TF32_REGISTERS(96, 48, "%48", "%49", "%50", "%51", "%52", "%53")
WGMMA_TF32_REGISTERS(128, 64, "%64", "%65", "%66", "%67", "%68", "%69")
WGMMA_TF32_REGISTERS(192, 96, "%96", "%97", "%98", "%99", "%100", "%101")
WGMMA_TF32_REGISTERS(256, 128, "%128", "%129", "%130", "%131", "%132", "%133")

#endif
