/* Sees every load and store of a kernel, and finds the faults.
 *
 * The kernels are compiled with -fsanitize=thread, which makes the compiler call a
 * function `__tsan_...` in front of every memory access that is not a register or a
 * private local. Those functions are usually ThreadSanitizer's; here they are ours.
 *
 * Shared memory carries a record per 4-byte word: who wrote it last and who read it
 * since, and in which interval between two barriers. Two threads that touch a word in the
 * same interval, one of them writing, have nothing that orders them: a race, whichever of
 * them happened to run first.
 *
 * An mbarrier orders fewer: who waited for it comes after those who arrived at it, and
 * nobody else. Blocks that have one are checked with vector clocks besides (L. Lamport
 * 1978; C. Flanagan and S. Freund, "FastTrack", 2009). */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "check.h"

#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

/* ---- shared memory: what is known of each word ---- */

/* Of a touch's `order`: from there the slot of the copy's mbarrier. */
enum { BULK = 0x10000 - EMU_SLOTS };

static bool is_bulk(const struct touch *touch)
{
    return touch->order >= BULK;
}

struct word {                 /* one cache line: reading these is what checking costs */
    struct touch write, read; /* the last of each */
    struct touch other_write,
        other_read; /* the last by another thread than that, in the same interval */
    uint32_t written_in_block; /* serial number of the block that wrote it */
    uint8_t written_bytes;
    uint8_t bytes_in_flight;   /* claimed by an asynchronous copy that has not been waited
                                  for */
    uint8_t bytes_overwritten; /* by the bulk copy in flight */
    uint32_t readers; /* with clocks: the warps that have read it since it was written, a
                         bit each */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct word) == 64,
               "a word's record must not straddle cache lines");

static struct word *words; /* of as many blocks as the largest cluster so far has had */
static size_t word_count;
/* By which enum emu_swizzle the last bulk copy into each line of 128 bytes came. */
enum { LINE_WORDS = 32 };
static uint8_t line_swizzles[EMU_SHARED_BYTES / 4 / LINE_WORDS];
static uint32_t block_serial;
struct emu_times emu_times = {.other_work = UINT32_MAX};
static uint32_t
    quick_before; /* emu_times.interval; with clocks 0, since nothing is simple then */
static uint16_t warp_order[EMU_MAX_WARPS];
/* Since its last __syncwarp() of all lanes, a warp may have had some of only a few. Then
 * [warp][b][a] is the warp's order from which on a's accesses are not ordered before what
 * b does now; what came before is. */
static uint16_t (*lane_order)[32][32];
static bool partly_ordered
    [EMU_MAX_WARPS]; /* the warp has had such, and its part of the above is valid */
static uintptr_t image_low = UINTPTR_MAX,
                 image_high; /* the program's own image in memory */
static uintptr_t variables_low = UINTPTR_MAX,
                 variables_high;        /* what of it can be written */
static uintptr_t fixed_low, fixed_high; /* and what of that only the loader writes */

/* ---- clocks: what mbarriers order ----
 * A row is what somebody knows of the others: row[u] is the time up to which all that u
 * did lies before all that the row's owner does from now on. Owners of rows are the
 * threads, and each mbarrier twice: what those who arrived at it knew, and as much of it
 * as completed phases hand to those who wait. The columns behind the threads' are the
 * bulk copies, by the mbarrier that they report to. Time never runs back, so nothing here
 * is ever reset. */
enum { THREADS = 1024, COLUMNS = THREADS + EMU_SLOTS, WARP = 32 };
static uint32_t (*clocks)[COLUMNS];
static struct touch (*readers)[WARP]; /* of each word, the last read by each warp */
static bool clocks_on;                /* the block has something with a slot */
static unsigned slots;                /* that the block has used */
static bool reads_by_proxy;           /* and some of them for the asynchronous proxy */
static bool crowded; /* a cluster of more threads than races are looked for among */

static uint32_t *arrived_clock(unsigned barrier)
{
    return clocks[THREADS + barrier];
}
static uint32_t *over_clock(unsigned barrier)
{
    return clocks[COLUMNS + barrier];
}

static void join(uint32_t *into, const uint32_t *from)
{
    const unsigned threads = emu_now.places;
    for (unsigned i = 0; i < threads; i++)
        into[i] = into[i] > from[i] ? into[i] : from[i];
    for (unsigned i = THREADS; i < THREADS + slots; i++)
        into[i] = into[i] > from[i] ? into[i] : from[i];
}

const void *emu_touch_pc(const struct touch *touch)
{
    return (const void *)(image_low + touch->pc);
}

static inline struct touch touch_now(uint8_t bytes, bool strong, bool in_block,
                                     const void *pc)
{
    return (struct touch){.pc = (uint32_t)((uintptr_t)pc - image_low),
                          .time = emu_times.now,
                          .order = warp_order[emu_current->warp],
                          .thread = emu_current->linear & 1023,
                          .bytes = bytes & 15,
                          .strong = strong,
                          .in_block = in_block};
}

struct touch emu_touch_now(enum emu_access kind, const void *pc)
{
    return touch_now(15, (kind & BASIC_KIND) == ATOMIC || kind & VOLATILE,
                     kind & IN_BLOCK, pc);
}

uint32_t emu_clock_of(unsigned thread, unsigned other)
{
    return clocks_on ? clocks[thread][other] : 0;
}

/* Two threads may store the same value to the same word (a flag that several raise). That
 * is seen only after the store, so the suspicion waits for the next event. */
static struct suspicion {
    char *address;
    uint8_t bytes;
    uint32_t before;
    const char *did;
    struct touch first, second;
} suspicions[32];
static unsigned suspicion_count;

/* A launch is running, and an access needs to be looked at for itself only: no suspicion
 * waits for it, no thread is watched. */
static volatile bool calm;
static bool running;
static volatile bool watching, watch_begins;

static void set_calm(void)
{
    calm = running && emu_settings.check && !suspicion_count && !watching;
}

static const char *name_of(enum emu_access kind)
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

void emu_fault_race(const char *p, const struct touch *earlier, const char *did,
                    const struct touch *now, const char *does)
{
    char what[160];
    if (!emu_is_shared(p)) emu_global_fault_race(p, earlier, did, now, does);
    emu_describe_shared(what, sizeof what, p);
    struct emu_place place = emu_source_of(emu_touch_pc(earlier));
    emu_fault(emu_touch_pc(now),
              "data race in shared memory, %s: thread %s %s it at %s:%d, thread %s %s it "
              "here, and "
              "nothing between orders the two (a missing %s?)",
              what, emu_thread_name(earlier->thread), did, place.file, place.line,
              emu_thread_name(now->thread), does,
              clocks_on ? "__syncthreads(), or a wait for an mbarrier"
                        : "__syncthreads()");
}

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

/* Called when a thread stops running, and before each of its accesses. */
static void settle(void)
{
    while (suspicion_count > 0) {
        const struct suspicion *s = &suspicions[--suspicion_count];
        uint32_t now;
        memcpy(&now, s->address, 4);
        for (int b = 0; b < 4; b++)
            if ((s->bytes >> b & 1) && ((now ^ s->before) >> 8 * b & 0xff))
                emu_fault_race(s->address + __builtin_ctz(s->bytes), &s->first, s->did,
                               &s->second, "writes");
    }
    set_calm();
}

