/* What orders the accesses of a block's threads: time, which steps on at each of their
 * barriers; __syncwarp(), which orders a warp or some of its lanes; clocks, and what
 * fences hand over. */
#include "watch/order.h"

#include <string.h>

#include "base/now.h"
#include "base/room.h"
#include "memory/streams.h"
#include "memory/touch.h"
#include "watch/clocks.h"
#include "watch/handover.h"

enum { WARP = 32 };

uint16_t emu_warp_order[EMU_MAX_WARPS];
struct touch emu_self;
/* Since its last __syncwarp() of all lanes, a warp may have had some of only a few. Then
 * [warp][b][a] is the warp's order from which on a's accesses are not ordered before what
 * b does now; what came before is. */
static uint16_t (*lane_order)[WARP][WARP];
static bool partly_ordered[EMU_MAX_WARPS]; /* it has, and its part of that is valid */

void emu_order_block_begins(unsigned warps)
{
    if (!lane_order)
        lane_order =
            emu_zeros("for watching shared memory", EMU_MAX_WARPS, sizeof *lane_order);
    memset(emu_warp_order, 0, warps * sizeof *emu_warp_order);
    memset(partly_ordered, 0, sizeof partly_ordered);
}

/* Whether a __syncwarp() of some lanes orders the earlier access before the present one
 * of the same warp. */
static bool ordered_in_part(const struct touch *earlier, const struct touch *now)
{
    return earlier->order <
           lane_order[now->thread / WARP][now->thread % WARP][earlier->thread % WARP];
}

/* The earlier access was behind the last barrier. */
bool emu_unordered_in_interval(const struct touch *earlier, const struct touch *now)
{
    if (emu_clocks.crowded) return false;
    if (emu_clocks.on &&
        earlier->time <= (emu_is_bulk(earlier)
                              ? emu_clock_of_slot(now->thread, earlier->order - BULK)
                              : emu_clock_of(now->thread, earlier->thread)))
        return false;
    if (earlier->thread == now->thread && !emu_is_bulk(earlier)) return false;
    if (!(earlier->bytes & now->bytes) || (earlier->strong && now->strong)) return false;
    if (earlier->thread / WARP == now->thread / WARP && earlier->order != now->order &&
        !emu_is_bulk(earlier) &&
        (!partly_ordered[now->thread / WARP] || ordered_in_part(earlier, now)))
        return false;
    return !emu_fenced || emu_is_bulk(earlier) ||
           emu_handed_over(earlier, now) != HANDED_OVER;
}

/* ---- who meets ---- */

static void begin_interval(void)
{
    if (emu_fenced) emu_handover_barrier();
    emu_times.interval = ++emu_times.now;
    emu_times.quick = emu_clocks.on ? 0 : emu_times.interval;
}

void emu_check_barrier_passed(unsigned first, unsigned count)
{
    if (emu_some_have_waited) emu_tell_of_waiting(first, count);
    if (emu_clocks.crowded) return;
    if (emu_now.blocks > 1) {
        if (emu_clocks.on) emu_clocks_join_threads(first, count);
        return;
    }
    if (emu_clocks.on && emu_clocks.reads_by_proxy) emu_clocks_share_slots();
    begin_interval();
}

/* Each of the lanes learns what any of them knew. */
static void order_lanes(unsigned warp, unsigned lanes)
{
    const uint16_t now = emu_warp_order[warp];
    uint16_t known[WARP] = {0};
    if (!partly_ordered[warp])
        for (unsigned b = 0; b < WARP; b++)
            for (unsigned a = 0; a < WARP; a++)
                lane_order[warp][b][a] = (uint16_t)(now - 1);
    partly_ordered[warp] = true;
    for (unsigned rest = lanes; rest; rest &= rest - 1) {
        const uint16_t *row = lane_order[warp][__builtin_ctz(rest)];
        for (unsigned a = 0; a < WARP; a++)
            known[a] = lanes >> a & 1 ? now : row[a] > known[a] ? row[a] : known[a];
    }
    for (unsigned rest = lanes; rest; rest &= rest - 1)
        memcpy(lane_order[warp][__builtin_ctz(rest)], known, sizeof known);
}

void emu_check_warp_met(unsigned warp, unsigned lanes)
{
    if (emu_some_have_waited) emu_tell_of_waiting(warp * WARP, WARP);
    if (emu_fenced) emu_handover_lanes(warp, lanes, false);
}

void emu_check_warp_ordered(unsigned warp, unsigned lanes)
{
    if (emu_some_have_waited) emu_tell_of_waiting(warp * WARP, WARP);
    if (++emu_warp_order[warp] == BULK) {
        /* The numbers are used up. To begin anew as if this were a barrier may miss a
         * race, and never invents one. */
        begin_interval();
        emu_warp_order[warp] = 0;
        partly_ordered[warp] = false;
    } else if (lanes == ~0u) {
        partly_ordered[warp] = false;
    } else {
        order_lanes(warp, lanes);
    }
    emu_handover_lanes(warp, lanes, true);
    if (emu_clocks.on) emu_clocks_join_lanes(warp, lanes);
}
