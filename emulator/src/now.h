/* Who runs now. launch.c says so; everybody else reads it. */
#ifndef NOW_H
#define NOW_H

#include <stdbool.h>

#include "cuda_runtime.h"
#include "emulator_runtime.h"

struct emu_thread {  /* the CUDA thread that is running */
    unsigned linear; /* its place among those that run together: threadIdx.x + threadIdx.y
                        * blockDim.x + ..., if its block is the only one */
    unsigned rank;   /* of the block in its cluster */
    unsigned warp;   /* among those that run together; block_warp in the block */
    unsigned block_warp, lane;
    uint3 index;
    char *stack_low, *stack_high;
};
extern _Thread_local struct emu_thread *emu_current; /* NULL in host code */
extern const struct emu_launch *emu_current_launch;
extern uint3 emu_current_block; /* blockIdx */
/* threadIdx and its companions, as the headers name them. */
extern uint3 emu_thread_idx, emu_block_idx, emu_block_dim, emu_grid_dim;

/* Threads of the host that launch, allocate or copy do so one after the other: at the top
 * of a function, until its end. The thread that runs a kernel may do so again. */
#define EMU_ALONE                                                                        \
    __attribute__((cleanup(emu_let_others), unused)) const bool alone = emu_be_alone()
bool emu_be_alone(void);
void emu_let_others(const bool *alone);

#endif
