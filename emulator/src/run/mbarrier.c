/* Barriers in shared memory (mbarrier), and when the bulk copies that report to them
 * come.
 *
 * An mbarrier counts one phase after the other. A phase is over when as many threads have
 * arrived as its init said and as many bytes have come as were announced (expect_tx).
 * Here a copy comes as late as it may: when a thread waits for the phase, only copies are
 * missing, and no thread can do anything else. Until then its destination holds nothing
 * that may be read; so whoever reads without waiting has done so by then.
 *
 * What is known of a barrier lies beside it, in a table by address; the 8 bytes in shared
 * memory are only claimed. */
#include "run/mbarrier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "base/ptx.h"
#include "base/room.h"
#include "base/settings.h"
#include "base/source.h"
#include "block/fibers.h"
#include "block/shared.h"
#include "emulator_ptx.h"
#include "emulator_runtime.h"
#include "run/async.h"
#include "run/barrier.h"
#include "watch/clocks.h"
#include "watch/handover.h"
#include "watch/inflight.h"
#include "watch/neighbours.h"

struct mbarrier {
    uint64_t *address;
    unsigned slot;  /* its column in the checker's clocks */
    unsigned owner; /* the thread that initialised it */
    bool fenced;    /* and told the copy engine */
    unsigned told;  /* the round of the cluster's barrier at which it told the others */
    unsigned phase; /* the one that is going on; only its parity can be asked for */
    unsigned expected, pending; /* arrivals a phase, and those still missing */
    unsigned deferred; /* of the missing ones, those that copies on their way will make */
    int64_t bytes_missing; /* announced and not yet come; less than 0 if the copies were
                              quicker */
    struct emu_bulk_copy *copies, **last; /* on their way, in order */
    const struct wait *waiting;           /* one of those who wait, the last that came */
};

struct wait {
    struct mbarrier *barrier;
    const struct wait *others;
    const struct emu_thread *thread;
    unsigned phase;
    bool may_give_up;
    const void *pc;
};

enum { MOST = 1024, MOST_ARRIVALS = (1 << 20) - 1 };
/* Who tries, and tries again, while nothing at all happens to any barrier, tries for
 * ever. */
enum { FRUITLESS = 100 * EMU_MAX_THREADS };

EMU_TABLE(struct mbarrier, barriers, MOST);
static unsigned barrier_count;
static unsigned long long fruitless; /* attempts since something happened */

/* NULL stands for an entry that is free again. */
static struct mbarrier *find(const uint64_t *address)
{
    for (unsigned i = 0; i < barrier_count; i++)
        if (barriers[i].address == address) return &barriers[i];
    return NULL;
}

static struct mbarrier *find_ready(const uint64_t *address, const void *pc,
                                   const char *what)
{
    struct mbarrier *b = find(address);
    if (!b)
        emu_fault(pc, "%s on an mbarrier that was never initialised (mbarrier.init)",
                  what);
    if (!b->told || !emu_cluster_has_passed(b->told))
        emu_check_mbarrier_used(b->address, b->slot, pc);
    return b;
}

/* The same for what a thread of whatever block of the cluster may do. A bulk copy is not
 * among it: whether that outlives a block is looked for where copies come. */
static struct mbarrier *find_for_arrival(const uint64_t *address, const void *pc,
                                         const char *what)
{
    struct mbarrier *const b = find_ready(address, pc, what);
    if (emu_now.blocks > 1 && emu_settings.check)
        emu_neighbour_is_used(address, WRITE, pc);
    return b;
}

static void forget_copies(struct mbarrier *b)
{
    while (b->copies) {
        struct emu_bulk_copy *copy = b->copies;
        b->copies = copy->next;
        free(copy);
    }
    b->last = &b->copies;
}

void emu_mbarrier_block_begins(void)
{
    for (unsigned i = 0; i < barrier_count; i++) forget_copies(&barriers[i]);
    barrier_count = 0;
    fruitless = 0;
}

