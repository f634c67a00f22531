/* Races: what is said of two accesses that nothing orders; and those of which only the
 * thread's next event shows whether they are any. */
#include "watch/race.h"

#include <stdio.h>
#include <string.h>

#include "base/now.h"
#include "base/source.h"
#include "block/fibers.h"
#include "block/shared.h"
#include "emulator_runtime.h"
#include "memory/names.h"
#include "memory/streams.h"
#include "memory/touch.h"
#include "watch/clocks.h"
#include "watch/handover.h"
#include "watch/order.h"

/* ---- messages ---- */

const char *emu_name_of(enum emu_access kind)
{
    switch (kind & BASIC_KIND) {
    case READ: return "a read";
    case ATOMIC: return "an atomic";
    case EMU_ASYNC_COPY: return "a bulk copy";
    default: return "a write";
    }
}

const char *emu_thread_name(unsigned linear)
{
    static char names[4][96];
    static int next;
    char *name = names[next++ % 4];
    emu_name_thread(linear, name, sizeof names[0]);
    return name;
}

/* A thread of an earlier block or cluster. Clusters run in the order of their indices. */
static void name_of_earlier(char *text, size_t size, const struct touch *touch)
{
    const struct emu_thread *t = &emu_fibers[touch->thread].seen;
    const unsigned *grid = emu_now.launch->grid;
    const uint3 c = emu_now.cluster;
    size_t number;
    if (!emu_block_at(touch->time, &number)) {
        snprintf(text, size, "(%u,%u,%u) of another block", t->index.x, t->index.y,
                 t->index.z);
        return;
    }
    const size_t across = grid[0] / c.x, down = grid[1] / c.y;
    snprintf(text, size, "(%u,%u,%u) of block (%zu,%zu,%zu)", t->index.x, t->index.y,
             t->index.z, number % across * c.x + t->rank % c.x,
             number / across % down * c.y + t->rank / c.x % c.y,
             number / across / down * c.z + t->rank / c.x / c.y);
}

static unsigned rank_of(const struct touch *touch)
{
    return emu_fibers[touch->thread].seen.rank;
}

/* What would have ordered the two. Where one reads, a program may go on until nothing
 * changes any more, and bear what it read either way: no barrier mends that. */
static const char *remedy(const struct touch *earlier, const char *did,
                          const struct touch *now, const char *does)
{
    const bool both_write = *did == 'w' && *does == 'w';
    if (earlier->time >= emu_times.block && rank_of(earlier) != rank_of(now))
        return "blocks of a cluster run side by side: its barrier, or an element of its "
               "own for each?";
    if (earlier->time >= emu_times.block)
        return both_write
                   ? "a missing __syncthreads(), or one index for two threads?"
                   : "a missing __syncthreads()? If either value will do, make both "
                     "accesses atomic or volatile";
    if (earlier->in_block || now->in_block)
        return "an atomic whose name ends in _block, or of thread_scope_block, is one "
               "only "
               "among the threads of a block";
    switch (emu_fenced ? emu_handed_over(earlier, now) : NOT_HANDED_OVER) {
    case NOT_ACQUIRED:
        return "a missing __threadfence() behind the atomic that tells this block?";
    case RELEASED_TOO_LITTLE:
        return "the atomic that tells this block must come after a __threadfence(), and "
               "after a __syncthreads() or __syncwarp() if it tells of other threads";
    default:
        return both_write
                   ? "blocks run in any order: an element of its own for each, or an "
                     "atomic?"
                   : "blocks run in any order: a sum takes atomicAdd(), and to hand "
                     "something over takes __threadfence() and an atomic on both sides, "
                     "or a second launch; if either value will do, make both accesses "
                     "atomic or volatile";
    }
}

__attribute__((noreturn)) static void
fault_global_race(const char *p, const struct touch *earlier, const char *did,
                  const struct touch *now, const char *does)
{
    char what[400], before[96];
    const struct emu_place place = emu_source_of(emu_touch_pc(earlier));
    emu_describe_global(what, sizeof what, p);
    if (earlier->time < emu_times.launch && emu_in_launch_ahead(earlier->time))
        emu_fault(
            emu_touch_pc(now),
            "data race in global memory, %s: the kernel launched before this one "
            "%s it at %s:%d, thread %s %s it here, and this launch may begin before "
            "that one has ended (programmatic stream serialization: a missing "
            "griddepcontrol.wait, or cudaGridDependencySynchronize()?)",
            what, did, place.file, place.line, emu_thread_name(now->thread), does);
    if (earlier->time < emu_times.launch)
        emu_fault(emu_touch_pc(now),
                  "data race in global memory, %s: a kernel in another stream %s it at "
                  "%s:%d, thread %s %s it here, and nothing orders the two (a missing "
                  "cudaStreamWaitEvent, or a wait of the host?)",
                  what, did, place.file, place.line, emu_thread_name(now->thread), does);
    const bool other = earlier->time < emu_times.block;
    if (other)
        name_of_earlier(before, sizeof before, earlier);
    else
        emu_name_thread(earlier->thread, before, sizeof before);
    emu_fault(emu_touch_pc(now),
              "data race in global memory, %s: thread %s %s it at %s:%d, thread %s%s %s "
              "it here, and nothing between orders the two (%s)",
              what, before, did, place.file, place.line, emu_thread_name(now->thread),
              other && emu_now.blocks == 1 ? " of this one" : "", does,
              remedy(earlier, did, now, does));
}

