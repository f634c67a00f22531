/* The CUDA threads that run together. Each is a fiber, and one operating-system thread
 * runs them all, one after the other: each until it needs the others (a barrier, a warp
 * operation) or ends. That makes every run repeat itself exactly, faults included, and
 * costs little: a switch between fibers takes a few nanoseconds. */
#include "block/fibers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/now.h"
#include "base/room.h"
#include "base/settings.h"
#include "block/stacks.h"
#include "emulator_runtime.h"

enum { WARP = 32 };

struct emu_fiber *emu_fibers;
uint3 emu_block_index[EMU_MAX_BLOCKS];
static unsigned places_made;
static void *scheduler_sp;

void emu_make_fibers(void)
{
    const struct emu_launch *launch = emu_now.launch;
    emu_now.block_threads = launch->block[0] * launch->block[1] * launch->block[2];
    emu_now.block_warps = (emu_now.block_threads + WARP - 1) / WARP;
    emu_now.places = emu_now.blocks * emu_now.block_warps * WARP;
    emu_make_stacks(emu_now.blocks * emu_now.block_threads);
    if (places_made < emu_now.places) {
        for (unsigned i = 0; i < places_made; i++) free(emu_fibers[i].copies);
        free(emu_fibers);
        places_made = emu_now.places;
        emu_fibers =
            emu_zeros("for the threads of a block", places_made, sizeof *emu_fibers);
    }
    for (unsigned rank = 0; rank < emu_now.blocks; rank++)
        for (unsigned i = 0; i < emu_now.block_warps * WARP; i++) {
            struct emu_fiber *place = emu_fibers_of(rank) + i;
            struct emu_thread *t = &place->seen;
            place->state = DONE; /* as those remain that no thread has */
            place->copy_count = 0;
            t->linear = (unsigned)(place - emu_fibers);
            t->rank = rank;
            t->warp = t->linear / WARP;
            t->block_warp = i / WARP;
            t->lane = i % WARP;
            t->index.x = i % launch->block[0];
            t->index.y = i / launch->block[0] % launch->block[1];
            t->index.z = i / launch->block[0] / launch->block[1];
        }
}

struct emu_fiber *emu_more_fibers(void)
{
    struct emu_fiber *const more =
        emu_zeros("for the threads of a grid", places_made, sizeof *emu_fibers);
    for (unsigned i = 0; i < emu_now.places; i++) {
        more[i].seen = emu_fibers[i].seen;
        more[i].state = DONE;
    }
    emu_make_stacks(emu_now.blocks * emu_now.block_threads);
    return more;
}

/* ---- running and waiting ---- */

void emu_thread_exit(void)
{
    emu_running()->state = DONE;
    void *never;
    emu_switch(&never, scheduler_sp);
    __builtin_unreachable();
}

static bool (*next_thread)(void);

static void fiber_main(void)
{
    do {
        emu_now.launch->run(emu_now.launch->arguments);
    } while (next_thread());
    emu_thread_exit();
}

static void become(struct emu_fiber *f)
{
    emu_current = &f->seen;
    emu_own_low = f->seen.stack_low;
    emu_own_bytes =
        emu_now.own_watched ? 0 : (size_t)(f->seen.stack_high - f->seen.stack_low);
    emu_thread_idx = f->seen.index;
    emu_now.block = emu_block_idx = emu_block_index[f->seen.rank];
    emu_now.pauses++;
}

void emu_enter(struct emu_fiber *f, bool (*next)(void))
{
    next_thread = next;
    if (!f->sp) {
        f->stack = emu_take_stack(&f->seen.stack_low, &f->seen.stack_high);
        f->sp = emu_first_frame(f->seen.stack_high, fiber_main);
    }
    become(f);
    emu_switch(&scheduler_sp, f->sp);
}

void emu_leave(struct emu_fiber *f)
{
    emu_current = NULL;
    if (f->state != DONE) return;
    emu_now.threads_left--;
    emu_give_stack(f->stack);
    f->stack = -1;
}

void emu_inherit(struct emu_fiber *f, struct emu_fiber *heir)
{
    emu_now.threads_left--;
    heir->stack = f->stack;
    heir->seen.stack_low = f->seen.stack_low;
    heir->seen.stack_high = f->seen.stack_high;
    f->stack = -1;
    become(heir);
}

void emu_wait_as(enum emu_state state, const void *pc)
{
    struct emu_fiber *t = emu_running();
    t->state = state;
    t->pc = pc;
    emu_switch(&t->sp, scheduler_sp);
}

void emu_yield(void)
{
    emu_wait_as(RUNNABLE, NULL);
}

void emu_wait_until(bool (*ready)(void *), bool (*stuck)(void *, enum emu_stuck),
                    void *condition)
{
    if (ready(condition)) return;
    struct emu_fiber *t = emu_running();
    t->ready = ready;
    t->stuck = stuck;
    t->condition = condition;
    emu_now.parked++;
    emu_wait_as(AT_CONDITION, NULL);
}

unsigned emu_parked_lanes(struct emu_fiber *lanes, unsigned count)
{
    unsigned which = 0;
    for (unsigned lane = 0; emu_now.parked > 0 && lane < count; lane++) {
        if (lanes[lane].state != AT_CONDITION) continue;
        if (lanes[lane].ready(lanes[lane].condition)) {
            lanes[lane].state = RUNNABLE;
            emu_now.parked--;
        } else {
            which |= 1u << lane;
        }
    }
    return which;
}

bool emu_give_up_conditions(enum emu_stuck how)
{
    bool any = false;
    for (struct emu_fiber *t = emu_fibers; emu_now.parked > 0 && t < emu_fibers_end();
         t++) {
        if (t->state != AT_CONDITION) continue;
        emu_current = &t->seen;
        emu_now.block = emu_block_index[t->seen.rank];
        if (!t->stuck(t->condition, how)) continue;
        t->state = RUNNABLE;
        emu_now.parked--;
        any = true;
    }
    emu_current = NULL;
    return any;
}

/* ---- questions ---- */

bool emu_block_has_ended(unsigned rank)
{
    for (const struct emu_fiber *t = emu_fibers_of(rank);
         t < emu_fibers_of(rank) + emu_now.block_threads; t++)
        if (t->state != DONE) return false;
    return true;
}

bool emu_counts_the_ended(void)
{
    return emu_settings.check && emu_settings.strict;
}

void emu_name_thread(unsigned linear, char *text, size_t size)
{
    const struct emu_thread *t = &emu_fibers[linear].seen;
    const uint3 block = emu_block_index[t->rank];
    if (emu_now.blocks == 1)
        snprintf(text, size, "(%u,%u,%u)", t->index.x, t->index.y, t->index.z);
    else
        snprintf(text, size, "(%u,%u,%u) of block (%u,%u,%u)", t->index.x, t->index.y,
                 t->index.z, block.x, block.y, block.z);
}
