/* Barriers: __syncthreads(), for all threads of a block; PTX's bar.sync and bar.arrive
 * with a number, for some of them; those of tiles larger than a warp; and the barrier of
 * a cluster. */
#include "run/barrier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "base/room.h"
#include "base/settings.h"
#include "base/source.h"
#include "block/fibers.h"
#include "emulator_runtime.h"
#include "watch/clocks.h"
#include "watch/handover.h"
#include "watch/neighbours.h"
#include "watch/order.h"

/* ---- of a block ---- */

static int results[EMU_MAX_BLOCKS]; /* of each block's last */

static int barrier_at(int predicate, enum emu_barrier_op op, const void *pc)
{
    struct emu_fiber *t = emu_running();
    t->predicate = predicate;
    t->value = op;
    emu_wait_as(AT_BARRIER, pc);
    return results[t->seen.rank];
}

int emu_barrier(int predicate, enum emu_barrier_op op)
{
    return barrier_at(predicate, op, __builtin_return_address(0));
}

/* Every thread that has not ended waits at a barrier: is it one barrier? */
static void check_barrier(unsigned rank, const struct emu_fiber *first, unsigned arrived)
{
    const struct emu_fiber *block = emu_fibers_of(rank);
    if (!emu_settings.strict) return;
    if (arrived < emu_now.block_threads) {
        unsigned ended = emu_now.block_threads - arrived;
        const struct emu_fiber *one = block;
        while (one->state != DONE) one++;
        emu_current = (struct emu_thread *)&first->seen;
        emu_fault(first->pc,
                  "barrier divergence: %u of %u threads wait at this barrier, "
                  "%u returned without reaching it (thread (%u,%u,%u) is one)",
                  arrived, emu_now.block_threads, ended, one->seen.index.x,
                  one->seen.index.y, one->seen.index.z);
    }
    for (unsigned i = 0; i < emu_now.block_threads; i++) {
        if (emu_same_line(first->pc, block[i].pc)) continue;
        struct emu_place there = emu_source_of(block[i].pc);
        emu_current = (struct emu_thread *)&first->seen;
        emu_fault(
            first->pc,
            "barrier divergence: this thread waits here while thread (%u,%u,%u) waits at "
            "%s:%d; all threads of a block must meet at the same __syncthreads() (where "
            "each reaches as many, the hardware goes on, and so does STRICT=0)",
            block[i].seen.index.x, block[i].seen.index.y, block[i].seen.index.z,
            there.file, there.line);
    }
}

bool emu_release_barrier(unsigned rank)
{
    struct emu_fiber *const block = emu_fibers_of(rank), *first = NULL;
    unsigned arrived = 0, holds = 0;
    for (struct emu_fiber *t = block; t < block + emu_now.block_threads; t++) {
        if (t->state == DONE) continue;
        if (t->state != AT_BARRIER) return false;
        if (!first) first = t;
        arrived++;
        holds += t->predicate != 0;
    }
    if (!arrived) return false;
    emu_now.block = emu_block_index[rank];
    if (emu_settings.check) check_barrier(rank, first, arrived);
    results[rank] = first->value == EMU_BARRIER_COUNT ? (int)holds
                    : first->value == EMU_BARRIER_AND ? holds == arrived
                                                      : holds != 0;
    for (struct emu_fiber *t = block; t < block + emu_now.block_threads; t++)
        if (t->state == AT_BARRIER) t->state = RUNNABLE;
    emu_check_barrier_passed(block->seen.linear, emu_now.block_threads);
    return true;
}

/* ---- of some threads ---- */

/* Behind those with a number come those of tiles: of the block itself, of its halves, its
 * quarters, ..., as in a heap. */
enum {
    WARP = 32,
    BLOCK = 1024,
    TILES = 2 * BLOCK / (2 * WARP),
    BARRIERS = EMU_NAMED_BARRIERS + TILES
};

