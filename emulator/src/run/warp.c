/* Warp operations (shuffles, votes, __syncwarp, __activemask), and how a warp's lanes
 * take turns: each runs until it waits; an operation goes on when every lane that it
 * names has come. */
#include "run/warp.h"

#include <string.h>

#include "base/now.h"
#include "base/room.h"
#include "base/settings.h"
#include "base/source.h"
#include "block/fibers.h"
#include "emulator_runtime.h"
#include "run/barrier.h"
#include "watch/lens.h"
#include "watch/order.h"
#include "watch/race.h"

enum { WARP = 32 };

/* Of each warp, what its lanes brought to the last one. */
typedef unsigned long long values[WARP];
EMU_TABLE(values, exchanged, EMU_MAX_WARPS);

static unsigned lanes_of(unsigned warp)
{
    unsigned left = emu_now.block_threads - warp % emu_now.block_warps * WARP;
    return left < WARP ? left : WARP;
}

static unsigned present_lanes(unsigned warp)
{
    return ~0u >> (WARP - lanes_of(warp));
}

/* Every lane of the mask waits: in one operation? PTX asks for the same one, with the same
 * mask, and not for the same place. But who reaches a shuffle in two places rarely means
 * it, so only __syncwarp() may be called from several where mistakes are looked for (CUDA
 * C++ programming guide, "Warp Synchronization Function": since compute capability 7.0 it
 * need not be the same one). */
static void check_operation(struct emu_fiber *first, const struct emu_fiber *other)
{
    const bool same_kind =
        other->kind == first->kind || strcmp(other->kind, first->kind) == 0;
    if (same_kind && (first->orders_memory || !emu_settings.strict ||
                      emu_same_line(first->pc, other->pc)))
        return;
    struct emu_place there = emu_source_of(other->pc);
    emu_current = &first->seen;
    emu_fault(first->pc,
              "warp divergence: lane %u waits in %s here while lane %u waits in %s at "
              "%s:%d; all lanes of the mask 0x%08x must meet in the same call",
              first->seen.lane, first->kind, other->seen.lane, other->kind, there.file,
              there.line, first->mask);
}

/* Lets the operation go on if every lane it names has come. A lane that has ended will
 * never come; the hardware does without it, and so do we where nobody wants mistakes to
 * be found. */
static bool release_operation(unsigned warp, struct emu_fiber *waiting)
{
    struct emu_fiber *lanes = emu_fibers + warp * WARP;
    const unsigned mask = waiting->mask, count = lanes_of(warp);
    unsigned came = 0;
    bool same = true;
    for (unsigned lane = 0; lane < count; lane++) {
        const struct emu_fiber *t = &lanes[lane];
        if (!(mask >> lane & 1) || (t->state == DONE && !emu_counts_the_ended()))
            continue;
        if (t->state != AT_WARP || t->mask != mask) return false;
        came |= 1u << lane;
        same &= t->pc == waiting->pc && t->kind == waiting->kind;
    }
    for (unsigned lane = 0; lane < count && !same && emu_settings.check; lane++)
        if (came >> lane & 1) check_operation(waiting, &lanes[lane]);
    if (waiting->orders_memory)
        emu_check_warp_ordered(warp, came | ~present_lanes(warp));
    else
        emu_check_warp_met(warp, came);
    if (emu_now.lens_looks && !waiting->orders_memory) emu_lens_warp_exchange();
    for (unsigned lane = 0; lane < count; lane++)
        if (came >> lane & 1) {
            exchanged[warp][lane] = lanes[lane].value;
            lanes[lane].came = came;
            lanes[lane].state = RUNNABLE;
        }
    return true;
}

