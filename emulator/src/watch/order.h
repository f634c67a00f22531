/* What orders accesses: time, barriers, __syncwarp(). */
#ifndef ORDER_H
#define ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/now.h"
#include "memory/touch.h"
#include "memory/variables.h"

/* How many __syncwarp() each warp has had. */
extern uint16_t emu_warp_order[EMU_MAX_WARPS];

/* What all plain accesses of the running thread to whole words have in common, until it
 * stops. */
extern struct touch emu_self;
static inline void emu_order_thread_runs(const struct emu_thread *thread)
{
    emu_self = (struct touch){.order = emu_warp_order[thread->warp],
                              .thread = thread->linear & 1023,
                              .bytes = 15};
}
static inline struct touch emu_touch_whole(const void *pc)
{
    const struct touch now = {
        .pc = emu_number_of(pc), .time = emu_times.now, .how = emu_self.how};
    if (now.bytes != 15 || now.strong) __builtin_unreachable();
    return now;
}

/* An access of the running thread, to these bytes of a word. */
static inline struct touch emu_touch_bytes(uint8_t bytes, bool strong, bool in_block,
                                           const void *pc)
{
    return (struct touch){.pc = emu_number_of(pc),
                          .time = emu_times.now,
                          .order = emu_warp_order[emu_current->warp],
                          .thread = emu_current->linear & 1023,
                          .bytes = bytes & 15,
                          .strong = strong,
                          .in_block = in_block};
}
static inline struct touch emu_touch_now(enum emu_access kind, const void *pc)
{
    return emu_touch_bytes(15, (kind & BASIC_KIND) == ATOMIC || kind & VOLATILE,
                           kind & IN_BLOCK, pc);
}

/* Whether nothing orders the earlier access, in the running block, before this one. */
bool emu_unordered_in_interval(const struct touch *earlier, const struct touch *now);
static inline bool emu_unordered(const struct touch *earlier, const struct touch *now)
{
    return earlier->time >= emu_times.interval && emu_unordered_in_interval(earlier, now);
}

void emu_order_block_begins(unsigned warps);
/* What these threads did before is ordered before what they do from now on: `count` of
 * them, from place `first` on. */
void emu_check_barrier_passed(unsigned first, unsigned count);
/* Likewise among these of the warp; all bits: the whole warp. */
void emu_check_warp_ordered(unsigned warp, unsigned lanes);
void emu_check_warp_met(unsigned warp, unsigned lanes); /* in a shuffle or a vote */

#endif
