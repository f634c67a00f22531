/* Shared memory: a record for each 4-byte word tells who wrote it last and who read it
 * since, and in which interval between two barriers. Two threads that touch a word in the
 * same interval, one of them writing, have nothing that orders them: a race, whichever of
 * them happened to run first. */
#include "watch/words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/now.h"
#include "base/room.h"
#include "base/settings.h"
#include "base/source.h"
#include "block/fibers.h"
#include "block/shared.h"
#include "emulator_runtime.h"
#include "memory/shadow.h"
#include "memory/touch.h"
#include "memory/values.h"
#include "watch/clocks.h"
#include "watch/neighbours.h"
#include "watch/order.h"
#include "watch/race.h"

enum { WARP = 32 };
enum { NEWS = -1 }; /* a stamp that no time is equal to, nor quick */

_Static_assert(sizeof(struct word) == 64,
               "a word's record must not straddle cache lines");

struct word *emu_words;
uint32_t *emu_word_stamps;
size_t emu_word_count;
uint32_t emu_block_serial;
struct touch *emu_readers;

void emu_make_readers(void)
{
    emu_readers =
        emu_zeros("for watching barriers", WARP * emu_word_count, sizeof *emu_readers);
}

/* ---- one word ---- */

static inline uint32_t *stamp_of(const struct word *word)
{
    return &emu_word_stamps[word - emu_words];
}

static inline void note_read(struct word *word, const struct touch *now)
{
    if (word->read.time < emu_times.interval) {
        emu_keep_touch(&word->read, now);
    } else if (word->read.thread != now->thread) {
        /* Two readers of different warps already forbid every write until the next
         * barrier. */
        if (word->other_read.time < emu_times.interval ||
            (word->other_read.thread ^ word->read.thread) < WARP ||
            word->other_read.bytes != 15 || word->read.bytes != 15)
            emu_keep_touch(&word->other_read, now);
        else if (word->write.time < emu_times.quick && word->written_bytes == 15)
            *stamp_of(word) = emu_times.quick;
    } else {
        /* A thread's later read of other bytes must not hide its earlier one. */
        const unsigned before = word->read.order == now->order ? word->read.bytes : 0;
        emu_keep_touch(&word->read, now);
        word->read.bytes |= before;
    }
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
                  "that may overwrite it any moment, thread %s %s it here, and nothing "
                  "between orders the two (the copy must be waited for, and must not "
                  "start before all have read what was there)",
                  what, emu_thread_name(copy->thread), place.file, place.line,
                  emu_thread_name(now->thread), does);
    emu_fault(emu_touch_pc(now),
              "asynchronous copy not waited for: thread %s %s %s while the copy that "
              "thread %s started at "
              "%s:%d may still be on its way (a missing mbarrier_wait_parity()?)",
              emu_thread_name(now->thread), does, what, emu_thread_name(copy->thread),
              place.file, place.line);
}

/* The copy engine or the tensor cores read the word. Only who was told that they are
 * done, by a wait, and who was told of that, may write it again. */
