/* The CUDA threads that run together, as fibers: what each waits for, and how it gives
 * the processor back. */
#ifndef FIBERS_H
#define FIBERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/now.h"

enum emu_state {
    RUNNABLE,
    AT_BARRIER,
    AT_GRID_BARRIER,
    AT_WARP,
    AT_ACTIVE_MASK,
    AT_CONDITION,
    DONE
};

enum emu_stuck { EMU_GIVE_UP, EMU_SAY_WHO, EMU_SAY_WHAT };

struct emu_fiber {
    struct emu_thread seen; /* what everybody may look at */
    void *sp;               /* where to continue; NULL before the first run */
    int stack;              /* -1 without one */
    enum emu_state state;
    const void *pc;     /* of the call that waits */
    int predicate;      /* brought to a barrier */
    unsigned mask;      /* of a warp operation; the result of an active-mask query */
    unsigned came;      /* the lanes that took part in the last warp operation */
    bool orders_memory; /* the warp operation is a __syncwarp */
    const char *kind;   /* of the warp operation, for messages */
    unsigned long long value;
    bool (*ready)(void *); /* of a condition: see emu_wait_until */
    bool (*stuck)(void *, enum emu_stuck how);
    void *condition;

    struct emu_pending_copy *copies; /* async.c */
    unsigned copy_count, copy_capacity, copies_started, groups_committed;
    uint64_t carry;     /* of PTX's add.cc */
    unsigned registers; /* that setmaxnreg asked for; 0: it never did */
    const void *registers_pc;
};

/* Each block of the cluster has whole warps of places here, of which the last may be
 * unused: those are DONE. */
extern struct emu_fiber *emu_fibers;
extern uint3 emu_block_index[EMU_MAX_BLOCKS]; /* blockIdx of each */

static inline struct emu_fiber *emu_running(void)
{
    return (struct emu_fiber *)emu_current;
}

/* The threads of a block of the cluster: places [of, of + emu_now.block_threads). */
static inline struct emu_fiber *emu_fibers_of(unsigned rank)
{
    return emu_fibers + rank * emu_now.block_warps * 32;
}

static inline struct emu_fiber *emu_fibers_end(void)
{
    return emu_fibers + emu_now.places;
}

/* Places and stacks for the threads of emu_now.launch, in clusters of emu_now.blocks. */
void emu_make_fibers(void);
/* The same once more, to be emu_fibers while the threads of those wait. The caller frees
 * them, and the `copies` of each. */
struct emu_fiber *emu_more_fibers(void);
/* Lets the thread run until it waits; and gives its stack back once it has ended. When its
 * kernel has returned, next() is called on its stack, and may have another thread begin
 * there, which costs less than two switches: emu_inherit. */
void emu_enter(struct emu_fiber *f, bool (*next)(void));
void emu_leave(struct emu_fiber *f);
/* The running thread has ended, and the heir, which has not begun, runs from now on. */
void emu_inherit(struct emu_fiber *f, struct emu_fiber *heir);

/* On a fiber: gives the processor back until the thread is made runnable again. */
void emu_wait_as(enum emu_state state, const void *pc);
/* Gives it to the other lanes; the caller stays runnable. */
void emu_yield(void);
/* Ends the running thread. */
void emu_thread_exit(void) __attribute__((noreturn));
/* Parks the running thread until ready(what) holds; asked again whenever other threads
 * have run. When nobody else can go on, stuck(what, how) is called as each waiting thread
 * in turn: who may give up returns true and goes on, and then this returns. If none does,
 * those say so who wait for threads by name, since there the mistake is, and at last all.
 */
void emu_wait_until(bool (*ready)(void *what),
                    bool (*stuck)(void *what, enum emu_stuck how), void *what);
/* Those of the lanes, a bit each, that wait for a condition that does not hold; whose
 * holds goes on. */
unsigned emu_parked_lanes(struct emu_fiber *lanes, unsigned count);
/* Asks those who wait for a condition that nobody can bring about. Returns whether one
 * can go on now. */
bool emu_give_up_conditions(enum emu_stuck how);

bool emu_block_has_ended(unsigned rank);
/* Whether a thread that has ended is missed where others meet. The hardware does without
 * it; the next change to the kernel may not. */
bool emu_counts_the_ended(void);
/* "(1,0,0)", and the block if there are several. */
void emu_name_thread(unsigned linear, char *text, size_t size);

#endif