void emu_check_thread_stops(void)
{
    static uint32_t runs;
    emu_times.run = ++runs | 1u << 31;
    settle();
    if (doubt_count > 0)
        emu_fault_race(doubts[0].address, &doubts[0].write, "wrote", &doubts[0].read,
                       "reads");
}

void emu_suspect(char *word, uint8_t bytes, const struct touch *earlier, const char *did,
                 const struct touch *now)
{
    if (suspicion_count == sizeof suspicions / sizeof *suspicions) return;
    struct suspicion *s = &suspicions[suspicion_count++];
    *s = (struct suspicion){
        .address = word, .bytes = bytes, .did = did, .first = *earlier, .second = *now};
    memcpy(&s->before, word, 4);
    calm = false;
}

/* Whether a __syncwarp() of some lanes orders the earlier access before the present one
 * of the same warp. */
static bool ordered_in_part(const struct touch *earlier, const struct touch *now)
{
    return earlier->order <
           lane_order[now->thread / WARP][now->thread % WARP][earlier->thread % WARP];
}

/* Whether nothing orders the earlier access before the present one. */
bool emu_unordered(const struct touch *earlier, const struct touch *now)
{
    if (crowded) return false;
    if (earlier->time < emu_times.interval ||
        (earlier->thread == now->thread && !is_bulk(earlier)))
        return false;
    if (!(earlier->bytes & now->bytes) || (earlier->strong && now->strong)) return false;
    if (earlier->thread / WARP == now->thread / WARP && earlier->order != now->order &&
        !is_bulk(earlier) &&
        (!partly_ordered[now->thread / WARP] || ordered_in_part(earlier, now)))
        return false;
    if (clocks_on &&
        earlier->time <=
            clocks[now->thread]
                  [is_bulk(earlier) ? THREADS + earlier->order - BULK : earlier->thread])
        return false;
    return !emu_fenced || is_bulk(earlier) ||
           emu_handed_over(earlier, now) != HANDED_OVER;
}

static inline void note_read(struct word *word, struct touch *now)
{
    if (word->read.time < emu_times.interval) {
        word->read = *now;
    } else if (word->read.thread != now->thread) {
        /* Two readers of different warps already forbid every write until the next
         * barrier. */
        if (word->other_read.time < emu_times.interval ||
            word->other_read.thread / 32 == word->read.thread / 32 ||
            word->other_read.bytes != 15 || word->read.bytes != 15)
            word->other_read = *now;
    } else {
        /* A thread's later read of other bytes must not hide its earlier one. */
        if (word->read.order == now->order) now->bytes |= word->read.bytes;
        word->read = *now;
    }
}

static struct word *word_at(const char *address)
{
    return &words[(address - emu_dynamic_shared) / 4];
}

/* The word belongs to a bulk copy that nobody has waited for. */
static void fault_in_flight(const struct word *word, const char *address,
                            const struct touch *now, const char *does)
{
    char what[160];
    emu_describe_shared(what, sizeof what, address);
    const struct touch *copy = &word->write;
    struct emu_place place = emu_source_of(emu_touch_pc(copy));
    if (word->bytes_overwritten & now->bytes)
        emu_fault(emu_touch_pc(now),
                  "data race in shared memory, %s: thread %s started a copy at %s:%d "
                  "that may overwrite it "
                  "any moment, thread %s %s it here, and nothing between orders the two "
                  "(the copy must be waited "
                  "for, and must not start before all have read what was there)",
                  what, emu_thread_name(copy->thread), place.file, place.line,
                  emu_thread_name(now->thread), does);
    emu_fault(emu_touch_pc(now),
              "asynchronous copy not waited for: thread %s %s %s while the copy that "
              "thread %s started at "
              "%s:%d may still be on its way (a missing mbarrier_wait_parity()?)",
              emu_thread_name(now->thread), does, what, emu_thread_name(copy->thread),
              place.file, place.line);
}

static void examine(struct word *word, char *address, uint8_t bytes, enum emu_access kind,
                    struct touch now, const void *pc);

static inline void shared_word(char *address, uint8_t bytes, enum emu_access kind,
                               const void *pc)
{
    struct word *word = word_at(address);
    struct touch now = touch_now(bytes, kind == ATOMIC, false, pc);
    /* Nearly every access is this one: a read of what was written before the last
     * barrier. */
    if (kind == READ && word->written_in_block == block_serial &&
        word->write.time < quick_before && (word->written_bytes & bytes) == bytes)
        note_read(word, &now);
    else
        examine(word, address, bytes, kind, now, pc);
}

/* The copy engine or the tensor cores read the word. Only who was told that they are done,
 * by a wait, and who was told of that, may write it again. */
static void check_async_reader(const char *address, const struct touch *read,
                               const struct touch *now)
{
    if (read->time <= clocks[now->thread][THREADS + read->order - BULK]) return;
    char what[160];
    emu_describe_shared(what, sizeof what, address);
    const struct emu_place place = emu_source_of(emu_touch_pc(read));
    emu_fault(emu_touch_pc(now),
              "data race in shared memory, %s: what thread %s started at %s:%d may still "
              "read it, thread %s writes it here, and no wait lies between (%s)",
              what, emu_thread_name(read->thread), place.file, place.line,
              emu_thread_name(now->thread),
              "wgmma.wait_group or cp.async.bulk.wait_group, and then a barrier");
}

static void examine(struct word *word, char *address, uint8_t bytes, enum emu_access kind,
                    struct touch now, const void *pc)
{
    if (word->written_in_block != block_serial) {
        word->written_in_block = block_serial;
        word->written_bytes = word->bytes_in_flight = 0;
        word->readers = 0;
    }
    if (word->bytes_in_flight && is_bulk(&word->write))
        fault_in_flight(word, address, &now, kind == READ ? "reads" : "writes");
    if ((kind == READ || kind == ATOMIC) && (word->written_bytes & bytes) != bytes &&
        (emu_settings.strict || (word->bytes_in_flight & bytes))) {
        char what[160];
        emu_describe_shared(what, sizeof what, address);
        if (word->bytes_in_flight & bytes)
            emu_fault(pc,
                      "asynchronous copy not waited for: %s is read while a copy into it "
                      "may still be on its way "
                      "(a missing __pipeline_wait_prior()?)",
                      what);
        emu_fault(pc,
                  "uninitialised shared memory: %s is read and no thread of this block "
                  "has written it "
                  "(is a __syncthreads() missing, or a part of the array never loaded?)",
                  what);
    }
    const struct touch *write = emu_unordered(&word->write, &now) ? &word->write
                                : emu_unordered(&word->other_write, &now)
                                    ? &word->other_write
                                    : NULL;
    if (write && kind == READ && write->strong)
        emu_doubt(address, write, &now);
    else if (write && (kind != WRITE || write->strong))
        emu_fault_race(address, write, "wrote", &now, kind == READ ? "reads" : "writes");
    else if (write)
        emu_suspect(address, bytes & write->bytes, write, "wrote", &now);
    if (kind == ATOMIC) {
        if (doubt_count) emu_dispel_doubt(address);
        if (word->read.thread == now.thread) word->read.strong = 1;
        if (word->other_read.thread == now.thread) word->other_read.strong = 1;
    }
    if (kind == READ && clocks_on) {
        /* An mbarrier may order the next write after some of the readers only, so every
         * warp's is kept. */
        readers[word - words][now.thread / WARP] = now;
        word->readers |= 1u << now.thread / WARP;
        return;
    }
    if (kind == READ) {
        note_read(word, &now);
        return;
    }
    if (emu_unordered(&word->read, &now))
        emu_fault_race(address, &word->read, "read", &now, "writes");
    if (emu_unordered(&word->other_read, &now))
        emu_fault_race(address, &word->other_read, "read", &now, "writes");
    for (; word->readers; word->readers &= word->readers - 1) {
        const struct touch *read = &readers[word - words][__builtin_ctz(word->readers)];
        if (is_bulk(read))
            check_async_reader(address, read, &now);
        else if (emu_unordered(read, &now))
            emu_fault_race(address, read, "read", &now, "writes");
    }
    if (word->write.time >= emu_times.interval) {
        if (word->write.thread != now.thread || is_bulk(&word->write))
            word->other_write = word->write;
        else if (word->write.order == now.order && word->write.strong == now.strong)
            now.bytes |= word->write.bytes;
    }
    word->write = now;
    word->written_bytes |= bytes;
    word->bytes_in_flight &= (uint8_t)~bytes;
}