/* A block that waits for the whole grid, and its barriers meanwhile. */
struct emu_mbarriers {
    unsigned count;
    struct mbarrier barriers[];
};

struct emu_mbarriers *emu_mbarriers_put_aside(struct emu_mbarriers *aside)
{
    free(aside);
    aside = emu_zeros("for the barriers of a block",
                      sizeof *aside + barrier_count * sizeof *barriers, 1);
    aside->count = barrier_count;
    memcpy(aside->barriers, barriers, barrier_count * sizeof *barriers);
    barrier_count = 0;
    return aside;
}

void emu_mbarriers_bring_back(const struct emu_mbarriers *aside)
{
    barrier_count = aside->count;
    memcpy(barriers, aside->barriers, barrier_count * sizeof *barriers);
    for (unsigned i = 0; i < barrier_count; i++)
        if (barriers[i].address) {
            barriers[i].slot = emu_check_slot(NULL);
            emu_check_mbarrier_resumed(barriers[i].slot);
        }
}

/* A thread's own copies are looked for where they are (async.c). */
static void check_outlives(const struct emu_bulk_copy *copy)
{
    while (copy && copy->behind) copy = copy->next;
    if (!copy || !emu_settings.check) return;
    emu_current = copy->thread;
    emu_fault(copy->pc, "asynchronous copy not waited for: the block has ended, and this "
                        "copy may still be on its way into shared memory that is another "
                        "block's by then");
}

void emu_mbarrier_block_ended(void)
{
    for (unsigned i = 0; i < barrier_count; i++) check_outlives(barriers[i].copies);
}

/* Ends the phase if nothing is missing. */
static bool advance(struct mbarrier *b)
{
    emu_now.pauses++;
    fruitless = 0;
    if (b->pending > 0 || b->bytes_missing != 0) return false;
    b->phase++;
    b->pending = b->expected;
    emu_check_mbarrier_over(b->slot);
    return true;
}

void emu_put(char *to, const char *from, size_t bytes, uint64_t code)
{
    if (!code) {
        memcpy(to, from, bytes);
        return;
    }
    const unsigned each = ptx_types[PTX_TYPE_OF(code)].bits / 8;
    for (size_t i = 0; i < bytes; i += each) {
        uint64_t old = 0, more = 0;
        memcpy(&old, to + i, each);
        memcpy(&more, from + i, each);
        old = emu_ptx_alu(code, old, more, 0, 0);
        memcpy(to + i, &old, each);
    }
}

/* Writes what has come where it belongs. */
static void put_copy(const struct emu_bulk_copy *copy)
{
    if (copy->swizzle == EMU_SWIZZLE_NONE) {
        emu_put(copy->shared, copy->data, copy->bytes, copy->reduction);
        return;
    }
    for (size_t i = 0; i < copy->bytes; i += 16)
        memcpy((char *)emu_swizzled((uintptr_t)copy->shared + i, copy->swizzle),
               copy->data + i, 16);
}

/* A copy has come, and the barrier counts its bytes; or the thread arrives, behind its
 * own copies, which come if they are still on their way. */
static void count_copy(struct mbarrier *b, const struct emu_bulk_copy *copy)
{
    if (!copy->behind) {
        emu_check_bulk_arrival(copy->shared, copy->bytes, b->slot);
        put_copy(copy);
        if (emu_now.blocks > 1)
            emu_neighbours_copy_came(copy->shared, copy->thread->linear);
        b->bytes_missing -= (int64_t)copy->bytes;
        return;
    }
    struct emu_thread *const running = emu_current;
    emu_current = copy->thread;
    emu_async_come(copy->behind);
    b->pending--;
    b->deferred--;
    emu_check_mbarrier_arrived(b->slot);
    emu_current = running;
}

/* The barrier's copies arrive in order, up to the one that ends the phase. */
static bool arrive_at(struct mbarrier *b)
{
    while (b->copies) {
        struct emu_bulk_copy *copy = b->copies;
        count_copy(b, copy);
        b->copies = copy->next;
        if (!b->copies) b->last = &b->copies;
        free(copy);
        if (advance(b)) return true;
    }
    return false;
}

