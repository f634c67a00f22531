/* The matrix instructions of a warp and what feeds them, under PTX's names: CUDA C has
 * words for their predecessors (wmma), which hide where the elements lie.
 *
 * Places in shared memory are given as PTX counts them, in bytes from its start on, 32 bits
 * (shared_address): a loop that computes with these needs half the instructions that it
 * needs with pointers.
 *
 * All 32 lanes of a warp execute each of these together, and each lane holds a *fragment*
 * of every matrix, in registers of 32 bits. With g = lane / 4 and t = lane % 4:
 *
 *     A, 16 x 16 bf16   register r: row g + 8 * (r % 2), k = 2 * t + 8 * (r / 2), and k + 1
 *     B, 16 x 8 bf16    register r: k = 2 * t + 8 * r, and k + 1, column g
 *     A, 16 x 8 tf32    register r: row g + 8 * (r % 2), k = t + 4 * (r / 2)
 *     B, 8 x 8 tf32     register r: k = t + 4 * r, column g
 *     C, 16 x 8 fp32    register r: row g + 8 * (r / 2), column 2 * t + r % 2
 *
 * Each function names the chapter of the PTX ISA that defines it. They need compute
 * capability 8.0 (Ampere); compiled for anything older they trap.
 */
#ifndef MMA_SYNC_H
#define MMA_SYNC_H

#include "shared_address.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define MMA_PTX(...) asm volatile(__VA_ARGS__)
#else
#define MMA_PTX(...) __trap()
#endif

/* A warp reads four matrices of 8 x 8 elements of 16 bits from shared memory: lanes 8 i to
 * 8 i + 7 say where the rows of matrix i lie, 16 bytes each at multiples of 16, and lane
 * l's register r[i] gets the elements of row l / 4, columns 2 * (l % 4) and the one after.
 * With _trans row and column change places. PTX ISA, ldmatrix. */
static __device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], uint32_t row)
{
    MMA_PTX(
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]),
        "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row) : "memory");
}

static __device__ __forceinline__ void ldmatrix_x4_trans(uint32_t (&r)[4], uint32_t row)
{
    MMA_PTX(
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(
            r[0]),
        "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(row) : "memory");
}

/* One register of a lane, for what ldmatrix cannot turn. PTX ISA, ld.shared. */
static __device__ __forceinline__ uint32_t ld_shared(uint32_t from)
{
    uint32_t r = 0;
    MMA_PTX("ld.shared.u32 %0, [%1];" : "=r"(r) : "r"(from) : "memory");
    return r;
}

/* Stores 16 bits, for what cp.async is too wide for. (No "memory": loads from global memory
 * may go ahead of it. Other functions of this file keep their order.) PTX ISA,
 * st.shared. */
static __device__ __forceinline__ void st_shared_16(uint32_t to, unsigned short value)
{
    MMA_PTX("st.shared.u16 [%0], %1;" ::"r"(to), "h"(value));
}

/* Starts a copy of BYTES, 4, 8 or 16, from global to shared memory, of which only the
 * first `read` are read and the others are zeros. __pipeline_commit() and
 * __pipeline_wait_prior() wait for it. PTX ISA, cp.async. */
template <int BYTES>
static __device__ __forceinline__ void cp_async(uint32_t to, const void *from, int read)
{
    if (BYTES == 16)
        MMA_PTX("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to),
                "l"(from), "r"(read) : "memory");
    else
        MMA_PTX("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(to),
                "l"(from), "n"(BYTES == 16 ? 8 : BYTES), "r"(read) : "memory");
}

/* The same of all BYTES. */
template <int BYTES>
static __device__ __forceinline__ void cp_async(uint32_t to, const void *from)
{
    if (BYTES == 16)
        MMA_PTX("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to),
                "l"(from) : "memory");
    else
        MMA_PTX("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(to), "l"(from),
                "n"(BYTES == 16 ? 8 : BYTES) : "memory");
}

/* d += A * B, 16 x 8 += 16 x 16 * 16 x 8, of bf16. PTX ISA, mma.m16n8k16. */
static __device__ __forceinline__ void
mma_m16n8k16_bf16(float (&d)[4], const uint32_t (&a)[4], const uint32_t *b)
{
    MMA_PTX(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+f"(d[0]),
        "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
        "r"(b[0]), "r"(b[1]));
}

/* d += A * B, 16 x 8 += 16 x 8 * 8 x 8, of tf32: floats whose last 13 bits are cut off.
 * PTX ISA, mma.m16n8k8. */
static __device__ __forceinline__ void
mma_m16n8k8_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t *b)
{
    MMA_PTX(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" : "+f"(d[0]),
        "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]),
        "r"(b[0]), "r"(b[1]));
}

#endif
