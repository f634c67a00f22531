/* Shared memory of other blocks of the cluster may be used only as long as its block is
 * there. When blocks end here is chance: so that a use came earlier says nothing. It counts
 * if a thread of that block knew of it at its end: by an mbarrier at which the user arrived,
 * or the cluster's barrier. (Which of both says `relaxed`, and so hands over no memory, is
 * no matter: it is not about what was written.) Of each thread and neighbour the last use is
 * kept. What fences and flags in global memory tell is not looked at: then all counts as
 * known. And a bulk copy is waited for or not, which inflight.c knows. */
#include "watch/neighbours.h"

#include <string.h>

#include "base/now.h"
#include "base/room.h"
#include "base/settings.h"
#include "block/fibers.h"
#include "block/shared.h"
#include "memory/touch.h"
#include "watch/clocks.h"
#include "watch/handover.h"

static struct use { /* time 0: none, or known to be over */
    uint32_t time;
    const void *pc;
} (*uses)[EMU_CLOCK_THREADS]; /* of each block's memory */
static bool used[EMU_MAX_BLOCKS];
/* When each thread last arrived at the cluster's barrier. */
static uint32_t arrivals[EMU_CLOCK_THREADS];

static void fault_ended(unsigned owner, const char *how, const void *pc)
{
    emu_fault(pc,
              "shared memory of block %u of the cluster, which %s: a block must stay "
              "until the others are done with its memory (a barrier.cluster, or "
              "cluster.sync(), at its end; or a wait for the mbarriers at which they "
              "arrive)",
              owner, how);
}

void emu_neighbour_is_used(const void *p, enum emu_access kind, const void *pc)
{
    const unsigned owner = emu_shared_rank(p);
    if (owner == emu_current->rank) return;
    if (emu_block_has_ended(owner)) fault_ended(owner, "has ended", pc);
    if (!emu_clocks.on || !emu_settings.strict || kind == EMU_ASYNC_COPY) return;
    if (!uses) uses = emu_zeros("for watching clusters", EMU_MAX_BLOCKS, sizeof *uses);
    if (!used[owner]) memset(uses[owner], 0, emu_now.places * sizeof **uses);
    used[owner] = true;
    uses[owner][emu_current->linear] = (struct use){emu_times.now, pc};
}

void emu_neighbours_arrived(void)
{
    if (emu_clocks.on) arrivals[emu_current->linear] = emu_times.now++;
}

void emu_neighbours_met(void)
{
    const unsigned owner = emu_current->rank;
    if (!used[owner]) return;
    for (unsigned t = 0; t < emu_now.places; t++)
        if (uses[owner][t].time <= arrivals[t]) uses[owner][t].time = 0;
}

void emu_neighbours_cluster_begins(void)
{
    memset(used, 0, sizeof used);
    memset(arrivals, 0, sizeof arrivals);
}

static bool is_known(unsigned owner, unsigned thread, uint32_t time)
{
    const unsigned first = owner * emu_now.block_warps * 32;
    for (unsigned t = first; t < first + emu_now.block_threads; t++)
        if (emu_clock_of(t, thread) >= time) return true;
    return false;
}

void emu_neighbours_cluster_ended(void)
{
    if (emu_fenced) return;
    for (unsigned owner = 0; owner < emu_now.blocks; owner++)
        for (unsigned t = 0; used[owner] && t < emu_now.places; t++) {
            const struct use *const use = &uses[owner][t];
            if (!use->time || is_known(owner, t, use->time)) continue;
            emu_current = (struct emu_thread *)&emu_fibers[t].seen;
            emu_now.block = emu_block_index[emu_current->rank];
            fault_ended(owner, "may have ended by then", use->pc);
        }
}