static void check_async_reader(const char *address, const struct touch *read,
                               const struct touch *now)
{
    if (read->time <= emu_clock_of_slot(now->thread, read->order - BULK)) return;
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

/* A later write takes the place of the last one, which others may have something against.
 * Of two by other threads, or of a thread's own plain one and its atomic, a plain one
 * matters more: atomics have nothing against each other. */
static void keep_write(struct word *word, struct touch *now)
{
    const struct touch *const last = &word->write, *const other = &word->other_write;
    const bool own = last->thread == now->thread && !emu_is_bulk(last);
    const bool hides = now->strong && last->strong && !other->strong &&
                       other->time >= emu_times.interval;
    if (own && last->strong == now->strong) {
        if (last->order == now->order) now->bytes |= last->bytes;
    } else if ((!own || now->strong) && !hides) {
        word->other_write = *last;
    }
}

/* `start`, `n`: the access that the word is part of. A word counts as written if one of
 * its bytes is: the others may be padding, and so may be whole words of a structure. */
static void examine(struct word *word, char *address, enum emu_access kind,
                    const struct touch *now, const char *start, size_t n, const void *pc)
{
    const uint8_t bytes = now->bytes;
    if (word->bytes_in_flight && emu_is_bulk(&word->write))
        fault_in_flight(word, address, now, kind == READ ? "reads" : "writes");
    const bool unset = (word->written_bytes & bytes) != bytes,
               on_its_way = unset && word->bytes_in_flight & bytes,
               empty = !(word->written_bytes & bytes) && emu_settings.strict;
    if ((kind == READ || kind == ATOMIC) &&
        (on_its_way || (empty && !(address > start && emu_is_structure(n, pc)) &&
                        !emu_fills(address, pc)))) {
        char what[160];
        emu_describe_shared(what, sizeof what, address);
        if (on_its_way)
            emu_fault(pc,
                      "asynchronous copy not waited for: %s is read while a copy into it "
                      "may still be on its way (a missing __pipeline_wait_prior(), or no "
                      "__syncthreads() behind it?)",
                      what);
        emu_fault(pc,
                  "uninitialised shared memory: %s is read and no thread of this block "
                  "has written it "
                  "(is a __syncthreads() missing, or a part of the array never loaded? "
                  "STRICT=0 lets pass what does not matter)",
                  what);
    }
    const struct touch *write = emu_unordered(&word->write, now) ? &word->write
                                : emu_unordered(&word->other_write, now)
                                    ? &word->other_write
                                    : NULL;
    if (write && kind == READ && write->strong)
        emu_doubt(address, write, now);
    else if (write && (kind != WRITE || write->strong))
        emu_fault_race(address, write, "wrote", now, kind == READ ? "reads" : "writes");
    else if (write)
        emu_suspect(address, bytes & write->bytes, write, "wrote", now);
    if (kind == ATOMIC) {
        emu_dispel_doubt(address);
        if (word->read.thread == now->thread) word->read.strong = 1;
        if (word->other_read.thread == now->thread) word->other_read.strong = 1;
    }
    if (kind == READ && emu_clocks.on) {
        /* An mbarrier may order the next write after some of the readers only, so every
         * warp's is kept. */
        *emu_reader_of(word, now->thread / WARP) = *now;
        word->readers |= 1u << now->thread / WARP;
        return;
    }
    if (kind == READ) {
        note_read(word, now);
        return;
    }
    if (emu_unordered(&word->read, now))
        emu_fault_race(address, &word->read, "read", now, "writes");
    if (emu_unordered(&word->other_read, now))
        emu_fault_race(address, &word->other_read, "read", now, "writes");
    for (; word->readers; word->readers &= word->readers - 1) {
        const struct touch *read =
            emu_reader_of(word, (unsigned)__builtin_ctz(word->readers));
        if (emu_is_bulk(read))
            check_async_reader(address, read, now);
        else if (emu_unordered(read, now))
            emu_fault_race(address, read, "read", now, "writes");
    }
    struct touch write_now = *now;
    if (!emu_clocks.on) *stamp_of(word) = NEWS; /* with clocks no stamp counts */
    if (word->write.time >= emu_times.interval) keep_write(word, &write_now);
    word->write = write_now;
    word->written_bytes |= bytes;
    word->bytes_in_flight &= (uint8_t)~bytes;
}

static inline bool is_own(const struct touch *earlier, const struct touch *now)
{
    return earlier->thread == now->thread && !emu_is_bulk(earlier);
}

/* Whether nobody has touched the word since the last barrier, but for reads and a plain
 * write by this thread, and the copy engine is not about to. */
static inline bool at_rest(const struct word *word, const struct touch *now)
{
    const uint32_t then = emu_times.interval;
    const struct touch *const write = &word->write;
    if (write->time >= then ? !is_own(write, now) || write->strong || now->bytes != 15
                            : word->bytes_in_flight && emu_is_bulk(write))
        return false;
    return word->other_write.time < then &&
           (word->read.time < then || is_own(&word->read, now)) &&
           word->other_read.time < then && !word->readers;
}

/* Nearly every access is one of these: a read of what was written before the last
 * barrier, or by this thread, or a write of what was left alone since. Returns whether it
 * is. */
static inline __attribute__((always_inline)) bool
is_simple(struct word *word, enum emu_access kind, const struct touch *now)
{
    if (word->written_in_block != emu_block_serial) {
        word->written_in_block = emu_block_serial;
        word->written_bytes = word->bytes_in_flight = 0;
        word->readers = 0;
    }
    if (kind == READ) {
        if (now->bytes & ~word->written_bytes) return false;
        if (word->write.time >= emu_times.quick &&
            (!is_own(&word->write, now) || word->other_write.time >= emu_times.quick))
            return false;
        note_read(word, now);
    } else {
        if (kind == ATOMIC || !at_rest(word, now)) return false;
        emu_keep_touch(&word->write, now);
        word->written_bytes |= now->bytes;
        word->bytes_in_flight &= (uint8_t)~now->bytes;
    }
    return true;
}

static __attribute__((noinline)) void examine_words(char *p, char *end,
                                                    enum emu_access kind, uint8_t bytes,
                                                    const char *start, size_t n,
                                                    const void *pc)
{
    const struct touch now = emu_touch_bytes(bytes, kind == ATOMIC, false, pc);
    for (; p < end; p += 4)
        if (!is_simple(emu_word_at(p), kind, &now))
            examine(emu_word_at(p), p, kind, &now, start, n, pc);
}

/* Whole words. A loop for each kind of what is simple: the compiler makes better ones. */
static inline __attribute__((always_inline)) void whole_words(char *p, char *end,
                                                              enum emu_access kind,
                                                              const struct touch *now,
                                                              const void *pc)
{
    const char *const start = p;
    struct word *word = emu_word_at(p);
    for (; p < end && is_simple(word, kind, now); word++) p += 4;
    if (p < end) examine_words(p, end, kind, 15, start, (size_t)(end - start), pc);
}
static __attribute__((noinline)) void read_words(char *p, char *end, const void *pc)
{
    const struct touch now = emu_touch_bytes(15, false, false, pc);
    whole_words(p, end, READ, &now, pc);
}
static __attribute__((noinline)) void write_words(char *p, char *end, const void *pc)
{
    const struct touch now = emu_touch_bytes(15, false, false, pc);
    whole_words(p, end, WRITE, &now, pc);
}

bool emu_shared_holds(const char *p, size_t n)
{
    for (const char *const end = p + n; p < end; p++) {
        const struct word *word = emu_word_at(p);
        if (word->written_in_block == emu_block_serial &&
            (word->written_bytes | word->bytes_in_flight) >> ((uintptr_t)p & 3) & 1)
            return true;
    }
    return false;
}

/* ---- an access ---- */

/* A kernel mostly reads two in turn. */
static const struct emu_shared_extent *last_arrays[2];

static bool inside(const struct emu_shared_extent *array, const char *p, size_t n,
                   size_t alignment)
{
    return array && p >= array->base && p + n <= array->base + array->bytes &&
           (alignment <= array->alignment || !emu_settings.strict);
}

static inline bool inside_last(const char *p, size_t n, size_t alignment)
{
    return inside(last_arrays[0], p, n, alignment) ||
           inside(last_arrays[1], p, n, alignment);
}

static void find_array(const char *p, size_t n, size_t alignment, enum emu_access kind,
                       const void *pc)
{
    const struct emu_shared_extent *array = emu_find_shared(p);
    last_arrays[1] = last_arrays[0];
    last_arrays[0] = array;
    if (!array)
        emu_fault(pc,
                  "out of bounds: %s of %zu bytes in shared memory, %td bytes from its "
                  "start, and the launch asked for no dynamic shared memory there",
                  emu_name_of(kind), n, p - emu_dynamic_shared);
    if (p < array->base + array->bytes && p + n > array->base + array->bytes)
        emu_fault(pc,
                  "out of bounds: %s of %zu bytes in shared memory, at byte %td of %s, "
                  "reaches past the end of its %zu bytes",
                  emu_name_of(kind), n, p - array->base, array->name, array->bytes);
    if (p + n > array->base + array->bytes)
        emu_fault(pc,
                  "out of bounds: %s of %zu bytes, %td bytes past the end of %s (%zu "
                  "bytes of shared memory)",
                  emu_name_of(kind), n, p - (array->base + array->bytes), array->name,
                  array->bytes);
    if (alignment > array->alignment && emu_settings.strict && !emu_is_structure(n, pc))
        emu_fault(pc,
                  "misaligned address: %s of %zu bytes needs a multiple of %zu, and %s "
                  "is not declared with __align__(%zu): on a GPU it may lie at any "
                  "multiple of %zu",
                  emu_name_of(kind), n, alignment, array->name, alignment,
                  array->alignment);
}

/* Not all of its words whole. */
static __attribute__((noinline)) void parts_of_words(char *p, size_t n,
                                                     enum emu_access kind, const void *pc)
{
    for (char *word = (char *)((uintptr_t)p & ~(uintptr_t)3); word < p + n; word += 4) {
        const unsigned first = word < p ? (unsigned)(p - word) : 0;
        const unsigned last = word + 4 > p + n ? (unsigned)(p + n - word) : 4;
        const uint8_t bytes = (uint8_t)((1u << last) - (1u << first));
        examine_words(word, word + 4, kind, bytes, word, 4, pc);
    }
}

static inline void look_at_words(char *p, size_t n, enum emu_access kind, const void *pc)
{
    if (((uintptr_t)p | n) & 3)
        parts_of_words(p, n, kind, pc);
    else if (kind == READ)
        read_words(p, p + n, pc);
    else if (kind == WRITE)
        write_words(p, p + n, pc);
    else
        examine_words(p, p + n, kind, 15, p, n, pc);
}

static __attribute__((noinline)) void look_at_all(char *p, size_t n, size_t alignment,
                                                  enum emu_access kind, const void *pc)
{
    if (!inside_last(p, n, alignment)) find_array(p, n, alignment, kind, pc);
    if (emu_now.blocks > 1) emu_neighbour_is_used(p, kind, pc);
    /* One thing at a time: without LENS, races are looked for. */
    if (!emu_now.lens_looks && !emu_clocks.crowded) look_at_words(p, n, kind, pc);
}

void emu_shared_access(char *p, size_t n, size_t alignment, enum emu_access kind,
                       const void *pc)
{
    if (inside_last(p, n, alignment) && emu_now.blocks == 1 && !emu_now.lens_looks)
        look_at_words(p, n, kind, pc);
    else
        look_at_all(p, n, alignment, kind, pc);
}

/* Of the thread whose turn it is: its touches differ by place and time only. */
static inline __attribute__((always_inline)) void
own_words(char *p, size_t n, enum emu_access kind, const void *pc)
{
    if (inside_last(p, n, n) && emu_now.blocks == 1) {
        const struct touch now = emu_touch_whole(pc);
        whole_words(p, p + n, kind, &now, pc);
    } else {
        look_at_all(p, n, n, kind, pc);
    }
}

void emu_shared_read(char *p, size_t n, const void *pc)
{
    own_words(p, n, READ, pc);
}

void emu_shared_write(char *p, size_t n, const void *pc)
{
    own_words(p, n, WRITE, pc);
}

/* ---- launches and blocks ---- */

void emu_words_launch_begins(void)
{
    const size_t needed = emu_now.blocks * (EMU_WINDOW_BYTES / 4);
    if (!emu_settings.check || emu_word_count >= needed) return;
    if (emu_words) munmap(emu_words, emu_word_count * sizeof *emu_words);
    free(emu_readers);
    emu_readers = NULL;
    emu_word_stamps = emu_resized(emu_word_stamps, "for watching shared memory", needed,
                                  sizeof *emu_word_stamps);
    memset(emu_word_stamps, NEWS, needed * sizeof *emu_word_stamps);
    emu_words = emu_pages(needed * sizeof *emu_words, false);
    if (!emu_words)
        emu_no_memory("for watching shared memory, %zu MB",
                      needed * sizeof *emu_words >> 20);
    emu_word_count = needed;
}

void emu_words_block_begins(void)
{
    emu_block_serial++;
    last_arrays[0] = last_arrays[1] = NULL;
}

void emu_words_forget(void)
{
    memset(emu_words, 0, emu_word_count * sizeof *emu_words);
    memset(emu_word_stamps, NEWS, emu_word_count * sizeof *emu_word_stamps);
}

/* Which bytes of each word of shared memory hold something, while other blocks run. What
 * the threads did before is ordered by the barrier at which they wait. */
void emu_check_keep_known(const char *p, size_t bytes, uint8_t *known)
{
    if (!emu_settings.check) return;
    const struct word *word = emu_word_at(p);
    for (size_t i = 0; i < bytes / 4; i++, word++) known[i] = emu_written_bytes(word);
}

void emu_check_restore_known(const char *p, size_t bytes, const uint8_t *known)
{
    if (!emu_settings.check) return;
    struct word *word = emu_word_at(p);
    for (size_t i = 0; i < bytes / 4; i++, word++)
        *word = (struct word){.written_in_block = emu_block_serial,
                              .written_bytes = known[i]};
}