static const struct emu_shared_extent
    *last_arrays[2]; /* a kernel mostly reads two in turn */

static bool inside(const struct emu_shared_extent *array, const char *p, size_t n,
                   size_t alignment)
{
    return array && p >= array->base && p + n <= array->base + array->bytes &&
           (alignment <= array->alignment || !emu_settings.strict);
}

/* Another block's memory may be used only as long as that block is there. */
static void check_owner(const char *p, const void *pc)
{
    const unsigned owner = emu_shared_rank(p);
    if (owner == emu_current->rank || !emu_block_has_ended(owner)) return;
    emu_fault(pc,
              "shared memory of block %u of the cluster, which has ended: a block must "
              "stay until the others are done with its memory (a barrier.cluster, or "
              "cluster.sync(), at its end)",
              owner);
}

/* `alignment`: of the address, which the caller has looked at, and which the array must
 * promise: every array lies at a multiple of 128 bytes here, and on a GPU few do. */
static void shared_access(char *p, size_t n, size_t alignment, enum emu_access kind,
                          const void *pc)
{
    if (!inside(last_arrays[0], p, n, alignment) &&
        !inside(last_arrays[1], p, n, alignment)) {
        const struct emu_shared_extent *array = emu_find_shared(p);
        last_arrays[1] = last_arrays[0];
        last_arrays[0] = array;
        if (!array)
            emu_fault(pc,
                      "out of bounds: %s of %zu bytes in shared memory, %td bytes from "
                      "its start, and the launch "
                      "asked for no dynamic shared memory there",
                      name_of(kind), n, p - emu_dynamic_shared);
        if (p < array->base + array->bytes && p + n > array->base + array->bytes)
            emu_fault(pc,
                      "out of bounds: %s of %zu bytes in shared memory, at byte %td of "
                      "%s, reaches past the end of its "
                      "%zu bytes",
                      name_of(kind), n, p - array->base, array->name, array->bytes);
        if (p + n > array->base + array->bytes)
            emu_fault(pc,
                      "out of bounds: %s of %zu bytes, %td bytes past the end of %s (%zu "
                      "bytes of shared memory)",
                      name_of(kind), n, p - (array->base + array->bytes), array->name,
                      array->bytes);
        if (alignment > array->alignment && emu_settings.strict)
            emu_fault(
                pc,
                "misaligned address: %s of %zu bytes needs a multiple of %zu, and %s "
                "is not declared with __align__(%zu): on a GPU it may lie at any "
                "multiple of %zu",
                name_of(kind), n, alignment, array->name, alignment, array->alignment);
    }
    if (emu_now.blocks > 1) check_owner(p, pc);
    /* One thing at a time: without LENS, races are looked for. */
    if (emu_lens_on || crowded) return;
    if (n == 4) {
        shared_word(p, 15, kind, pc);
        return;
    }
    for (char *word = (char *)((uintptr_t)p & ~(uintptr_t)3); word < p + n; word += 4) {
        unsigned first = word < p ? (unsigned)(p - word) : 0;
        unsigned last = word + 4 > p + n ? (unsigned)(p + n - word) : 4;
        shared_word(word, (uint8_t)((1u << last) - (1u << first)), kind, pc);
    }
}

/* ---- global memory and everything else ---- */

static struct recent {
    char *base;
    size_t bytes;
    const uint32_t *stamps; /* if a word is a cell, see struct emu_shadow */
    struct emu_shadow *shadow;
} recent[4]; /* the allocations used last, so that a search is rare */

/* Nobody's memory: whose was meant? */
static void fault_global(const char *p, size_t n, enum emu_access kind, const void *pc)
{
    enum { FEW = 64, NEAR = 4096 };
    const char *what = name_of(kind);
    const void *freed_at;
    char name[300];
    const struct emu_allocation *gone = emu_find_freed(p, &freed_at);
    if (gone) {
        const struct emu_place freed = emu_source_of(freed_at);
        emu_name_allocation(name, sizeof name, gone, p);
        emu_fault(
            pc,
            "use after free: %s of %zu bytes in global memory, at byte %td of %s and "
            "freed at %s:%d",
            what, n, p - gone->base, name, freed.file, freed.line);
    }
    /* An index that is too large is the usual mistake, and there is much room behind an
     * allocation (see memory.c); what lies before one is a small negative index. But a
     * wrong index rarely leads further away than its array is long, many times over. */
    const struct emu_allocation *a = emu_find_allocation(p),
                                *behind = emu_allocation_behind(p);
    const size_t before = behind ? (size_t)(behind->base - p) : SIZE_MAX;
    const size_t past = !a                       ? SIZE_MAX
                        : p < a->base + a->bytes ? 0
                                                 : (size_t)(p - (a->base + a->bytes));
    const struct emu_allocation *nearest = before < past / 4 ? behind : a;
    const size_t distance = before < past / 4 ? before : past;
    if (!nearest || distance / FEW > nearest->bytes + NEAR)
        emu_fault(pc,
                  "out of bounds: %s of %zu bytes in global memory at %p, which is "
                  "freed, or was never allocated",
                  what, n, (const void *)p);
    emu_name_allocation(name, sizeof name, nearest, p);
    emu_fault(pc, "out of bounds: %s of %zu bytes in global memory, %zu bytes %s of %s",
              what, n, distance, before < past / 4 ? "before the start" : "past the end",
              name);
}

static void fault_other_device(const char *p, const struct emu_allocation *a,
                               enum emu_access kind, const void *pc)
{
    char name[300];
    emu_describe_global(name, sizeof name, p);
    emu_fault(pc,
              "memory of another device: %s of %s, which is on device %d, by a kernel on "
              "device %d (cudaDeviceEnablePeerAccess(%d, 0) while device %d is current?)",
              name_of(kind), name, a->device, emu_working_device, a->device,
              emu_working_device);
}

/* A read that tells its thread nothing about what others have done. */
static inline bool is_plain_read(enum emu_access kind)
{
    return kind == READ || ((int)kind == (READ | VOLATILE) && !emu_fenced);
}

static inline bool is_current(uint32_t stamp)
{
    return stamp == emu_times.launch || stamp == emu_times.interval ||
           stamp == emu_times.run;
}

