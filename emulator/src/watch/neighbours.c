/* Shared memory of other blocks of the cluster may be used only as long as its block is
 * there. When blocks end here is chance: so that a use came earlier says nothing. It counts
 * if a thread of that block knew at its end of something that one of the user's block did
 * later: by an mbarrier at which that arrived, the cluster's barrier, or bytes that it sent.
 * (At which of a block's threads one looks is no matter here: a mistake may be missed, and
 * none is invented. Nor whether a barrier is `relaxed`, and so hands over no memory: it is
 * not about what was written.) Of each thread and neighbour the last use is kept. What
 * fences and flags tell is not looked at: then all counts as known. And a bulk copy is
 * waited for or not, which inflight.c knows. */
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
    const void *word;         /* of an atomic, else NULL */
} (*uses)[EMU_CLOCK_THREADS]; /* of each block's memory */
static bool used[EMU_MAX_BLOCKS];
/* When each thread last arrived at the cluster's barrier, in even and in odd rounds: who
 * waits may see that others are one round ahead. */
static uint32_t arrivals[2][EMU_CLOCK_THREADS];

static void fault_ended(unsigned owner, const char *how, const void *pc)
{
    emu_fault(pc,
              "shared memory of block %u of the cluster, which %s: a block must stay "
              "until the others are done with its memory (a barrier.cluster, or "
              "cluster.sync(), at its end; or a wait for the mbarriers at which they "
              "arrive)",
              owner, how);
}

/* Atomics of others on a word are seen by one of the owner's. */
static void see_atomics(unsigned owner, const void *word)
{
    for (unsigned t = 0; t < emu_now.places; t++)
        if (uses[owner][t].word == word) uses[owner][t].time = 0;
}

void emu_neighbour_is_used(const void *p, enum emu_access kind, const void *pc)
{
    const unsigned owner = emu_shared_rank(p);
    if (owner == emu_current->rank) {
        if (used[owner] && (kind & BASIC_KIND) == ATOMIC) see_atomics(owner, p);
        return;
    }
    if (emu_block_has_ended(owner)) fault_ended(owner, "has ended", pc);
    const enum emu_access basic = kind & BASIC_KIND;
    if (!emu_clocks.on || !emu_settings.strict || basic == EMU_ASYNC_COPY) return;
    if (!uses) uses = emu_zeros("for watching clusters", EMU_MAX_BLOCKS, sizeof *uses);
    if (!used[owner]) memset(uses[owner], 0, emu_now.places * sizeof **uses);
    used[owner] = true;
    uses[owner][emu_current->linear] =
        (struct use){emu_times.now, pc, basic == ATOMIC ? p : NULL};
}

void emu_neighbours_arrived(unsigned round)
{
    if (emu_clocks.on) arrivals[round % 2][emu_current->linear] = emu_times.now++;
}

void emu_neighbours_met(unsigned round)
{
    const unsigned owner = emu_current->rank;
    for (unsigned t = 0; used[owner] && t < emu_now.places; t++)
        if (uses[owner][t].time <= arrivals[round % 2][t]) uses[owner][t].time = 0;
}

void emu_neighbours_copy_came(const void *to, unsigned sender)
{
    const unsigned owner = emu_shared_rank(to), threads = emu_now.block_warps * 32;
    const unsigned first = sender / threads * threads;
    for (unsigned t = first; used[owner] && t < first + threads; t++)
        uses[owner][t].time = 0;
}

void emu_neighbours_cluster_begins(void)
{
    if (emu_now.blocks == 1) return;
    memset(used, 0, sizeof used);
    memset(arrivals, 0, sizeof arrivals);
}

static bool is_known(unsigned owner, unsigned thread, uint32_t time)
{
    const unsigned threads = emu_now.block_warps * 32, first = owner * threads,
                   others = thread / threads * threads;
    for (unsigned t = first; t < first + threads; t++)
        for (unsigned other = others; other < others + threads; other++)
            if (emu_clock_of(t, other) >= time) return true;
    return false;
}

void emu_neighbours_cluster_ended(void)
{
    if (emu_now.blocks == 1 || emu_fenced_for_all) return;
    for (unsigned owner = 0; owner < emu_now.blocks; owner++)
        for (unsigned t = 0; used[owner] && t < emu_now.places; t++) {
            const struct use *const use = &uses[owner][t];
            if (!use->time || is_known(owner, t, use->time)) continue;
            emu_current = (struct emu_thread *)&emu_fibers[t].seen;
            emu_now.block = emu_block_index[emu_current->rank];
            fault_ended(owner, "may have ended by then", use->pc);
        }
}
