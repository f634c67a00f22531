/* The stages in shared memory, and the orders to the copy engine that fill them. */
#ifndef STAGES_CUH
#define STAGES_CUH

#include "12_persistent_blocks/shares.cuh"
#include "hopper.h"

// The stages in shared memory, as one who fills them or one who reads them goes round.
// Both start at stage 0 and take the stages in turn, so neither has to tell the other
// where it is.
struct stage {
    int index;
    unsigned parity; // of the round: barriers tell one round from the next by it
};

// After the last stage comes the first again, one round later.
template <class T> static __device__ __forceinline__ void next_stage(struct stage *s)
{
    if (++s->index == T::STAGES) {
        s->index = 0;
        s->parity ^= 1;
    }
}

// How far the copies are. They run one k-block ahead of the arithmetic, over the ends of
// segments too, so they need a position of their own.
struct bulk_filler {
    struct position at;
    struct stage stage;
    int block_k, tile_row, tile_col; // the next k-block to copy
};

// Starts the copies of the next k-block into the stage that was read longest ago, as soon
// as the last warp has left it. All threads keep count, one gives the orders.
//
// A stage is filled for the r-th time (r = 0, 1, ...) when its round's parity is r & 1.
// `full` ends its phase r when the bytes of that filling have come, so a reader waits for
// parity r & 1. `empty` ends its phase r when that filling has been read, so whoever
// fills for the r-th time waits for phase r - 1, of parity (r & 1) ^ 1. For r = 0 there
// is no such phase, and the wait returns at once: the stage is free.
template <class T>
static __device__ __forceinline__ void
fill_stage(struct bulk_filler *f, const struct work *w, const CUtensorMap *A_map,
           const CUtensorMap *B_map, float *bulk_tiles, uint64_t *full, uint64_t *empty)
{
    if (f->block_k == f->at.segment.end) {
        if (!next_segment(w, &f->at))
            return;
        f->block_k = f->at.segment.begin;
        place_tile(w, f->at.segment.tile, &f->tile_row, &f->tile_col);
    }
    if (threadIdx.x == 0) {
        float *to = &bulk_tiles[f->stage.index * T::FLOATS];
        uint64_t *come = &full[f->stage.index];
        mbarrier_wait_parity(&empty[f->stage.index], f->stage.parity ^ 1);
        // One arrival, this one, and so many bytes: then the stage is full. A box that
        // reaches over the edge of the matrix brings as many as any other, some of them
        // zeros.
        mbarrier_arrive_expect_tx(come, T::FLOATS * sizeof(float));
        cp_async_bulk_tensor_2d(to, A_map, f->tile_row * T::BM, f->block_k * T::BK, come);
        cp_async_bulk_tensor_2d(to + T::A_FLOATS, B_map, f->tile_col * T::BN,
                                f->block_k * T::BK, come);
    }
    ++f->block_k;
    next_stage<T>(&f->stage);
}

#endif