/* Whether a read has nothing to tell: the cells hold values, no thread has written them
 * in this launch, and who has read them is noted as far as it matters. */
static bool is_no_news(const struct emu_shadow *s, size_t offset, size_t n)
{
    size_t cell = offset >> s->shift, last = (offset + n - 1) >> s->shift;
    if (!s->stamps) return false;
    while (is_current(s->stamps[cell]))
        if (++cell > last) return true;
    return false;
}

/* The same for words, and fast: what nearly every access to global memory is. */
static inline __attribute__((always_inline)) bool is_quick_read(const char *p, size_t n)
{
    for (int i = 0; i < 4; i++) {
        const size_t offset = (size_t)(p - recent[i].base);
        if (offset >= recent[i].bytes) continue;
        if (!recent[i].stamps || offset + n > recent[i].bytes || offset & (n - 1))
            return false;
        for (size_t word = offset / 4; word < (offset + n) / 4; word++)
            if (!is_current(recent[i].stamps[word])) return false;
        return true;
    }
    return false;
}

static void global_access(char *p, size_t n, enum emu_access kind, const void *pc)
{
    struct recent *r = recent;
    while (r < recent + 4 && (size_t)(p - r->base) >= r->bytes) r++;
    if (r == recent + 4) {
        static unsigned victim;
        const struct emu_allocation *a = emu_find_allocation(p);
        if (!a || (size_t)(p - a->base) >= a->bytes) fault_global(p, n, kind, pc);
        if (a->type == cudaMemoryTypeDevice &&
            !emu_reaches(emu_working_device, a->device))
            fault_other_device(p, a, kind, pc);
        r = &recent[victim++ % 4];
        *r = (struct recent){a->base, a->bytes, NULL, a->shadow};
    }
    struct emu_shadow *const s = r->shadow;
    const size_t offset = (size_t)(p - r->base);
    if (n > r->bytes - offset) fault_global(p, n, kind, pc);
    if (is_plain_read(kind) && is_no_news(s, offset, n)) return;
    emu_global_access(s, offset, p, n, kind, pc);
    r->stamps = s->shift == 2 ? s->stamps : NULL;
}

/* The program's own image: variables of the host and of the device, constant tables,
 * string literals. */
static int add_image(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        uintptr_t high = low + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO) {
            fixed_low = low;
            fixed_high = high;
        }
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        if (low < image_low) image_low = low;
        if (high > image_high) image_high = high;
        if (!(info->dlpi_phdr[i].p_flags & PF_W)) continue;
        if (low < variables_low) variables_low = low;
        if (high > variables_high) variables_high = high;
    }
    return 1; /* the first object is the program itself */
}

/* A reference to threadIdx or one of its companions is read like any memory. */
static bool is_position(const char *p)
{
    extern uint3 emu_thread_idx, emu_block_idx, emu_block_dim, emu_grid_dim;
    const uint3 *const positions[] = {&emu_thread_idx, &emu_block_idx, &emu_block_dim,
                                      &emu_grid_dim};
    for (size_t i = 0; i < sizeof positions / sizeof *positions; i++)
        if ((size_t)(p - (const char *)positions[i]) < sizeof *positions[i]) return true;
    return false;
}

static void image_access(char *p, size_t n, enum emu_access kind, const void *pc)
{
    const uintptr_t a = (uintptr_t)p;
    const bool fixed =
        a < variables_low || a >= variables_high || (a >= fixed_low && a < fixed_high);
    if (emu_is_constant_variable(p) || (fixed && !emu_is_device_variable(p))) {
        if ((kind & BASIC_KIND) == READ) return;
        emu_fault(pc,
                  "%s of %zu bytes in memory that a kernel can only read: a __constant__ "
                  "variable, a const or a string",
                  name_of(kind), n);
    }
    size_t offset;
    struct emu_shadow *const shadow = emu_variable_shadow(p, &offset);
    if (shadow) emu_global_access(shadow, offset, p, n, kind, pc);
    if (emu_is_device_variable(p) || emu_is_local_static(p) || is_position(p)) return;
    emu_fault(pc,
              "host memory: %s of %zu bytes in a variable of the host; a kernel can only "
              "use memory from cudaMalloc and "
              "__device__, __constant__ or __managed__ variables",
              name_of(kind), n);
}

static void other_access(char *p, size_t n, enum emu_access kind, const void *pc)
{
    uintptr_t a = (uintptr_t)p;
    if (a >= image_low && a < image_high) {
        image_access(p, n, kind, pc);
        return;
    }
    const char *arguments = emu_now.launch->arguments;
    if (p >= arguments && p < arguments + emu_now.launch->argument_bytes) return;
    if (emu_is_registered(p)) return;
    const char *what = name_of(kind);
    if (a < 4096)
        emu_fault(pc, "null pointer: %s of %zu bytes at address %p", what, n, (void *)p);
    emu_fault(pc,
              "out of bounds: %s of %zu bytes at %p, which is host memory or no memory "
              "at all; a kernel can only use "
              "memory from cudaMalloc (was a host pointer passed?)",
              what, n, (void *)p);
}

/* ---- the accesses, as the compiler reports them ---- */

static void access_memory(const volatile void *address, size_t n, enum emu_access kind,
                          const void *pc)
{
    char *p = (char *)address;
    const struct emu_thread *t = emu_current;
    if (emu_is_shared(p)) {
        if ((uintptr_t)p & (n - 1)) goto misaligned;
        if (emu_fenced && (kind & BASIC_KIND) == ATOMIC) emu_handover_strong(p, kind);
        shared_access(p, n, n, kind & BASIC_KIND, pc);
    } else if ((size_t)(p - emu_memory_base) < emu_memory_reserved) {
        if ((uintptr_t)p & (n - 1)) goto misaligned;
        global_access(p, n, kind, pc);
    } else if ((size_t)(p - t->stack_low) >= (size_t)(t->stack_high - t->stack_low)) {
        other_access(p, n, kind, pc);
    } else if (emu_registers_watched) {
        emu_check_registers(p, n, (kind & BASIC_KIND) != READ, pc);
    }
    return;
misaligned:
    emu_fault(
        pc,
        "misaligned address: %s of %zu bytes at %p, which is %zu past a multiple of %zu",
        name_of(kind), n, (void *)p, (uintptr_t)p & (n - 1), n);
}

/* A copy of any size. Bytes have no alignment to check. */
static void access_range(const void *address, size_t n, enum emu_access kind,
                         const void *pc)
{
    char *p = (char *)address;
    while (n > 0) {
        const size_t piece = (uintptr_t)p & 1 || n < 2   ? 1
                             : (uintptr_t)p & 2 || n < 4 ? 2
                                                         : 4;
        if (emu_is_shared(p))
            shared_access(p, piece, 1, kind & BASIC_KIND, pc);
        else
            access_memory(p, piece, kind, pc);
        p += piece;
        n -= piece;
    }
}

/* Host code of a .cu file. Here device memory can be reached from it; on a GPU it cannot.
 */