struct barrier {
    bool used;
    unsigned slot;    /* its column in the checker's clocks */
    unsigned threads; /* that a round takes; known since its first arrival */
    unsigned arrived; /* of this round, in whole warps: see warp_has_come() */
    unsigned came;    /* of this round, the threads themselves */
    unsigned came_of[BLOCK / WARP];  /* of each warp, those that are not in `arrived` */
    unsigned lanes_of[BLOCK / WARP]; /* and which of its lanes they are */
    unsigned holds;                  /* arrivals whose predicate was true */
    unsigned rounds;                 /* that are over */
    int op, result;                  /* of bar.red; the result is the last round's */
    const void *pc;                  /* of the round's first arrival */
};

/* Of each block of a cluster. */
EMU_TABLE(struct barrier, barriers, (EMU_MAX_BLOCKS * BARRIERS));
static bool any_used;

struct wait {
    const struct barrier *barrier;
    unsigned round;
    const void *pc;
};

/* The barrier of all threads of the cluster. Whoever has ended counts as one who came. */
static struct cluster_barrier {
    bool used;
    unsigned slot;
    unsigned rounds; /* over */
    unsigned came;   /* threads that arrived in this round and have not ended since */
    const void *pc;  /* of one who has arrived in this round */
} cluster;
EMU_TABLE(unsigned, rounds_of, EMU_MAX_THREADS); /* for which each thread has arrived */
EMU_TABLE(unsigned, waits_of, EMU_MAX_THREADS);  /* and which it has waited for */
enum { ROUNDS_BYTES = EMU_MAX_THREADS * sizeof(unsigned) };

void emu_barriers_begin(void)
{
    if (any_used) memset(barriers, 0, EMU_MAX_BLOCKS * BARRIERS * sizeof *barriers);
    any_used = false;
    if (cluster.used) {
        memset(rounds_of, 0, ROUNDS_BYTES);
        memset(waits_of, 0, ROUNDS_BYTES);
    }
    memset(&cluster, 0, sizeof cluster);
}

/* What a cluster leaves here while others run. */
struct emu_barriers {
    bool any_used;
    struct cluster_barrier cluster;
    unsigned rounds_of[EMU_MAX_THREADS], waits_of[EMU_MAX_THREADS];
    struct barrier barriers[]; /* of each of its blocks */
};

struct emu_barriers *emu_barriers_put_aside(void)
{
    const size_t bytes = emu_now.blocks * BARRIERS * sizeof *barriers;
    if (!any_used && !cluster.used) return NULL;
    struct emu_barriers *const aside =
        emu_zeros("for the barriers of a grid", sizeof *aside + bytes, 1);
    aside->any_used = any_used;
    aside->cluster = cluster;
    memcpy(aside->rounds_of, rounds_of, ROUNDS_BYTES);
    memcpy(aside->waits_of, waits_of, ROUNDS_BYTES);
    memcpy(aside->barriers, barriers, bytes);
    return aside;
}

void emu_barriers_bring_back(struct emu_barriers *aside)
{
    const unsigned count = emu_now.blocks * BARRIERS;
    if (!aside) return;
    any_used = aside->any_used;
    cluster = aside->cluster;
    memcpy(rounds_of, aside->rounds_of, ROUNDS_BYTES);
    memcpy(waits_of, aside->waits_of, ROUNDS_BYTES);
    memcpy(barriers, aside->barriers, count * sizeof *barriers);
    free(aside);
    /* What came before is ordered before all that follows, as at the grid's barrier. */
    for (unsigned i = 0; i < count; i++)
        if (barriers[i].used) barriers[i].slot = emu_check_slot(barriers[i].pc);
    if (cluster.used) cluster.slot = emu_check_slot(cluster.pc);
}

static bool is_over(void *waiting)
{
    const struct wait *w = waiting;
    return w->barrier->rounds != w->round;
}