const void *emu_last_volatile;

/* What would have ordered two accesses to shared memory. Sums over a warp's lanes were once
 * written with volatile and no barrier; a __syncthreads() would be wrong where the other
 * warps do not come. */
static const char *shared_remedy(const struct touch *earlier, const struct touch *now)
{
    if (emu_touch_pc(now) == emu_last_volatile &&
        emu_fibers[earlier->thread].seen.warp == emu_fibers[now->thread].seen.warp)
        return "a missing __syncwarp()? The lanes of a warp need not run in step, and "
               "volatile orders nothing";
    return emu_clocks.on ? "a missing __syncthreads(), or a wait for an mbarrier?"
                         : "a missing __syncthreads()?";
}

void emu_fault_race(const char *p, const struct touch *earlier, const char *did,
                    const struct touch *now, const char *does)
{
    char what[160];
    if (!emu_is_shared(p)) fault_global_race(p, earlier, did, now, does);
    emu_describe_shared(what, sizeof what, p);
    struct emu_place place = emu_source_of(emu_touch_pc(earlier));
    emu_fault(emu_touch_pc(now),
              "data race in shared memory, %s: thread %s %s it at %s:%d, thread %s %s it "
              "here, and nothing between orders the two (%s)",
              what, emu_thread_name(earlier->thread), did, place.file, place.line,
              emu_thread_name(now->thread), does, shared_remedy(earlier, now));
}

/* ---- suspicions ---- */

/* Two threads may store the same value to the same word (a flag that several raise). That
 * is seen only after the store, so the suspicion waits for the next event. */
static struct suspicion {
    bool of_lanes; /* it would be no race: see below */
    char *address;
    uint8_t bytes;
    uint32_t before;
    const char *did;
    struct touch first, second;
} suspicions[32];
static unsigned suspicion_count;

void emu_suspect(char *word, uint8_t bytes, const struct touch *earlier, const char *did,
                 const struct touch *now)
{
    if (suspicion_count == sizeof suspicions / sizeof *suspicions) return;
    struct suspicion *s = &suspicions[suspicion_count++];
    *s = (struct suspicion){
        .address = word, .bytes = bytes, .did = did, .first = *earlier, .second = *now};
    memcpy(&s->before, word, 4);
    emu_attention |= EMU_SUSPICION;
}

void emu_suspect_lanes(char *word, uint8_t bytes, const struct touch *earlier,
                       const struct touch *now)
{
    const unsigned before = suspicion_count;
    emu_suspect(word, bytes, earlier, "read", now);
    if (suspicion_count > before) suspicions[before].of_lanes = true;
}

/* Once is enough: it is no fault, but a hint why a result may be another than a GPU's. */
void emu_tell_of_lanes(const char *p, const struct touch *earlier, const char *did,
                       const struct touch *now, const char *does)
{
    static bool told;
    char what[400], before[96];
    if (told) return;
    told = true;
    const struct emu_place first = emu_source_of(emu_touch_pc(earlier)),
                           second = emu_source_of(emu_touch_pc(now));
    emu_describe_global(what, sizeof what, p);
    emu_name_thread(earlier->thread, before, sizeof before);
    fflush(stdout);
    fprintf(stderr,
            "warning: lanes of a warp hand each other values through volatile memory and "
            "take it that they run in step, %s: thread %s %s it at %s:%d, thread %s %s "
            "it at %s:%d, with no __syncwarp() between; on a GPU mostly, and here not\n",
            what, before, did, first.file, first.line, emu_thread_name(now->thread), does,
            second.file, second.line);
}

/* Called when a thread stops running, and before each of its accesses. */
void emu_settle(void)
{
    while (suspicion_count > 0) {
        const struct suspicion *s = &suspicions[--suspicion_count];
        uint32_t now;
        memcpy(&now, s->address, 4);
        for (int b = 0; b < 4; b++)
            if (!(s->bytes >> b & 1) || !((now ^ s->before) >> 8 * b & 0xff))
                continue;
            else if (s->of_lanes)
                emu_tell_of_lanes(s->address + __builtin_ctz(s->bytes), &s->first, s->did,
                                  &s->second, "writes");
            else
                emu_fault_race(s->address + __builtin_ctz(s->bytes), &s->first, s->did,
                               &s->second, "writes");
    }
    emu_attention &= ~EMU_SUSPICION;
}

/* ---- doubts ---- */

/* A compare-and-swap loop looks at its word with a plain read first, beside the atomics
 * of other threads, and that is harmless: the swap looks again. So such a read is a race
 * only if no atomic of the same thread on the same word follows. */
static struct doubt {
    char *address;
    struct touch write, read;
} doubts[16];
static unsigned doubt_count;

void emu_doubt(char *address, const struct touch *write, const struct touch *read)
{
    if (doubt_count == sizeof doubts / sizeof *doubts)
        emu_fault_race(address, write, "wrote", read, "reads");
    doubts[doubt_count++] = (struct doubt){address, *write, *read};
}

void emu_dispel_doubt(const char *address)
{
    for (unsigned i = 0; i < doubt_count; i++)
        if (doubts[i].address == address) doubts[i--] = doubts[--doubt_count];
}

void emu_check_thread_stops(void)
{
    static uint32_t runs;
    emu_times.run = ++runs | 1u << 31;
    emu_settle();
    if (doubt_count > 0)
        emu_fault_race(doubts[0].address, &doubts[0].write, "wrote", &doubts[0].read,
                       "reads");
}