static bool release_active_masks(unsigned warp)
{
    struct emu_fiber *lanes = emu_fibers + warp * WARP;
    bool released = false;
    unsigned count = lanes_of(warp);
    for (unsigned lane = 0; lane < count; lane++) {
        if (lanes[lane].state != AT_ACTIVE_MASK) continue;
        unsigned mask = 0;
        for (unsigned other = 0; other < count; other++)
            if (lanes[other].state == AT_ACTIVE_MASK && lanes[other].pc == lanes[lane].pc)
                mask |= 1u << other;
        for (unsigned other = 0; other < count; other++)
            if (mask >> other & 1) {
                lanes[other].state = RUNNABLE;
                lanes[other].mask = mask;
            }
        released = true;
    }
    return released;
}

/* The next lane begins where this one ends, if it is that one's turn: most threads never
 * wait for others. */
static bool next_lane(void)
{
    struct emu_fiber *const f = emu_running(), *const next = f + 1;
    if (emu_now.lens_looks || emu_now.parked > 0 || f->seen.lane == WARP - 1 ||
        next->state != RUNNABLE || next->sp)
        return false;
    f->state = DONE;
    emu_now.steps++;
    emu_check_thread_stops();
    emu_order_thread_runs(&next->seen);
    emu_inherit(f, next);
    emu_barriers_thread_ends(&f->seen);
    return true;
}

/* Until the lane, or one that has begun where it ended, waits or ends. */
static void resume(struct emu_fiber *f)
{
    emu_order_thread_runs(&f->seen);
    emu_enter(f, next_lane);
    f = emu_running();
    emu_now.steps += f->state != RUNNABLE;
    emu_check_thread_stops();
    emu_leave(f);
    if (f->state == DONE) emu_barriers_thread_ends(&f->seen);
}

bool emu_run_warp(unsigned warp, bool apart)
{
    struct emu_fiber *lanes = emu_fibers + warp * WARP;
    const unsigned count = lanes_of(warp);
    bool ran = false;
    if (emu_now.lens_looks) emu_lens_warp_begins(warp);
    for (;;) {
        bool waiting = false, asking = false, released = false;
        unsigned can_continue = 0;
        unsigned waits = emu_parked_lanes(lanes, count);
        if (waits && !apart) return ran;
        for (unsigned lane = 0; lane < count; lane++) {
            if (lanes[lane].state == RUNNABLE && (apart || !waits)) {
                /* The next one's stack has mostly left the first cache. */
                if (lane + 1 < count) __builtin_prefetch(lanes[lane + 1].sp);
                resume(&lanes[lane]);
                ran = true;
            }
            waits |= (unsigned)(lanes[lane].state == AT_CONDITION) << lane;
            can_continue |= (unsigned)(lanes[lane].state == RUNNABLE) << lane;
            waiting |= lanes[lane].state == AT_WARP;
            asking |= lanes[lane].state == AT_ACTIVE_MASK;
        }
        if (emu_now.lens_looks)
            emu_lens_merge(warp, apart ? can_continue : can_continue | waits);
        if (can_continue) continue;
        if (waits && !apart) continue;
        if (waiting)
            for (unsigned lane = 0; lane < count; lane++)
                if (lanes[lane].state == AT_WARP)
                    released |= release_operation(warp, &lanes[lane]);
        if (!released && asking) released = release_active_masks(warp);
        if (!released) return ran;
    }
}

unsigned emu_ended_lanes(const struct emu_fiber *t)
{
    const struct emu_fiber *lanes = emu_fibers + t->seen.warp * WARP;
    unsigned ended = 0, count = lanes_of(t->seen.warp);
    for (unsigned lane = 0; lane < count; lane++)
        ended |= (unsigned)(lanes[lane].state == DONE) << lane;
    return emu_counts_the_ended() ? ended & t->mask : 0;
}