bool emu_bulk_copies_arrive(void)
{
    bool over = false;
    for (struct mbarrier *b = barriers; b < barriers + barrier_count; b++)
        if (b->waiting && b->pending == b->deferred) over |= arrive_at(b);
    return over;
}

void emu_mbarrier_init(uint64_t *address, unsigned arrivals, const void *pc)
{
    if ((uintptr_t)address % 8 ||
        (size_t)((char *)address - emu_dynamic_shared) >= EMU_SHARED_BYTES)
        emu_fault(pc, "an mbarrier is 8 bytes of shared memory, at a multiple of 8");
    if (arrivals < 1 || arrivals > MOST_ARRIVALS)
        emu_fault(pc, "mbarrier.init: %u arrivals a phase; 1 to 1,048,575 are possible",
                  arrivals);
    if (find(address))
        emu_fault(pc, "mbarrier.init on what is an mbarrier already and may be in use: "
                      "it is initialised once a block, not once a phase");
    struct mbarrier *b = find(NULL);
    if (!b && barrier_count == MOST)
        emu_fault(pc, "more than %d mbarriers in a block", MOST);
    if (!b) b = &barriers[barrier_count++];
    *b = (struct mbarrier){.address = address,
                           .slot = emu_check_slot(pc),
                           .owner = emu_current->linear,
                           .expected = arrivals,
                           .pending = arrivals};
    b->last = &b->copies;
    emu_check_mbarrier_init(address, b->slot, pc);
}

void emu_mbarrier_inval(uint64_t *address, const void *pc)
{
    struct mbarrier *b = find_ready(address, pc, "mbarrier.inval");
    check_outlives(b->copies);
    forget_copies(b);
    b->address = NULL;
}

/* The copy engine may use what the running thread has initialised. */
void emu_ptx_fence_mbarrier_init(void)
{
    for (unsigned i = 0; i < barrier_count; i++)
        if (barriers[i].owner == emu_current->linear) barriers[i].fenced = true;
}

/* A relaxed arrival hands over nothing but, after that fence, what the fence was for. */
void emu_mbarrier_tell_cluster(unsigned round)
{
    for (unsigned i = 0; i < barrier_count; i++) {
        struct mbarrier *b = &barriers[i];
        if (b->owner == emu_current->linear && b->fenced && !b->told) b->told = round;
    }
}

/* What an arrival gives back: the phase it was for, and how many arrivals that still
 * lacked before it. */
static uint64_t state_of(const struct mbarrier *b)
{
    return (uint64_t)b->phase << 32 | b->pending;
}

uint64_t emu_ptx_mbarrier_pending(uint64_t state)
{
    return (unsigned)state;
}

uint64_t emu_mbarrier_arrive(uint64_t *address, unsigned count, int64_t bytes, bool drop,
                             const void *pc)
{
    struct mbarrier *b = find_for_arrival(address, pc, "an arrival");
    const uint64_t state = state_of(b);
    if (b->pending - b->deferred < count)
        emu_fault(pc,
                  "mbarrier: %s than the %u that a phase counts, and %lld bytes of the "
                  "phase may still be on their way (was a stage filled again before it "
                  "was waited for?)",
                  count == 1 ? "one arrival more" : "more arrivals", b->expected,
                  (long long)b->bytes_missing);
    b->bytes_missing += bytes;
    b->pending -= count;
    if (drop) b->expected -= count;
    emu_check_mbarrier_arrived(b->slot);
    advance(b);
    return state;
}

void emu_mbarrier_expect(uint64_t *address, int64_t bytes, const void *pc)
{
    struct mbarrier *b = find_for_arrival(address, pc, "expect_tx");
    b->bytes_missing += bytes;
    advance(b);
}