static void host_access(const void *p, bool is_atomic, const void *pc)
{
    if ((uintptr_t)p - variables_low < variables_high - variables_low) {
        if (emu_settings.check && emu_is_device_variable(p) &&
            !emu_is_managed_variable(p))
            emu_fault(pc, "host code touches a __device__ or __constant__ variable; copy "
                          "with cudaMemcpyToSymbol or "
                          "cudaMemcpyFromSymbol instead");
        return;
    }
    if ((size_t)((const char *)p - emu_memory_base) >= emu_memory_reserved ||
        !emu_settings.check)
        return;
    EMU_ALONE;
    const struct emu_allocation *a = emu_find_allocation(p);
    if (a && a->type == cudaMemoryTypeDevice)
        emu_fault(
            pc, "host code touches device memory at %p; copy with cudaMemcpy instead", p);
    if (a && a->shadow && a->shadow->unsynchronized && !is_atomic &&
        (size_t)((const char *)p - a->base) < a->bytes) {
        char what[400];
        emu_describe_global(what, sizeof what, p);
        emu_fault(pc,
                  "host code touches %s, which a kernel or a copy may still be writing: "
                  "wait first (cudaDeviceSynchronize, cudaStreamSynchronize)",
                  what);
    }
}

/* ---- a thread that waits for another's store ----
 * On a GPU the other runs meanwhile; here it never would. That shows in a proof: two
 * rounds of a loop that begin with the same registers, the same stack and the same values
 * read, and store nothing in between, are followed by a third. A thread is watched for
 * some accesses whenever it has run for long without a pause, so other threads pay
 * nothing for it. When that happens depends on a clock; what is then found, and reported,
 * does not. */
enum { LONG_RUN_US = 200 * 1000, LOOKS = 512 };
static unsigned looks;
static unsigned long long pauses_seen;
static uint64_t remembered_state; /* of a look before this one; 0 where something has been
                                     stored since */
static const void *first_in_loop; /* once the state has come back: the access with the
                                     lowest address in the program */
static jmp_buf registers;
static struct {
    const void *address;
    size_t bytes;
    uint64_t before;
} last_atomic; /* Only the next look can tell whether it stored anything new. */

static volatile bool ticking;

static void set_timer(int period_us)
{
    const struct timeval period = {0, period_us};
    setitimer(ITIMER_VIRTUAL, &(struct itimerval){period, period}, NULL);
}

static void on_tick(int signal)
{
    (void)signal;
    if (!emu_now.launch) {
        set_timer(0);
        ticking = false;
    } else if (running && pauses_seen == emu_now.pauses) {
        watching = watch_begins = true;
        calm = false;
    }
    pauses_seen = emu_now.pauses;
}

/* Counts the processor's time. The timer stops by itself some time after the last kernel,
 * which costs less than to start and stop it for each. Should there be none, only this
 * one fault is never found. */
static void start_ticking(void)
{
    struct sigaction action = {.sa_handler = on_tick,
                               .sa_flags = SA_ONSTACK | SA_RESTART};
    ticking = true;
    sigaction(SIGVTALRM, &action, NULL);
    set_timer(LONG_RUN_US);
}

/* Apart from look(), because it must not touch any register before it has kept them all.
 */
__attribute__((noinline)) static void keep_registers(void)
{
    if (_setjmp(registers)) abort();
}

static uint64_t mix(uint64_t hash, const void *data, size_t n)
{
    for (const unsigned char *p = data; n > 0; p++, n--)
        hash = (hash ^ *p) * 0x100000001b3;
    return hash;
}

static uint64_t hash_of(const void *data, size_t n)
{
    return mix(0xcbf29ce484222325, data, n); /* FNV-1a */
}

/* Before an access that is known to be legal. The caller's frames, from this one's end
 * on, are part of the state. */
__attribute__((noinline)) static void look(const volatile void *p, size_t n,
                                           enum emu_access kind, const void *pc)
{
    const char *stack = (const char *)__builtin_frame_address(0) + 2 * sizeof(void *);
    if (watch_begins) {
        looks = 0;
        remembered_state = 0;
        first_in_loop = NULL;
        last_atomic.bytes = 0;
        watch_begins = false;
    }
    if (++looks > LOOKS || pauses_seen != emu_now.pauses) {
        watching = false;
        set_calm();
    }
    if (kind == WRITE ||
        hash_of(last_atomic.address, last_atomic.bytes) != last_atomic.before)
        remembered_state = 0;
    last_atomic.bytes = kind == ATOMIC ? n : 0;
    last_atomic.address = (const void *)p;
    last_atomic.before = hash_of(last_atomic.address, last_atomic.bytes);
    if (kind == WRITE || !watching) return;
    uint64_t state = hash_of(registers, sizeof registers);
    state = mix(state, stack, (size_t)(emu_current->stack_high - stack));
    state = mix(mix(state, (const void *)p, n), &p, sizeof p);
    if (state == remembered_state && first_in_loop)
        emu_fault(first_in_loop, "endless loop: this thread reads the same values again "
                                 "and again. Threads of a block run one "
                                 "after the other here: a thread that waits for "
                                 "another's store must meet it at a barrier");
    if (state == remembered_state || (first_in_loop && pc < first_in_loop))
        first_in_loop = pc;
    if ((looks & (looks - 1)) == 0 && !first_in_loop) remembered_state = state;
}

/* The lens looks after the check, so that it never sees an address that is nobody's. */
__attribute__((noinline)) static void see_with_more(const volatile void *p, size_t n,
                                                    enum emu_access kind, const void *pc,
                                                    const void *frame)
{
    if (!emu_current) {
        host_access((const void *)p, kind != READ && kind != WRITE, pc);
        return;
    }
    if (emu_settings.check) {
        if (suspicion_count) settle();
        access_memory(p, n, kind, pc);
        if (watching) {
            keep_registers();
            look(p, n, kind & BASIC_KIND, pc);
        }
    }
    if (emu_lens_on) emu_lens_access((const void *)p, n, kind & BASIC_KIND, pc, frame);
}

/* Every way in passes here. */
static void see(const volatile void *p, size_t n, enum emu_access kind, const void *pc,
                const void *frame)
{
    if (!emu_current || !emu_settings.check || emu_lens_on || watching || suspicion_count)
        see_with_more(p, n, kind, pc, frame);
    else
        access_memory(p, n, kind, pc);
}

/* The compiler's memcpy, or a struct of odd size. */
static void see_range(const void *p, size_t n, enum emu_access kind, const void *pc,
                      const void *frame)
{
    if (!emu_current) {
        host_access(p, false, pc);
        return;
    }
    if (emu_settings.check) {
        if (suspicion_count) settle();
        if (kind == READ) emu_check_holds_something(p, n, pc);
        access_range(p, n, kind | BY_BYTES, pc);
        if (watching) {
            keep_registers();
            look(p, n, kind, pc);
        }
    }
    if (emu_lens_on) emu_lens_access(p, n, kind, pc, frame);
}

#define PC __builtin_return_address(0)
#define FRAME __builtin_frame_address(0)

static inline __attribute__((always_inline)) void
hook(char *p, size_t n, enum emu_access kind, const void *pc, const void *frame)
{
    const bool simple = calm & !emu_lens_on;
    if (simple && emu_is_shared(p) && !((uintptr_t)p & (n - 1)))
        shared_access(p, n, n, kind & BASIC_KIND, pc);
    else if (simple && is_plain_read(kind) && n >= 4 && is_quick_read(p, n))
        return;
    else if (emu_settings.check | emu_lens_on)
        see(p, n, kind, pc, frame);
}

