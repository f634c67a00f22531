/* The ring of stages between one who fills them and those who read them. */
#ifndef RING_CUH
#define RING_CUH

#include "wgmma.h"

// How far one has gone round the ring: see chapter 16.
struct turn {
    int index;
    unsigned parity;
};

template <int STAGES> static __device__ __forceinline__ void next_turn(struct turn *t)
{
    if (++t->index == STAGES) {
        t->index = 0;
        t->parity ^= 1;
    }
}

// `full` counts the producer's announcement, `empty` the `readers` of each block of the
// cluster. No block may use them before barrier_cluster_wait() has told it that the others
// of its cluster have theirs.
template <int STAGES, int CLUSTER>
static __device__ __forceinline__ void start_ring(uint64_t *full, uint64_t *empty,
                                                  int readers)
{
    if (threadIdx.x == 32) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(&full[i], 1);
            mbarrier_init(&empty[i], readers * CLUSTER);
        }
        fence_mbarrier_init();
    }
    __syncwarp(); // a warp arrives at the cluster's barrier as one
    barrier_cluster_arrive_relaxed();
}

// A reader, READER threads, has read a stage: for each block of the cluster, one of them
// says so there.
template <int CLUSTER, int READER>
static __device__ __forceinline__ void release(uint64_t *empty)
{
    const int thread = threadIdx.x % READER;
    if (thread < CLUSTER)
        mbarrier_arrive_cluster(empty, thread);
}

// The last round: no block may be gone while another's consumers still arrive at its
// barriers.
template <int STAGES>
static __device__ __forceinline__ void finish_ring(struct turn *t, uint64_t *empty)
{
    for (int i = 0; i < STAGES; ++i) {
        mbarrier_wait_parity(&empty[t->index], t->parity ^ 1);
        next_turn<STAGES>(t);
    }
}

#endif
