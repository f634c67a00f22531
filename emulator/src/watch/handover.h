/* What fences and atomics hand from one thread to another. */
#ifndef HANDOVER_H
#define HANDOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/touch.h"

/* A thread of this launch has executed a fence; and one that reaches beyond its block. */
extern bool emu_fenced, emu_fenced_for_all;
void emu_handover_launch_begins(void);
void emu_handover_block_begins(void);
void emu_handover_barrier(void);
/* All that the running thread has done, and knows to be done, comes before what those do
 * who wait for this phase of the slot's barrier (emu_check_mbarrier_over), and for which
 * the running thread has waited. Of what fences and atomics have taught it, what was left
 * for the next phase counts too: a race may be missed, and none is invented. */
void emu_check_mbarrier_arrived(unsigned slot);
void emu_check_mbarrier_passed(unsigned slot);
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
