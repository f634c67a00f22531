/* What the parts of the checker share.
 *
 *   check.c     sees every access; knows what may be accessed, and shared memory
 *   global.c    who has touched each word of global memory, and whether it holds a value
 *   handover.c  what fences and atomics hand from one thread to another
 */
#ifndef CHECK_H
#define CHECK_H

#include "emulator.h"

/* ---- check.c ---- */
struct touch emu_touch_now(enum emu_access kind, const void *pc);
const void *emu_touch_pc(const struct touch *touch);
/* Whether nothing orders the earlier access, in the running block, before this one. */
bool emu_unordered(const struct touch *earlier, const struct touch *now);
/* The time up to which mbarriers have handed this thread what the other did; 0: none. */
uint32_t emu_clock_of(unsigned thread, unsigned other);
/* A write of the running thread to `bytes` of a word (one bit each), which races with an
 * earlier access that did `did`, unless it stores what is there already. That is seen
 * when it has happened, so the suspicion waits for the thread's next event. */
void emu_suspect(char *word, uint8_t bytes, const struct touch *earlier, const char *did,
                 const struct touch *now);
/* A plain read of what an atomic of another thread wrote: a race, unless the thread goes
 * on with an atomic on the same word. */
void emu_doubt(char *word, const struct touch *write, const struct touch *read);
void emu_dispel_doubt(const char *word);
const char *emu_thread_name(unsigned linear); /* "(1,0,0)" */
__attribute__((noreturn)) void emu_fault_race(const char *p, const struct touch *earlier,
                                              const char *did, const struct touch *now,
                                              const char *does);

/* ---- global.c ---- */
/* An access of the running thread, at p, `offset` bytes into the allocation, inside it
 * and aligned to n if n is a power of two up to 16. */
void emu_global_access(struct emu_shadow *shadow, size_t offset, char *p, size_t n,
                       enum emu_access kind, const void *pc);
/* Forgets who has touched what: time begins again. */
void emu_forget_touches(void);
/* The shadow of the program's variables among which p is, or NULL. */
struct emu_shadow *emu_variable_shadow(const char *p, size_t *offset);
void emu_global_fault_race(const char *p, const struct touch *earlier, const char *did,
                           const struct touch *now, const char *does)
    __attribute__((noreturn));

/* ---- handover.c ---- */
extern bool emu_fenced; /* a thread of this launch has executed a fence */
void emu_handover_launch_begins(void);
void emu_handover_block_begins(void);
void emu_handover_barrier(void);
/* These lanes have met, in a __syncwarp() if `ordered`, else in a shuffle or a vote. */
void emu_handover_lanes(unsigned warp, unsigned lanes, bool ordered);
/* A strong access of the running thread. */
void emu_handover_strong(const char *p, enum emu_access kind);
enum emu_handover { NOT_HANDED_OVER, RELEASED_TOO_LITTLE, NOT_ACQUIRED, HANDED_OVER };
/* Whether, by fences and what they order, the earlier access lies before the present one.
 */
enum emu_handover emu_handed_over(const struct touch *earlier, const struct touch *now);
/* The time at which the block began in which something happened, and its number in the
 * launch. */
uint32_t emu_block_at(uint32_t time, size_t *number);

#endif