static bool never_over(void *waiting, enum emu_stuck how)
{
    if (how == EMU_GIVE_UP) return false;
    const struct wait *w = waiting;
    const unsigned number = (unsigned)(w->barrier - barriers) % BARRIERS;
    char name[32] = "a tile's barrier";
    if (number < EMU_NAMED_BARRIERS) snprintf(name, sizeof name, "barrier %u", number);
    emu_fault(w->pc,
              "barrier divergence: %s waits for %u threads, %u have come, and no other "
              "thread can go on",
              name, w->barrier->threads, w->barrier->came);
}

/* PTX counts warps: one has come when all of its threads have that there are, and stands
 * for 32. Those that have ended without coming are missed only where mistakes are looked
 * for; who came and then ended has come. */
static bool warp_has_come(const struct barrier *b, unsigned rank, unsigned warp)
{
    const struct emu_fiber *block = emu_fibers_of(rank), *lanes = block + warp * WARP;
    unsigned wanted = 0;
    for (const struct emu_fiber *t = lanes;
         t < lanes + WARP && t < block + emu_now.block_threads; t++)
        wanted += t->state != DONE || b->lanes_of[warp] >> (t - lanes) & 1 ||
                  emu_counts_the_ended();
    return b->came_of[warp] && b->came_of[warp] >= wanted;
}

/* Counts the warp if it has come, which may end the round. */
static void count_warp(struct barrier *b, unsigned rank, unsigned warp)
{
    if (!warp_has_come(b, rank, warp)) return;
    b->came_of[warp] = b->lanes_of[warp] = 0;
    b->arrived += WARP;
    if (b->arrived < b->threads) return;
    b->result = b->op == EMU_BARRIER_COUNT ? (int)b->holds
                : b->op == EMU_BARRIER_AND ? b->holds == b->came
                                           : b->holds != 0;
    b->rounds++;
    b->arrived = b->came = b->holds = 0;
    emu_check_mbarrier_over(b->slot);
}

/* The running thread arrives at a barrier whose round takes so many threads, and, with an
 * operation, waits. */
static int come(struct barrier *b, int op, unsigned threads, int predicate,
                const void *pc)
{
    if (!b->came) {
        b->threads = threads;
        b->op = op;
        b->pc = pc;
    }
    if (!b->used) b->slot = emu_check_slot(pc);
    b->used = any_used = true;
    emu_check_mbarrier_arrived(b->slot);
    struct wait w = {b, b->rounds, pc};
    emu_now.pauses++;
    b->came++;
    b->came_of[emu_current->block_warp]++;
    b->lanes_of[emu_current->block_warp] |= 1u << emu_current->lane;
    b->holds += predicate != 0;
    count_warp(b, emu_current->rank, emu_current->block_warp);
    if (op < 0) return 0;
    emu_wait_until(is_over, never_over, &w);
    emu_check_mbarrier_passed(b->slot);
    return b->result;
}

/* The threads of its warp that wait somewhere may have waited for it. */
static void named_thread_ends(const struct emu_thread *thread)
{
    struct barrier *b = &barriers[thread->rank * BARRIERS];
    for (struct barrier *end = b + BARRIERS; b < end; b++)
        if (b->came) count_warp(b, thread->rank, thread->block_warp);
}

void emu_tile_barrier(unsigned threads)
{
    const unsigned *block = emu_now.launch->block, all = block[0] * block[1] * block[2],
                   tile = emu_current->block_warp * WARP / threads,
                   left = all - tile * threads;
    come(&barriers[emu_current->rank * BARRIERS + EMU_NAMED_BARRIERS + BLOCK / threads +
                   tile],
         EMU_BARRIER_PLAIN, left < threads ? (left + WARP - 1) / WARP * WARP : threads, 0,
         __builtin_return_address(0));
}

void *emu_tile_room(void)
{
    static struct emu_shared_site site;
    return emu_shared_array(&site, 1024, 16, "the exchange between a tile's warps");
}

