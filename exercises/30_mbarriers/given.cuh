// The part of exercise 30 that is done: barriers, copies, and the multiplication of a stage.
#pragma once

#include <cuda_fp16.h>
#include <stdint.h>

const int ROWS = 16, COLS = 64, DEPTH = 64; // a block's results, and a stage's steps of k
const int CHUNKS = 8;                       // of eight halves, in a row of a stage

struct stage {
    uint4 A[ROWS * CHUNKS], B[DEPTH * CHUNKS];
};

__device__ inline unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

// ---- mbarriers, under PTX's names ----

// A phase of the barrier is over when so many threads have arrived.
__device__ inline void mbarrier_init(uint64_t *barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(shared_address(barrier)), "r"(arrivals)
                 : "memory");
}

// Tells the copy engine that barriers have begun.
__device__ inline void fence_mbarrier_init()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// One arrival. It does not wait.
__device__ inline void mbarrier_arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"
                 :
                 : "r"(shared_address(barrier))
                 : "memory");
}

// One arrival, and the phase is not over before so many bytes have come as well.
__device__ inline void mbarrier_arrive_expect_tx(uint64_t *barrier, unsigned bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

// Waits until the phase of this parity is over: the first has parity 0, the next 1, then 0
// again. The phase before the first, of parity 1, counts as over.
__device__ inline void mbarrier_wait_parity(uint64_t *barrier, unsigned parity)
{
    unsigned over = 1;
    do {
        asm volatile("{\n"
                     " .reg .pred p;\n"
                     " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                     " selp.u32 %0, 1, 0, p;\n"
                     "}"
                     : "=r"(over)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
    } while (!over);
}

// ---- copies ----

// The copy engine brings 128 bytes, which count for the barrier's phase.
__device__ inline void copy_row(uint4 *to, const __half *from, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], 128, [%2];"
                 :
                 : "r"(shared_address(to)), "l"(from), "r"(shared_address(barrier))
                 : "memory");
}

// Starts all copies of a stage: from A's first row on, and B's, in steps of a row.
__device__ inline void start_copies(struct stage *to, const __half *A, int A_stride,
                                    const __half *B, int B_stride, uint64_t *barrier)
{
    for (int row = 0; row < ROWS; ++row)
        copy_row(&to->A[row * CHUNKS], &A[row * A_stride], barrier);
    for (int row = 0; row < DEPTH; ++row)
        copy_row(&to->B[row * CHUNKS], &B[row * B_stride], barrier);
}

// ---- arithmetic: exercises 28 and 29 ----

__device__ inline void load_fragment(unsigned *r, const uint4 *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ inline void load_fragment_across(unsigned *r, const uint4 *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}

// The results of a warp: 16 rows and 16 columns.
struct results {
    float d[2][4];

    // Adds the products of a stage.
    __device__ void add(const struct stage *s, int warp, int lane)
    {
        for (int k = 0; k < DEPTH; k += 16) {
            unsigned a[4], b[4];
            load_fragment(a, &s->A[lane % 16 * CHUNKS + k / 8 + lane / 16]);
            load_fragment_across(b,
                                 &s->B[(k + lane % 16) * CHUNKS + warp * 2 + lane / 16]);
            for (int i = 0; i < 2; ++i)
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                             "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                             "{%0, %1, %2, %3};"
                             : "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3])
                             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[2 * i]),
                               "r"(b[2 * i + 1]));
        }
    }

    // C: the first of the block's results.
    __device__ void store(float *C, int N, int warp, int lane) const
    {
        float *c = &C[lane / 4 * N + warp * 16 + lane % 4 * 2];
        for (int i = 0; i < 8; ++i)
            c[i / 2 % 2 * 8 * N + i / 4 * 8 + i % 2] = d[i / 4][i % 4];
    }
};
