/* Who runs now. What launches kernels and switches between threads says so (launch.c,
 * fibers.c); everybody else reads it. */
#ifndef NOW_H
#define NOW_H

#include <stdbool.h>

#include "cuda_runtime.h"
#include "emulator_runtime.h"

/* That run together: up to 16 blocks are a cluster. */
#define EMU_MAX_BLOCKS 16
#define EMU_MAX_THREADS (EMU_MAX_BLOCKS * 1024)
#define EMU_MAX_WARPS (EMU_MAX_THREADS / 32)

enum {
    EMU_IDLE = 1,      /* no block runs, or nothing is checked */
    EMU_SUSPICION = 2, /* one waits for it: race.c */
    EMU_WATCHED = 4,   /* its thread is: endless.c */
    EMU_LENS = 8       /* so does the lens */
};
/* Why an access is not looked at for itself only. */
extern volatile unsigned emu_attention;
/* Where the running thread's own variables lie, of which nobody wants to know, and in how
 * many bytes: 0 while some hold the sums of a wgmma (registers.c). */
extern char *emu_own_low;
extern size_t emu_own_bytes;
struct emu_now {
    const struct emu_launch *launch; /* NULL: no kernel is running */
    uint3 block;                     /* blockIdx of the running thread */
    uint3 cluster;          /* how the blocks lie that run together, as one cluster, */
    unsigned blocks;        /* and how many they are; 1 in most kernels */
    unsigned block_threads; /* of each of them */
    unsigned block_warps;   /* of which the last may not be whole */
    unsigned places;        /* for threads: whole warps of them for each block */
    unsigned threads_left;  /* that have not ended */
    unsigned parked;        /* that wait for a condition: see emu_wait_until */
    bool lens_looks;  /* LENS is set, and the running block is one of those looked at */
    bool own_watched; /* somebody does want to know of own variables */
    unsigned long long pauses; /* changes whenever a thread gives way to another, reads
                                  the clock, or arrives at a barrier */
    unsigned long long steps; /* how often a thread has stopped that had done something */
    unsigned long long blocks_outside; /* of the launch, that wait for room on the GPU */
    bool unrepeatable;                 /* the launch does more than store: see repeat.c */
};
extern struct emu_now emu_now;

struct emu_thread {  /* a CUDA thread */
    unsigned linear; /* its place among those that run together: threadIdx.x + threadIdx.y
                        * blockDim.x + ..., if its block is the only one */
    unsigned rank;   /* of the block in its cluster */
    unsigned warp;   /* among those that run together; block_warp in the block */
    unsigned block_warp, lane;
    uint3 index;
    char *stack_low, *stack_high;
    unsigned shared_loads; /* with the lens: so far */
};
/* The one that is running; NULL in host code, and so in every other thread of the host.
 */
extern _Thread_local struct emu_thread *emu_current;

/* Is it one of the running thread's own variables, or a parameter of its kernel's? */
static inline bool emu_is_own(const volatile void *p)
{
    return (const char *)p >= emu_current->stack_low &&
           (const char *)p < emu_current->stack_high;
}

/* threadIdx and its companions, as the headers name them. */
extern uint3 emu_thread_idx, emu_block_idx, emu_block_dim, emu_grid_dim;

/* Threads of the host that launch, allocate or copy do so one after the other: at the top
 * of a function, until its end. The thread that runs a kernel may do so again. */
#define EMU_ALONE                                                                        \
    __attribute__((cleanup(emu_let_others), unused)) const bool alone = emu_be_alone()
bool emu_be_alone(void);
void emu_let_others(const bool *alone);

#endif