#define HOOK(name, bytes, kind)                                                          \
    void name(void *p);                                                                  \
    void name(void *p)                                                                   \
    {                                                                                    \
        hook(p, bytes, kind, PC, FRAME);                                                 \
    }
#define HOOKS(bytes)                                                                     \
    HOOK(__tsan_read##bytes, bytes, READ)                                                \
    HOOK(__tsan_write##bytes, bytes, WRITE)                                              \
    HOOK(__tsan_volatile_read##bytes, bytes, (int)READ | VOLATILE)                       \
    HOOK(__tsan_volatile_write##bytes, bytes, (int)WRITE | VOLATILE)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

/* A type with less alignment than its size (a packed struct): the access is legal byte by
 * byte. */
#define UNALIGNED(name, bytes, kind)                                                     \
    void name(void *p);                                                                  \
    void name(void *p)                                                                   \
    {                                                                                    \
        see_range(p, bytes, kind, PC, FRAME);                                            \
    }
#define UNALIGNED_HOOKS(bytes)                                                           \
    UNALIGNED(__tsan_unaligned_read##bytes, bytes, READ)                                 \
    UNALIGNED(__tsan_unaligned_write##bytes, bytes, WRITE)                               \
    UNALIGNED(__tsan_unaligned_volatile_read##bytes, bytes, READ | VOLATILE)             \
    UNALIGNED(__tsan_unaligned_volatile_write##bytes, bytes, WRITE | VOLATILE)
UNALIGNED_HOOKS(2)
UNALIGNED_HOOKS(4)
UNALIGNED_HOOKS(8)
UNALIGNED_HOOKS(16)

void __tsan_read_range(void *p, size_t n);
void __tsan_read_range(void *p, size_t n)
{
    see_range(p, n, READ, PC, FRAME);
}
void __tsan_write_range(void *p, size_t n);
void __tsan_write_range(void *p, size_t n)
{
    see_range(p, n, WRITE, PC, FRAME);
}
void *__tsan_memcpy(void *to, const void *from, size_t n)
{
    see_range(from, n, READ, PC, FRAME);
    see_range(to, n, WRITE, PC, FRAME);
    return memcpy(to, from, n);
}
void *__tsan_memmove(void *to, const void *from, size_t n)
{
    see_range(from, n, READ, PC, FRAME);
    see_range(to, n, WRITE, PC, FRAME);
    return memmove(to, from, n);
}
void *__tsan_memset(void *to, int value, size_t n)
{
    see_range(to, n, WRITE, PC, FRAME);
    return memset(to, value, n);
}

void __tsan_init(void);
void __tsan_init(void)
{
}
void __tsan_func_entry(void *pc);
void __tsan_func_entry(void *pc)
{
    (void)pc;
}
void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}
void __tsan_vptr_update(void **p, void *value);
void __tsan_vptr_update(void **p, void *value)
{
    (void)value;
    hook((char *)p, sizeof *p, WRITE, PC, FRAME);
}
void __tsan_vptr_read(void **p);
void __tsan_vptr_read(void **p)
{
    hook((char *)p, sizeof *p, READ, PC, FRAME);
}

/* C++ atomics: of cuda::atomic, and of host code (the guard of a static local is one),
 * whose threads really run together. In a kernel the order that they ask for is that of a
 * fence before or behind. */
static void release(int order)
{
    if (emu_current && order >= __ATOMIC_RELEASE) emu_fence(1);
}
static void acquire(int order)
{
    if (emu_current && order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE)
        emu_fence(1);
}
#define ATOMICS(bits, type)                                                              \
    type __tsan_atomic##bits##_load(const volatile type *p, int order);                  \
    type __tsan_atomic##bits##_load(const volatile type *p, int order)                   \
    {                                                                                    \
        see(p, bits / 8, ATOMIC, PC, FRAME);                                             \
        const type value = __atomic_load_n(p, __ATOMIC_SEQ_CST);                         \
        acquire(order);                                                                  \
        return value;                                                                    \
    }                                                                                    \
    void __tsan_atomic##bits##_store(volatile type *p, type value, int order);           \
    void __tsan_atomic##bits##_store(volatile type *p, type value, int order)            \
    {                                                                                    \
        release(order);                                                                  \
        see(p, bits / 8, ATOMIC, PC, FRAME);                                             \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                    \
    }                                                                                    \
    ATOMIC_UPDATE(bits, type, exchange, exchange_n)                                      \
    ATOMIC_UPDATE(bits, type, fetch_add, fetch_add)                                      \
    ATOMIC_UPDATE(bits, type, fetch_sub, fetch_sub)                                      \
    ATOMIC_UPDATE(bits, type, fetch_and, fetch_and)                                      \
    ATOMIC_UPDATE(bits, type, fetch_or, fetch_or)                                        \
    ATOMIC_UPDATE(bits, type, fetch_xor, fetch_xor)                                      \
    ATOMIC_COMPARE(bits, type, strong)                                                   \
    ATOMIC_COMPARE(bits, type, weak)                                                     \
    ATOMIC_COMPARE_VALUE(bits, type)
#define ATOMIC_UPDATE(bits, type, name, builtin)                                         \
    type __tsan_atomic##bits##_##name(volatile type *p, type value, int order);          \
    type __tsan_atomic##bits##_##name(volatile type *p, type value, int order)           \
    {                                                                                    \
        release(order);                                                                  \
        see(p, bits / 8, ATOMIC, PC, FRAME);                                             \
        const type old = __atomic_##builtin(p, value, __ATOMIC_SEQ_CST);                 \
        acquire(order);                                                                  \
        return old;                                                                      \
    }
#define ATOMIC_COMPARE(bits, type, name)                                                 \
    int __tsan_atomic##bits##_compare_exchange_##name(                                   \
        volatile type *p, type *expected, type desired, int order, int failure);         \
    int __tsan_atomic##bits##_compare_exchange_##name(                                   \
        volatile type *p, type *expected, type desired, int order, int failure)          \
    {                                                                                    \
        (void)failure;                                                                   \
        release(order);                                                                  \
        see(p, bits / 8, ATOMIC, PC, FRAME);                                             \
        const int same = __atomic_compare_exchange_n(                                    \
            p, expected, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                \
        acquire(order);                                                                  \
        return same;                                                                     \
    }
/* As clang has it: gives what was there. */
#define ATOMIC_COMPARE_VALUE(bits, type)                                                 \
    type __tsan_atomic##bits##_compare_exchange_val(                                     \
        volatile type *p, type expected, type desired, int order, int failure);          \
    type __tsan_atomic##bits##_compare_exchange_val(                                     \
        volatile type *p, type expected, type desired, int order, int failure)           \
    {                                                                                    \
        (void)failure;                                                                   \
        release(order);                                                                  \
        see(p, bits / 8, ATOMIC, PC, FRAME);                                             \
        __atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_SEQ_CST,          \
                                    __ATOMIC_SEQ_CST);                                   \
        acquire(order);                                                                  \
        return expected;                                                                 \
    }
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (emu_current && order != __ATOMIC_RELAXED) emu_fence(1);
}
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}

void emu_atomic_access(const volatile void *p, size_t bytes, const void *pc)
{
    see(p, bytes, ATOMIC, pc, FRAME);
}

void emu_see_access(const void *p, size_t bytes, enum emu_access kind, const void *pc,
                    const void *frame)
{
    see(p, bytes, kind, pc, frame);
}

void emu_block_atomic_access(const volatile void *p, size_t bytes, const void *pc)
{
    see(p, bytes, ATOMIC | IN_BLOCK, pc, FRAME);
}

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    if (emu_lens_on && emu_current) emu_lens_basic_block(PC, FRAME);
}