void emu_fault_stuck_warp(struct emu_fiber *t)
{
    const struct emu_fiber *lanes = emu_fibers + t->seen.warp * WARP;
    const unsigned gone = emu_ended_lanes(t), count = lanes_of(t->seen.warp);
    unsigned missing = 0;
    for (unsigned lane = 0; lane < count; lane++)
        if (t->mask >> lane & 1 && lanes[lane].state != DONE &&
            (lanes[lane].state != AT_WARP || lanes[lane].mask != t->mask))
            missing |= 1u << lane;
    emu_current = &t->seen;
    if (gone)
        emu_fault(t->pc,
                  "%s names lanes that do not exist or have ended: mask 0x%08x, of which "
                  "0x%08x never come",
                  t->kind, t->mask, gone);
    emu_fault(t->pc,
              "warp divergence: %s waits for lanes 0x%08x of its mask 0x%08x, and they "
              "never reach it",
              t->kind, missing, t->mask);
}

/* ---- the lanes' side ---- */

const unsigned long long *emu_warp_gather(unsigned mask, unsigned long long value,
                                          const char *kind, const void *pc)
{
    struct emu_fiber *t = emu_running();
    if (!(mask >> t->seen.lane & 1))
        emu_fault(pc, "%s: the calling lane %u is not in its own mask 0x%08x", kind,
                  t->seen.lane, mask);
    t->mask = mask;
    t->value = value;
    t->kind = kind;
    t->orders_memory = false;
    emu_wait_as(AT_WARP, pc);
    return exchanged[t->seen.warp];
}

const unsigned long long *emu_warp_gather_whole(unsigned long long value,
                                                const char *kind, const void *pc)
{
    const unsigned long long *brought = emu_warp_gather(~0u, value, kind, pc);
    if (emu_running()->came != ~0u)
        emu_fault(pc, "%s is carried out by all 32 lanes of a warp, and here are 0x%08x",
                  kind, emu_running()->came);
    return brought;
}

const unsigned long long *emu_warp_exchange(unsigned mask, unsigned long long value,
                                            const char *kind)
{
    return emu_warp_gather(mask, value, kind, __builtin_return_address(0));
}

unsigned long long emu_warp_shuffle(unsigned mask, unsigned long long value,
                                    unsigned from, const char *kind)
{
    const unsigned long long *all =
        emu_warp_gather(mask, value, kind, __builtin_return_address(0));
    from %= WARP;
    return emu_running()->came >> from & 1 ? all[from] : ~0ull;
}

void emu_warp_sync(unsigned mask)
{
    const void *pc = __builtin_return_address(0);
    struct emu_fiber *t = emu_running();
    if (!(mask >> t->seen.lane & 1))
        emu_fault(pc, "__syncwarp: the calling lane %u is not in its own mask 0x%08x",
                  t->seen.lane, mask);
    /* The full mask on a block's last, partial warp means the lanes that exist. */
    t->mask = mask & present_lanes(t->seen.warp);
    t->kind = "__syncwarp";
    t->orders_memory = true;
    emu_wait_as(AT_WARP, pc);
}

unsigned emu_lanes_that_came(void)
{
    return emu_running()->came;
}

unsigned emu_active_mask(void)
{
    emu_wait_as(AT_ACTIVE_MASK, __builtin_return_address(0));
    return emu_running()->mask;
}

unsigned emu_lane(void)
{
    return emu_current ? emu_current->lane : 0;
}
unsigned emu_warp(void)
{
    return emu_current ? emu_current->block_warp : 0;
}

/* A thread that does nothing but ask, again and again, waits for a time to come: it need
 * not be counted to, and what is left of it is not known, so each step is twice the last. */
unsigned long long emu_clock(void)
{
    enum { PATIENCE = 16, DOUBLINGS = 16 };
    static unsigned long long last;
    static unsigned in_a_row;
    in_a_row = emu_now.pauses == last ? in_a_row + 1 : 0;
    emu_now.unrepeatable = true;
    const unsigned beyond = in_a_row > PATIENCE ? in_a_row - PATIENCE : 0;
    emu_now.pauses += 1ull << (beyond < DOUBLINGS ? beyond : DOUBLINGS);
    return last = emu_now.pauses;
}
