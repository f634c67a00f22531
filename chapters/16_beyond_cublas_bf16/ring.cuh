/* The ring of stages between the thread that fills them and the warpgroups that read them,
 * in all blocks of a cluster at once: a stage of this block holds what the other block has
 * ordered too, so it may be filled again when the consumers of both have read theirs. */
#ifndef RING_CUH
#define RING_CUH

#include "wgmma.h"

const int STAGES = 4;
const int CLUSTER = 2; // blocks, one tile below the other

// How far a thread has gone round the ring. A stage is filled for the r-th time (r = 0, 1,
// ...) when `parity` is r & 1: `full` ends its phase r when that filling has come, `empty`
// when it has been read. So a reader waits for parity r & 1, and the producer for the end of
// phase r - 1, the other parity. For r = 0 that wait returns at once.
struct turn {
    int index;
    unsigned parity;
};

static __device__ __forceinline__ void next_turn(struct turn *t)
{
    if (++t->index == STAGES) {
        t->index = 0;
        t->parity ^= 1;
    }
}

// `full` counts the producer's announcement, `empty` the `readers` of each block. The other
// block's barriers must be there too, before anything is sent to it.
static __device__ __forceinline__ void start_ring(uint64_t *full, uint64_t *empty,
                                                  int readers)
{
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(&full[i], 1);
            mbarrier_init(&empty[i], readers * CLUSTER);
        }
        fence_mbarrier_init();
    }
    __syncwarp(); // a warp arrives at the cluster's barrier as one
    barrier_cluster_arrive();
    barrier_cluster_wait();
}

// A warpgroup has read a stage: a thread for each block of the cluster says so there.
static __device__ __forceinline__ void release(uint64_t *empty)
{
    if (threadIdx.x % 128 < CLUSTER)
        mbarrier_arrive_cluster(empty, threadIdx.x % 128);
}

// The other block's consumers arrive at this block's barriers, which must not be gone by
// then: the producer waits until every stage has been read for the last time.
static __device__ __forceinline__ void finish_ring(struct turn *t, uint64_t *empty)
{
    for (int i = 0; i < STAGES; ++i) {
        mbarrier_wait_parity(&empty[t->index], t->parity ^ 1);
        next_turn(t);
    }
}

#endif
