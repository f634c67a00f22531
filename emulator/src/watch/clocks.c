/* Vector clocks: what mbarriers, named barriers and clusters order. An mbarrier orders
 * fewer than a barrier of the block: who waited for it comes after those who arrived at
 * it, and nobody else (L. Lamport 1978; C. Flanagan and S. Freund, "FastTrack", 2009).
 *
 * Besides the threads, each slot owns two rows: what those who arrived at it knew, and as
 * much of it as completed phases hand to those who wait. Time never runs back, so nothing
 * here is ever reset. */
#include "watch/clocks.h"

#include <string.h>

#include "base/room.h"
#include "base/settings.h"
#include "emulator_runtime.h"
#include "memory/touch.h"

enum { THREADS = EMU_CLOCK_THREADS, COLUMNS = EMU_CLOCK_COLUMNS, WARP = 32 };

struct emu_clocks emu_clocks;

void emu_clocks_block_begins(void)
{
    emu_clocks.on = emu_clocks.reads_by_proxy = false;
    emu_clocks.slots = 0;
    emu_clocks.crowded = emu_now.places > THREADS;
    emu_times.quick = emu_times.interval;
    if (emu_now.blocks > 1) emu_check_slot(NULL);
}

void emu_clocks_forget(void)
{
    if (emu_clocks.rows)
        memset(emu_clocks.rows, 0, (COLUMNS + EMU_SLOTS) * sizeof *emu_clocks.rows);
}

/* ---- slots ---- */

unsigned emu_check_slot(const void *pc)
{
    if (emu_clocks.slots == EMU_SLOTS)
        emu_fault(pc, "more than %d barriers and users of the copy engine in a block",
                  EMU_SLOTS);
    if (emu_settings.check && !emu_clocks.on && !emu_now.lens_looks &&
        !emu_clocks.crowded) {
        if (!emu_clocks.rows)
            emu_clocks.rows = emu_zeros("for watching barriers", COLUMNS + EMU_SLOTS,
                                        sizeof *emu_clocks.rows);
        emu_clocks.on = true;
        emu_times.quick = 0;
    }
    return emu_clocks.slots++;
}

static uint32_t *arrived_clock(unsigned barrier)
{
    return emu_clocks.rows[THREADS + barrier];
}
static uint32_t *over_clock(unsigned barrier)
{
    return emu_clocks.rows[COLUMNS + barrier];
}

static void join(uint32_t *into, const uint32_t *from)
{
    const unsigned columns = emu_now.places + emu_clocks.slots;
    for (unsigned i = 0; i < columns; i++)
        into[i] = into[i] > from[i] ? into[i] : from[i];
}

static void copy(uint32_t *to, const uint32_t *from)
{
    memcpy(to, from, (emu_now.places + emu_clocks.slots) * sizeof *to);
}

void emu_clocks_arrived(unsigned barrier)
{
    if (!emu_clocks.on) return;
    const unsigned thread = emu_current->linear;
    join(arrived_clock(barrier), emu_clocks.rows[thread]);
    arrived_clock(barrier)[thread] = emu_times.now++;
}

void emu_check_mbarrier_over(unsigned barrier)
{
    if (emu_clocks.on) copy(over_clock(barrier), arrived_clock(barrier));
}

void emu_clocks_passed(unsigned barrier)
{
    if (emu_clocks.on) join(emu_clocks.rows[emu_current->linear], over_clock(barrier));
}

void emu_clocks_copy_came(unsigned slot)
{
    arrived_clock(slot)[emu_now.places + slot] = emu_times.now++;
}

void emu_check_async_done(unsigned slot, uint32_t time)
{
    if (emu_clocks.on) emu_clocks.rows[emu_current->linear][emu_now.places + slot] = time;
}

/* ---- who meets ---- */

/* What any thread was told of the slots, all know behind a barrier. */
void emu_clocks_share_slots(void)
{
    const unsigned threads = emu_now.places;
    for (unsigned s = threads; s < threads + emu_clocks.slots; s++) {
        uint32_t latest = 0;
        for (unsigned t = 0; t < threads; t++)
            latest = emu_clocks.rows[t][s] > latest ? emu_clocks.rows[t][s] : latest;
        for (unsigned t = 0; t < threads; t++) emu_clocks.rows[t][s] = latest;
    }
}

/* In a cluster a block's barrier orders only the block: its threads tell each other. */
void emu_clocks_join_threads(unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        emu_clocks.rows[first + i][first + i] = emu_times.now;
    for (unsigned i = 1; i < count; i++)
        join(emu_clocks.rows[first], emu_clocks.rows[first + i]);
    for (unsigned i = 1; i < count; i++)
        copy(emu_clocks.rows[first + i], emu_clocks.rows[first]);
    emu_times.now++;
}

void emu_clocks_join_lanes(unsigned warp, unsigned lanes)
{
    const unsigned first = warp * WARP, leader = first + (unsigned)__builtin_ctz(lanes);
    for (unsigned rest = lanes; rest; rest &= rest - 1) {
        const unsigned thread = first + (unsigned)__builtin_ctz(rest);
        emu_clocks.rows[thread][thread] = emu_times.now;
        if (thread != leader) join(emu_clocks.rows[leader], emu_clocks.rows[thread]);
    }
    for (unsigned rest = lanes & (lanes - 1); rest; rest &= rest - 1)
        copy(emu_clocks.rows[first + (unsigned)__builtin_ctz(rest)],
             emu_clocks.rows[leader]);
    emu_times.now++;
}
