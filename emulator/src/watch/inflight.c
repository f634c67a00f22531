/* What is on its way into shared memory (cp.async, bulk copies), the mbarriers that tell
 * when it has come, and the asynchronous proxy, which reads beside the threads. */
#include "watch/inflight.h"

#include <string.h>

#include "base/now.h"
#include "base/room.h"
#include "base/settings.h"
#include "base/source.h"
#include "block/shared.h"
#include "emulator_runtime.h"
#include "memory/touch.h"
#include "memory/variables.h"
#include "watch/access.h"
#include "watch/clocks.h"
#include "watch/handover.h"
#include "watch/order.h"
#include "watch/race.h"
#include "watch/words.h"

/* ---- cp.async ---- */

void emu_check_async_issue(void *shared, const void *global, size_t bytes,
                           size_t zero_fill, const void *pc)
{
    if (!emu_settings.check) return;
    emu_settle();
    if ((uintptr_t)shared & (bytes - 1) ||
        (bytes > zero_fill && (uintptr_t)global & (bytes - 1)))
        emu_fault(pc,
                  "misaligned address: an asynchronous copy of %zu bytes needs both "
                  "addresses to be multiples of %zu",
                  bytes, bytes);
    if (!emu_is_shared(shared))
        emu_fault(pc, "an asynchronous copy's destination must be shared memory");
    if (bytes > zero_fill && emu_is_shared(global))
        emu_fault(pc, "an asynchronous copy's source must be global memory");
    for (size_t i = 0; i < bytes; i += 4) {
        const struct word *word = emu_word_at((char *)shared + i);
        char what[160];
        if (word->written_in_block != emu_block_serial || !word->bytes_in_flight ||
            emu_is_bulk(&word->write))
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
        emu_check_range(global, read, READ, pc);
    else if (read)
        emu_check_access(global, read, READ, pc);
    emu_shared_access(shared, bytes, bytes, WRITE, pc);
    for (size_t i = 0; i < bytes; i += 4) {
        struct word *word = emu_word_at((char *)shared + i);
        word->bytes_in_flight = word->written_bytes;
        word->written_bytes = 0;
    }
}

void emu_check_async_arrival(void *shared, size_t bytes, const void *pc)
{
    if (!emu_settings.check) return;
    emu_settle();
    emu_shared_access(shared, bytes, bytes, WRITE, pc);
}

/* ---- mbarriers ---- */

/* Who initialised each mbarrier. That it exists does not depend on its later uses, so
 * they have no say here. */
static struct touch inits[EMU_SLOTS];

void emu_check_mbarrier_init(void *barrier, unsigned number, const void *pc)
{
    if (!emu_settings.check) return;
    emu_settle();
    emu_check_access(barrier, 8, WRITE, pc);
    inits[number] = emu_word_at(barrier)->write;
}

/* One from before the grid's barrier, which all have passed. */
void emu_check_mbarrier_resumed(unsigned slot)
{
    inits[slot] = (struct touch){0};
}

void emu_check_mbarrier_used(void *barrier, unsigned number, const void *pc)
{
    if (!emu_clocks.on) return;
    emu_settle();
    const struct touch now = emu_touch_now(READ, pc);
    if (emu_unordered(&inits[number], &now))
        emu_fault_race(barrier, &inits[number], "initialised", &now, "uses");
}

/* ---- the asynchronous proxy ---- */

/* The tensor cores and the copy engine read, and the copy engine writes, through another
 * proxy than ordinary stores write by. A fence of that proxy must stand between: by who
 * wrote, behind the write and ordered before the read as the write is; or by who has the
 * data read or the copy made, behind what orders the write before.
 *
 * Of a writer's fences the first behind a write decides: if nothing orders that one before
 * the read, nothing orders a later one. So the last few are kept, and what was written
 * before all of them counts as fenced. Of a reader's the last one decides, and what it had
 * been told by then. */
enum { FENCES_KEPT = 16 };
struct fences {
    struct touch last[FENCES_KEPT]; /* in turns */
    unsigned count;
    uint32_t interval;                /* at the last one, */
    uint32_t told[EMU_CLOCK_THREADS]; /* and the thread's row of the clocks */
};
EMU_TABLE(struct fences, fences, EMU_CLOCK_THREADS);

static struct touch *last_fence(struct fences *of)
{
    return &of->last[(of->count - 1) % FENCES_KEPT];
}

void emu_check_proxy_fence(const void *pc)
{
    if (!emu_settings.check || emu_clocks.crowded) return;
    const unsigned thread = emu_current->linear;
    struct fences *const own = &fences[thread];
    own->count++;
    *last_fence(own) = emu_touch_now(WRITE, pc);
    own->interval = emu_times.interval;
    if (emu_clocks.on)
        memcpy(own->told, emu_clocks.rows[thread], emu_now.places * sizeof *own->told);
    else
        memset(own->told, 0, sizeof own->told);
    emu_times.now++;
}

/* The first of those kept that is not before `time`; NULL if there is none. */
static const struct touch *first_fence(const struct fences *of, uint32_t time)
{
    const struct touch *first = NULL;
    for (unsigned i = 0; i < of->count && i < FENCES_KEPT; i++) {
        const struct touch *const fence = &of->last[(of->count - 1 - i) % FENCES_KEPT];
        if (fence->time < time) break;
        first = fence;
    }
    return first;
}

/* Whether the reader has fenced since something ordered the write before what it does.
 * What a warp's barriers of some lanes order, and fences of threads, is taken for granted
 * here. */
static bool reader_has_fenced(struct fences *of, const struct touch *write)
{
    if (of->count == 0) return false;
    const struct touch *const fence = last_fence(of);
    const bool in_warp = write->thread / 32 == fence->thread / 32;
    return write->time <= fence->time &&
           (emu_fenced || write->thread == fence->thread || write->time < of->interval ||
            write->time <= of->told[write->thread] ||
            (in_warp && write->order != fence->order));
}

static const char READ_BY_PROXY[] = "it is read by the asynchronous proxy, which may "
                                    "still see what was there before";
static const char OVERWRITTEN[] = "a bulk copy writes there by the asynchronous proxy, "
                                  "and the store may still come behind it";

/* `here`: what happens now, by the asynchronous proxy, to what an ordinary store wrote. */
static void check_proxy(const struct word *word, const char *address,
                        const struct touch *now, const char *here)
{
    const struct touch *write = &word->write;
    if (!emu_settings.strict || emu_is_bulk(write) ||
        reader_has_fenced(&fences[now->thread], write))
        return;
    const struct touch *const fence = first_fence(&fences[write->thread], write->time);
    if (fence && !emu_unordered(fence, now)) return;
    char what[160];
    emu_describe_shared(what, sizeof what, address);
    const struct emu_place place = emu_source_of(emu_touch_pc(write));
    if (fence)
        emu_fault(emu_touch_pc(now),
                  "a fence.proxy.async too late: thread %s wrote %s at %s:%d with an "
                  "ordinary store, and told this thread so before it called the fence; "
                  "here %s (first the fence, then the barrier or the arrival)",
                  emu_thread_name(write->thread), what, place.file, place.line, here);
    emu_fault(
        emu_touch_pc(now),
        "a missing fence.proxy.async: thread %s wrote %s at %s:%d with an ordinary "
        "store, and here %s (who wrote must call fence.proxy.async, then all meet at "
        "a barrier)",
        emu_thread_name(write->thread), what, place.file, place.line, here);
}

/* ---- bulk copies ---- */

/* By which enum emu_swizzle the last one came into each piece of 16 bytes. */
enum { PIECE_WORDS = 4 };
EMU_TABLE(uint8_t, piece_swizzles, EMU_SHARED_BYTES / 4 / PIECE_WORDS);

void emu_check_bulk_issue(void *shared, size_t bytes, size_t alignment, bool reduces,
                          unsigned barrier, enum emu_swizzle swizzle, const void *pc)
{
    if (!emu_settings.check) return;
    emu_settle();
    struct word *const first = emu_word_at(shared), *const end = first + bytes / 4;
    if (reduces && emu_clocks.on && first->written_in_block == emu_block_serial &&
        first->bytes_in_flight && first->write.order == BULK + barrier)
        return;
    if (reduces) emu_shared_access(shared, bytes, alignment, READ, pc);
    const struct touch now = emu_touch_now(WRITE, pc);
    for (struct word *word = first; emu_clocks.on && word < end; word++) {
        word->bytes_overwritten = emu_written_bytes(word);
        if (word->bytes_overwritten && !emu_unordered(&word->write, &now))
            check_proxy(word, (char *)shared + 4 * (word - first), &now, OVERWRITTEN);
    }
    emu_shared_access(shared, bytes, alignment, EMU_ASYNC_COPY, pc);
    memset(&piece_swizzles[(first - emu_words) / PIECE_WORDS], (int)swizzle,
           bytes / (4 * PIECE_WORDS));
    for (struct word *word = first; emu_clocks.on && word < end; word++) {
        word->write.order = (uint16_t)(BULK + barrier);
        word->bytes_in_flight = 15;
        word->written_bytes = 0;
    }
}

void emu_check_bulk_arrival(void *shared, size_t bytes, unsigned barrier)
{
    if (!emu_clocks.on) return;
    emu_times.now++;
    for (struct word *word = emu_word_at(shared), *end = word + bytes / 4; word < end;
         word++) {
        word->write.time = emu_times.now;
        word->bytes_in_flight = 0;
        word->written_bytes = 15;
    }
    emu_clocks_copy_came(barrier);
}

static void check_swizzle(const struct word *word, const char *address, int swizzle,
                          const struct touch *now)
{
    static const char *const names[] = {"none", "32B", "64B", "128B"};
    const int came = piece_swizzles[(word - emu_words) / PIECE_WORDS];
    if (swizzle < 0 || came == swizzle || !emu_is_bulk(&word->write)) return;
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
    emu_settle();
    emu_shared_access(shared, bytes, 16, READ, pc);
    if (!emu_clocks.on) return 0;
    const struct touch now = emu_touch_now(READ, pc);
    for (size_t i = 0; i < bytes; i += 4) {
        struct word *word = emu_word_at((char *)shared + i);
        check_proxy(word, (char *)shared + i, &now, READ_BY_PROXY);
        check_swizzle(word, (char *)shared + i, swizzle, &now);
        emu_reader_of(word, now.thread / 32)->order = (uint16_t)(BULK + slot);
    }
    emu_clocks.reads_by_proxy = true;
    return emu_times.now++;
}

void emu_inflight_forget(void)
{
    /* What no thread has written takes no memory as long as it is only read. */
    for (unsigned t = 0; t < EMU_CLOCK_THREADS; t++)
        if (fences[t].count) fences[t].count = 0;
}