int emu_named_barrier(int op, unsigned number, unsigned threads, int predicate,
                      const void *pc)
{
    const unsigned *block = emu_now.launch->block, all = block[0] * block[1] * block[2],
                   whole_warps = (all + WARP - 1) / WARP * WARP;
    if (number >= EMU_NAMED_BARRIERS)
        emu_fault(pc, "barrier %u: a block has barriers 0 to %d", number,
                  EMU_NAMED_BARRIERS - 1);
    if (threads % WARP)
        emu_fault(pc, "barrier %u for %u threads: the number must be a multiple of 32",
                  number, threads);
    if (threads > whole_warps)
        emu_fault(pc, "barrier %u for %u threads: the block has only %u", number, threads,
                  all);
    if (!threads) threads = whole_warps;
    struct barrier *b = &barriers[emu_current->rank * BARRIERS + number];
    if (number == 0 && threads == whole_warps && op >= 0 && !b->came)
        return barrier_at(predicate, (enum emu_barrier_op)op, pc);
    if (b->came && b->threads != threads) {
        const struct emu_place other = emu_source_of(b->pc);
        emu_fault(pc,
                  "barrier %u is for %u threads here, and for %u at %s:%d, in the same "
                  "round",
                  number, threads, b->threads, other.file, other.line);
    }
    return come(b, op, threads, predicate, pc);
}

/* ---- of a cluster ---- */

/* Ends the round if all have come. */
static bool cluster_advances(unsigned round)
{
    if (cluster.rounds != round) return true;
    if (cluster.came < emu_now.threads_left) return false;
    cluster.rounds++;
    cluster.came = 0;
    if (cluster.used) emu_check_mbarrier_over(cluster.slot);
    return true;
}

static bool cluster_is_over(void *waiting)
{
    const struct wait *w = waiting;
    return cluster_advances(w->round);
}

static bool cluster_never_over(void *waiting, enum emu_stuck how)
{
    const struct wait *w = waiting;
    if (how == EMU_GIVE_UP) return false;
    emu_fault(w->pc,
              "barrier divergence: the cluster's barrier waits for %u threads that never "
              "come, of %u",
              emu_now.threads_left - cluster.came, emu_now.threads_left);
}

unsigned emu_cluster_arrive(bool orders_memory, const void *pc)
{
    if (!cluster.used) cluster.slot = emu_check_slot(pc);
    cluster.used = true;
    cluster.pc = pc;
    unsigned *round = &rounds_of[emu_current->linear];
    if (*round > cluster.rounds)
        emu_fault(pc, "barrier.cluster.arrive a second time, and no barrier.cluster.wait "
                      "between");
    *round = cluster.rounds + 1;
    emu_now.pauses++;
    cluster.came++;
    emu_neighbours_arrived(*round);
    if (orders_memory) emu_check_mbarrier_arrived(cluster.slot);
    return *round;
}

bool emu_cluster_has_passed(unsigned round)
{
    return cluster.used && waits_of[emu_current->linear] >= round;
}

/* The cluster's barrier waits for threads that have not ended: an end is an arrival. */
void emu_barriers_thread_ends(struct emu_thread *thread)
{
    if (cluster.used && rounds_of[thread->linear] == cluster.rounds + 1) cluster.came--;
    if (cluster.used && emu_clocks.on) {
        struct emu_thread *const running = emu_current;
        emu_current = thread;
        emu_check_mbarrier_arrived(cluster.slot);
        emu_current = running;
    }
    if (any_used && !emu_counts_the_ended()) named_thread_ends(thread);
}

void emu_cluster_wait(const void *pc)
{
    const unsigned arrived = rounds_of[emu_current->linear];
    if (!arrived) emu_fault(pc, "barrier.cluster.wait without a barrier.cluster.arrive");
    struct wait w = {NULL, arrived - 1, pc};
    emu_wait_until(cluster_is_over, cluster_never_over, &w);
    waits_of[emu_current->linear] = arrived;
    emu_neighbours_met(arrived);
    emu_check_mbarrier_passed(cluster.slot);
}