void emu_check_async_issue(void *shared, const void *global, size_t bytes,
                           size_t zero_fill, const void *pc)
{
    if (!emu_settings.check) return;
    settle();
    if ((uintptr_t)shared & (bytes - 1) ||
        (bytes > zero_fill && (uintptr_t)global & (bytes - 1)))
        emu_fault(pc,
                  "misaligned address: an asynchronous copy of %zu bytes needs both "
                  "addresses to be multiples of %zu",
                  bytes, bytes);
    if ((size_t)((char *)shared - emu_dynamic_shared) >= EMU_SHARED_BYTES)
        emu_fault(pc, "an asynchronous copy's destination must be shared memory");
    for (size_t i = 0; i < bytes; i += 4) {
        const struct word *word = word_at((char *)shared + i);
        char what[160];
        if (word->written_in_block != block_serial || !word->bytes_in_flight ||
            is_bulk(&word->write))
            continue;
        emu_describe_shared(what, sizeof what, (char *)shared + i);
        emu_fault(pc,
                  "asynchronous copy not waited for: a copy into %s is started while an "
                  "earlier one may still be on its way there (one buffer where two are "
                  "needed?)",
                  what);
    }
    const size_t read = bytes - zero_fill;
    if (read & (read - 1))
        access_range(global, read, READ, pc);
    else if (read)
        access_memory(global, read, READ, pc);
    access_memory(shared, bytes, WRITE, pc);
    for (size_t i = 0; i < bytes; i += 4) {
        struct word *word = &words[((char *)shared - emu_dynamic_shared + i) / 4];
        word->bytes_in_flight = word->written_bytes;
        word->written_bytes = 0;
    }
}

void emu_check_async_arrival(void *shared, size_t bytes, const void *pc)
{
    if (!emu_settings.check) return;
    settle();
    access_memory(shared, bytes, WRITE, pc);
}

/* ---- mbarriers and bulk copies ---- */

/* Who initialised each mbarrier. That it exists does not depend on its later uses, so
 * they have no say here. */
static struct touch inits[EMU_SLOTS];

unsigned emu_check_slot(const void *pc)
{
    if (slots == EMU_SLOTS)
        emu_fault(pc, "more than %d barriers and users of the copy engine in a block",
                  EMU_SLOTS);
    if (emu_settings.check && !clocks_on && !emu_lens_on && !crowded) {
        if (!clocks)
            clocks =
                emu_zeros("for watching barriers", COLUMNS + EMU_SLOTS, sizeof *clocks);
        if (!readers)
            readers = emu_zeros("for watching barriers", word_count, sizeof *readers);
        clocks_on = true;
        quick_before = 0;
    }
    return slots++;
}

void emu_check_mbarrier_init(void *barrier, unsigned number, const void *pc)
{
    if (!emu_settings.check) return;
    settle();
    access_memory(barrier, 8, WRITE, pc);
    inits[number] = word_at(barrier)->write;
}

/* One from before the grid's barrier, which all have passed. */
void emu_check_mbarrier_resumed(unsigned slot)
{
    inits[slot] = (struct touch){0};
}

void emu_check_mbarrier_used(void *barrier, unsigned number, const void *pc)
{
    if (!clocks_on) return;
    settle();
    const struct touch now = emu_touch_now(READ, pc);
    if (emu_unordered(&inits[number], &now))
        emu_fault_race(barrier, &inits[number], "initialised", &now, "uses");
}

void emu_check_mbarrier_arrived(unsigned barrier)
{
    if (!clocks_on) return;
    const unsigned thread = emu_current->linear;
    join(arrived_clock(barrier), clocks[thread]);
    arrived_clock(barrier)[thread] = emu_times.now++;
}

void emu_check_mbarrier_over(unsigned barrier)
{
    if (clocks_on) memcpy(over_clock(barrier), arrived_clock(barrier), sizeof *clocks);
}

void emu_check_mbarrier_passed(unsigned barrier)
{
    if (clocks_on) join(clocks[emu_current->linear], over_clock(barrier));
}

void emu_check_global(const void *global, size_t bytes, enum emu_access kind,
                      const void *pc)
{
    if (!emu_settings.check) return;
    char *p = (char *)global;
    if ((size_t)(p - emu_memory_base) < emu_memory_reserved)
        global_access(p, bytes, kind, pc);
    else
        other_access(p, bytes, kind, pc);
}

void emu_check_bulk_issue(void *shared, size_t bytes, unsigned barrier,
                          enum emu_swizzle swizzle, const void *pc)
{
    if (!emu_settings.check) return;
    settle();
    struct word *const first = word_at(shared), *const end = first + bytes / 4;
    for (struct word *word = first; clocks_on && word < end; word++)
        word->bytes_overwritten =
            word->written_in_block == block_serial ? word->written_bytes : 0;
    shared_access(shared, bytes, 128, EMU_ASYNC_COPY, pc);
    memset(&line_swizzles[(first - words) / LINE_WORDS], (int)swizzle,
           (bytes + 4 * LINE_WORDS - 1) / (4 * LINE_WORDS));
    for (struct word *word = first; clocks_on && word < end; word++) {
        word->write.order = (uint16_t)(BULK + barrier);
        word->bytes_in_flight = 15;
        word->written_bytes = 0;
    }
}

void emu_check_bulk_arrival(void *shared, size_t bytes, unsigned barrier)
{
    if (!clocks_on) return;
    emu_times.now++;
    for (struct word *word = word_at(shared), *end = word + bytes / 4; word < end;
         word++) {
        word->write.time = emu_times.now;
        word->bytes_in_flight = 0;
        word->written_bytes = 15;
    }
    arrived_clock(barrier)[THREADS + barrier] = emu_times.now++;
}

/* The tensor cores and the copy engine read through another proxy than ordinary stores
 * write by. A fence of that proxy must stand between: by who wrote, behind the write, or by
 * who has the data read. */
static uint32_t fenced_until[EMU_MAX_THREADS];

void emu_check_proxy_fence(void)
{
    if (emu_settings.check) fenced_until[emu_current->linear] = emu_times.now++;
}

static void check_proxy(const struct word *word, const char *address,
                        const struct touch *now)
{
    const struct touch *write = &word->write;
    if (!emu_settings.strict || is_bulk(write) ||
        write->time <= fenced_until[write->thread] ||
        write->time <= fenced_until[now->thread])
        return;
    char what[160];
    emu_describe_shared(what, sizeof what, address);
    const struct emu_place place = emu_source_of(emu_touch_pc(write));
    emu_fault(emu_touch_pc(now),
              "a missing fence.proxy.async: thread %s wrote %s at %s:%d with an ordinary "
              "store, and here it is read by the asynchronous proxy, which may still see "
              "what was there before (who wrote must call fence.proxy.async, then all "
              "meet at a barrier)",
              emu_thread_name(write->thread), what, place.file, place.line);
}