void emu_mbarrier_arrive_after_copies(uint64_t *address, bool no_increment,
                                      const void *pc)
{
    struct mbarrier *b = find_for_arrival(address, pc, "an arrival");
    const unsigned last = emu_async_last();
    if (!no_increment) b->pending++;
    if (b->pending <= b->deferred)
        emu_fault(pc, "mbarrier: one arrival more than the %u that a phase counts",
                  b->expected);
    if (!last) {
        b->pending--;
        emu_check_mbarrier_arrived(b->slot);
        advance(b);
        return;
    }
    struct emu_bulk_copy *arrival =
        emu_zeros("for a pending asynchronous copy", 1, sizeof *arrival);
    arrival->thread = emu_current;
    arrival->pc = pc;
    arrival->behind = last;
    b->deferred++;
    *b->last = arrival;
    b->last = &arrival->next;
}

static bool is_over(void *waiting)
{
    const struct wait *w = waiting;
    return w->barrier->phase != w->phase;
}

static bool never_over(void *waiting, enum emu_stuck how)
{
    const struct wait *w = waiting;
    const struct mbarrier *b = w->barrier;
    char other[300] = "";
    if (how == EMU_GIVE_UP && w->may_give_up && fruitless++ < FRUITLESS) return true;
    if (how != EMU_SAY_WHAT) return false;
    /* Often it waits for a thread that waits in turn, and there is the mistake. */
    for (const struct mbarrier *o = barriers; o < barriers + barrier_count && !*other;
         o++) {
        if (o == b || !o->waiting) continue;
        const struct emu_place place = emu_source_of(o->waiting->pc);
        const uint3 thread = o->waiting->thread->index;
        snprintf(other, sizeof other,
                 "; thread (%u,%u,%u) waits at %s:%d, where %u of %u arrivals and %lld "
                 "announced bytes are missing",
                 thread.x, thread.y, thread.z, place.file, place.line, o->pending,
                 o->expected, (long long)o->bytes_missing);
    }
    emu_fault(w->pc,
              "the mbarrier never completes: this thread waits for a phase of parity %u, "
              "of which %u of %u arrivals and %lld announced bytes are missing, and no "
              "other thread can go on%s%s",
              w->phase & 1, b->pending, b->expected, (long long)b->bytes_missing,
              b->phase > 1 ? " (phases before it are over: was this thread left behind, "
                             "by one that did not wait for it before it filled the stage "
                             "again?)"
                           : "",
              other);
}

/* A phase is named by its parity: it is the one that goes on, or else the one before,
 * which is over. Or by the state that an arrival gave. */
bool emu_mbarrier_wait(uint64_t *address, bool by_parity, uint64_t which,
                       bool may_give_up, const void *pc)
{
    struct mbarrier *b = find_ready(address, pc, "a wait");
    const bool going_on =
        by_parity ? (b->phase & 1) == (which & 1) : b->phase == (unsigned)(which >> 32);
    if (going_on) {
        struct wait w = {b, b->waiting, emu_current, b->phase, may_give_up, pc};
        b->waiting = &w;
        emu_wait_until(is_over, never_over, &w);
        const struct wait **place = &b->waiting;
        while (*place != &w) place = (const struct wait **)&(*place)->others;
        *place = w.others;
        if (b->phase == w.phase) return false;
    }
    emu_check_mbarrier_passed(b->slot);
    return true;
}

void emu_mbarrier_add_copy(uint64_t *address, struct emu_bulk_copy *copy)
{
    struct mbarrier *b = find_ready(address, copy->pc, "a bulk copy");
    if (emu_settings.check && emu_settings.strict && !b->fenced)
        emu_fault(copy->pc,
                  "a bulk copy with an mbarrier that the copy engine may not know yet: "
                  "the thread that initialised it must call fence_mbarrier_init() "
                  "(fence.mbarrier_init)");
    emu_check_bulk_issue(copy->shared, copy->bytes, copy->alignment, copy->reduction != 0,
                         b->slot, copy->swizzle, copy->pc);
    *b->last = copy;
    b->last = &copy->next;
}
