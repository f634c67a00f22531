/* Vector clocks: what mbarriers and their kin order. */
#ifndef CLOCKS_H
#define CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/now.h"
#include "memory/touch.h"

/* A row is what somebody knows of the others: row[u] is the time up to which all that u
 * did lies before all that the row's owner does from now on. The columns behind the
 * threads' places are the slots': of a bulk copy that of the mbarrier that it reports to. */
enum { EMU_CLOCK_THREADS = 1024, EMU_CLOCK_COLUMNS = EMU_CLOCK_THREADS + EMU_SLOTS };
struct emu_clocks {
    bool on;             /* the block has something with a slot */
    bool reads_by_proxy; /* and some of it for the asynchronous proxy */
    bool crowded;        /* a cluster of more threads than races are looked for among */
    unsigned slots;      /* that the block has used */
    uint32_t (*rows)[EMU_CLOCK_COLUMNS]; /* the threads' first */
};
extern struct emu_clocks emu_clocks;

void emu_clocks_block_begins(void);
void emu_clocks_forget(void); /* time begins again */

/* The time up to which the other, or the slot, has told this thread what it did; 0: none.
 */
static inline uint32_t emu_clock_of(unsigned thread, unsigned other)
{
    return emu_clocks.on ? emu_clocks.rows[thread][other] : 0;
}
static inline uint32_t emu_clock_of_slot(unsigned thread, unsigned slot)
{
    return emu_clock_of(thread, emu_now.places + slot);
}

/* A new slot, of the 512 that a block has. */
unsigned emu_check_slot(const void *pc);
/* The part of the clocks in what handover.h tells of a slot's barrier. */
void emu_clocks_arrived(unsigned slot);
void emu_clocks_passed(unsigned slot);
/* The barrier's phase is over: those who have waited for it come after who arrived. */
void emu_check_mbarrier_over(unsigned slot);
/* What reports to the slot's barrier has come. */
void emu_clocks_copy_came(unsigned slot);
/* What the asynchronous proxy read for the slot up to that time is read. */
void emu_check_async_done(unsigned slot, uint32_t time);

/* These threads have met, or these lanes; and what any was told of the slots, all know.
 */
void emu_clocks_join_threads(unsigned first, unsigned count);
void emu_clocks_join_lanes(unsigned warp, unsigned lanes);
void emu_clocks_share_slots(void);

#endif