static void check_swizzle(const struct word *word, const char *address, int swizzle,
                          const struct touch *now)
{
    static const char *const names[] = {"none", "32B", "64B", "128B"};
    const int came = line_swizzles[(word - words) / LINE_WORDS];
    if (swizzle < 0 || came == swizzle || !is_bulk(&word->write)) return;
    char what[160];
    emu_describe_shared(what, sizeof what, address);
    const struct emu_place place = emu_source_of(emu_touch_pc(&word->write));
    emu_fault(emu_touch_pc(now),
              "the descriptor says swizzle %s, and what it describes, %s, came by a copy "
              "with swizzle %s, at %s:%d",
              names[swizzle], what, names[came], place.file, place.line);
}

uint32_t emu_check_async_read(void *shared, size_t bytes, unsigned slot, int swizzle,
                              const void *pc)
{
    if (!emu_settings.check) return 0;
    settle();
    shared_access(shared, bytes, 16, READ, pc);
    if (!clocks_on) return 0;
    const struct touch now = {.pc = (uint32_t)((uintptr_t)pc - image_low),
                              .time = emu_times.now,
                              .thread = emu_current->linear & 1023};
    for (size_t i = 0; i < bytes; i += 4) {
        struct word *word = word_at((char *)shared + i);
        check_proxy(word, (char *)shared + i, &now);
        check_swizzle(word, (char *)shared + i, swizzle, &now);
        readers[word - words][now.thread / WARP].order = (uint16_t)(BULK + slot);
    }
    reads_by_proxy = true;
    return emu_times.now++;
}

void emu_check_async_done(unsigned slot, uint32_t time)
{
    if (clocks_on) clocks[emu_current->linear][THREADS + slot] = time;
}

/* ---- what orders accesses ---- */

void emu_check_allocations_changed(void)
{
    memset(recent, 0, sizeof recent);
    if (emu_settings.check && !ticking) start_ticking();
}

/* Time begins at 0 again before it can run out in the course of a launch. */
enum { MOST_TIMES = 1 << 30 };

void emu_check_launch_begins(void)
{
    emu_check_allocations_changed();
    const size_t needed = emu_now.blocks * (EMU_WINDOW_BYTES / 4);
    if (emu_settings.check && word_count < needed) {
        if (words) munmap(words, word_count * sizeof *words);
        free(readers);
        readers = NULL;
        words = emu_pages(needed * sizeof *words);
        if (!words)
            emu_no_memory("for watching shared memory, %zu MB",
                          needed * sizeof *words >> 20);
        word_count = needed;
    }
    if (!lane_order)
        lane_order =
            emu_zeros("for watching shared memory", EMU_MAX_WARPS, sizeof *lane_order);
    if (emu_times.now > MOST_TIMES && emu_settings.check) {
        memset(words, 0, word_count * sizeof *words);
        memset(fenced_until, 0, sizeof fenced_until);
        if (clocks) memset(clocks, 0, (COLUMNS + EMU_SLOTS) * sizeof *clocks);
        emu_forget_touches();
        emu_forget_works();
        emu_times.now = 0;
        emu_times.other_work = UINT32_MAX;
    }
    emu_times.launch = ++emu_times.now;
    emu_handover_launch_begins();
}

void emu_check_launch_ends(void)
{
    running = calm = false;
}

void emu_check_block_begins(unsigned warps)
{
    running = true;
    set_calm();
    quick_before = emu_times.interval = emu_times.block = ++emu_times.now;
    emu_handover_block_begins();
    block_serial++;
    clocks_on = false;
    slots = 0;
    reads_by_proxy = false;
    crowded = emu_now.places > THREADS;
    if (emu_now.blocks > 1) emu_check_slot(NULL);
    last_arrays[0] = last_arrays[1] = NULL;
    memset(warp_order, 0, warps * sizeof *warp_order);
    memset(partly_ordered, 0, sizeof partly_ordered);
}

/* Which bytes of each word of shared memory hold something, while other blocks run. What
 * the threads did before is ordered by the barrier at which they wait. */
void emu_check_keep_known(const char *p, size_t bytes, uint8_t *known)
{
    if (!emu_settings.check) return;
    const struct word *word = word_at(p);
    for (size_t i = 0; i < bytes / 4; i++, word++)
        known[i] = word->written_in_block == block_serial ? word->written_bytes : 0;
}

void emu_check_restore_known(const char *p, size_t bytes, const uint8_t *known)
{
    if (!emu_settings.check) return;
    struct word *word = word_at(p);
    for (size_t i = 0; i < bytes / 4; i++, word++)
        *word =
            (struct word){.written_in_block = block_serial, .written_bytes = known[i]};
}

/* What any thread was told of the slots, all know behind a barrier. */
static void share_slots(void)
{
    const unsigned threads = emu_now.places;
    for (unsigned s = THREADS; s < THREADS + slots; s++) {
        uint32_t latest = 0;
        for (unsigned t = 0; t < threads; t++)
            latest = clocks[t][s] > latest ? clocks[t][s] : latest;
        for (unsigned t = 0; t < threads; t++) clocks[t][s] = latest;
    }
}

/* In a cluster a block's barrier orders only the block: its threads tell each other. */
static void join_threads(unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++) clocks[first + i][first + i] = emu_times.now;
    for (unsigned i = 1; i < count; i++) join(clocks[first], clocks[first + i]);
    for (unsigned i = 1; i < count; i++)
        memcpy(clocks[first + i], clocks[first], sizeof *clocks);
    emu_times.now++;
}

static void begin_interval(void)
{
    if (emu_fenced) emu_handover_barrier();
    emu_times.interval = ++emu_times.now;
    quick_before = clocks_on ? 0 : emu_times.interval;
}

void emu_check_barrier_passed(unsigned first, unsigned count)
{
    if (crowded) return;
    if (emu_now.blocks > 1) {
        if (clocks_on) join_threads(first, count);
        return;
    }
    if (clocks_on && reads_by_proxy) share_slots();
    begin_interval();
}

/* Each of the lanes learns what any of them knew. */
static void order_lanes(unsigned warp, unsigned lanes)
{
    const uint16_t now = warp_order[warp];
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
    if (emu_fenced) emu_handover_lanes(warp, lanes, false);
}

void emu_check_warp_ordered(unsigned warp, unsigned lanes)
{
    if (++warp_order[warp] == BULK) {
        /* The numbers are used up. To begin anew as if this were a barrier may miss a
         * race, and never invents one. */
        begin_interval();
        warp_order[warp] = 0;
        partly_ordered[warp] = false;
    } else if (lanes == ~0u) {
        partly_ordered[warp] = false;
    } else {
        order_lanes(warp, lanes);
    }
    emu_handover_lanes(warp, lanes, true);
    if (!clocks_on) return;
    const unsigned first = warp * WARP, leader = first + (unsigned)__builtin_ctz(lanes);
    for (unsigned rest = lanes; rest; rest &= rest - 1) {
        const unsigned thread = first + (unsigned)__builtin_ctz(rest);
        clocks[thread][thread] = emu_times.now;
        if (thread != leader) join(clocks[leader], clocks[thread]);
    }
    for (unsigned rest = lanes & (lanes - 1); rest; rest &= rest - 1)
        memcpy(clocks[first + (unsigned)__builtin_ctz(rest)], clocks[leader],
               sizeof *clocks);
    emu_times.now++;
}

__attribute__((constructor)) static void read_environment(void)
{
    dl_iterate_phdr(add_image, NULL);
}
