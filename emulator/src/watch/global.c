/* Global memory: who has touched each word in the running launch.
 *
 * Blocks run one after the other here and in any order, or together, on a GPU. So what
 * matters is not who came first, but whether anything orders two accesses to a word, one
 * of which writes: within a block a barrier, __syncwarp() or an mbarrier, between blocks
 * only fences and atomics (handover.c). If nothing does, it is a data race as the memory
 * model of the PTX ISA defines one: every access of the two that is not strong (an
 * atomic, volatile) may see or leave anything. One kind is let pass: a store of the value
 * that is there already, as by threads that all raise one flag.
 *
 * Of each word the last write and two reads of the launch are kept. Two are enough: a
 * write that both come before is taken to come after the others too, so a race may be
 * missed and is never invented. A plain write that an atomic follows is kept besides: the
 * next atomic has nothing against the last one, and may have against it. Nearly all
 * accesses are reads of what no thread of the launch writes; a stamp tells them in one
 * look. And most arrays are only read, or only written, by a launch: the times of the last
 * write and the last reads of any of their words tell that. */
#include "watch/global.h"

#include <stdio.h>

#include "base/now.h"
#include "base/room.h"
#include "base/settings.h"
#include "base/source.h"
#include "block/fibers.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"
#include "memory/names.h"
#include "memory/shadow.h"
#include "memory/spans.h"
#include "memory/streams.h"
#include "memory/touch.h"
#include "memory/values.h"
#include "memory/variables.h"
#include "watch/endless.h"
#include "watch/handover.h"
#include "watch/order.h"
#include "watch/race.h"

static void make_cells(struct emu_shadow *s, unsigned shift, const char *p)
{
    const size_t need = emu_shadow_refine(s, shift);
    char name[300];
    if (!need) return;
    emu_describe_global(name, sizeof name, p);
    fprintf(stderr,
            "emulator: races are not looked for in memory that would take %zu MB to "
            "watch: %s\n",
            need >> 20, name);
}

/* ---- races ---- */

static bool in_other_block(const struct touch *earlier)
{
    return earlier->time < emu_times.block;
}

static __attribute__((noinline)) bool unordered(const struct touch *earlier,
                                                const struct touch *now)
{
    if (!in_other_block(earlier)) return emu_unordered(earlier, now);
    if (earlier->strong && now->strong && !earlier->in_block && !now->in_block)
        return false;
    return !emu_fenced || emu_handed_over(earlier, now) != HANDED_OVER;
}

/* Whether nothing orders an earlier access to the same word before this one. */
static inline bool concurrent(const struct touch *earlier, const struct touch *now)
{
    if (earlier->time >= emu_times.launch) return unordered(earlier, now);
    return earlier->time >= emu_times.other_work && !(earlier->strong && now->strong) &&
           emu_in_other_work(earlier->time);
}

/* Whether whatever came at this time or before, came before all that may run beside the
 * present access. */
static inline bool all_apart(uint32_t last)
{
    return last < emu_times.launch && last < emu_times.other_work;
}

/* ---- lanes that march in step ---- */

/* Sums over the lanes of a warp were once written with volatile and no __syncwarp(). That is
 * no data race, but which values the lanes get is left open: on a GPU those of lanes in
 * step, mostly, and here others. It looks as one lane that waits for another's flag does,
 * or finds it set, but for two things: the one that reads has stored an element of its own
 * right beside since the last barrier, and it does not wait. */
struct store {
    uint32_t time;
    const char *word;
};
EMU_TABLE(struct store, stored_by_name, 1024); /* by volatile, the last time */

static bool in_step(const struct touch *earlier, const struct touch *now, unsigned reader,
                    const char *p)
{
    const struct touch plain = {.time = earlier->time,
                                .order = earlier->order,
                                .thread = earlier->thread,
                                .bytes = 15};
    enum { BESIDE = 32 * 16 }; /* bytes: an element for each lane */
    const struct store *const own = &stored_by_name[reader];
    return earlier->bytes == BY_VOLATILE && now->bytes == BY_VOLATILE &&
           earlier->time >= emu_times.interval && emu_now.blocks == 1 &&
           earlier->thread != now->thread && earlier->thread / 32 == now->thread / 32 &&
           own->time >= emu_times.interval && own->word != p &&
           (size_t)(own->word - p + BESIDE) <= 2 * BESIDE &&
           !emu_waits_for_stores(&emu_fibers[reader]) && emu_unordered(&plain, now);
}

/* Keeps the read, and sets the stamp once a further read by whatever thread would change
 * nothing. */
static inline void note_read(struct emu_shadow *s, size_t i, bool stamps,
                             const struct touch *now)
{
    struct touch *const read = &s->reads[i], *other = &s->other_reads[i];
    const bool written =
        s->last_write >= emu_times.launch && s->writes[i].time >= emu_times.launch;
    uint32_t stamp = emu_times.run;
    s->last_read = now->time;
    if (!written && read->time >= emu_times.launch && in_other_block(read)) {
        if (stamps) s->stamps[i] = emu_times.launch;
        return;
    }
    const bool of_lanes = read->bytes == BY_VOLATILE && now->bytes == BY_VOLATILE &&
                          read->thread != now->thread && read->time >= emu_times.interval;
    if (!concurrent(read, now) && !of_lanes) {
        emu_keep_touch(read, now);
    } else if (!concurrent(other, now)) {
        emu_keep_touch(other, now);
        s->last_other = now->time;
    }
    if (!written && s->last_other >= emu_times.interval &&
        other->time >= emu_times.interval)
        stamp = emu_times.interval;
    if (stamps) s->stamps[i] = stamp;
}

static inline void read_cell(struct emu_shadow *s, size_t i, char *p, bool holds_value,
                             const struct touch *now)
{
    const struct touch *const write = &s->writes[i];
    const bool doubtful = concurrent(write, now);
    if (doubtful && !write->strong) emu_fault_race(p, write, "wrote", now, "reads");
    if (s->stores && concurrent(&s->stores[i], now))
        emu_fault_race(p, &s->stores[i], "wrote", now, "reads");
    if (doubtful) emu_doubt(p, write, now);
    if (now->bytes == BY_VOLATILE && in_step(write, now, now->thread, p))
        emu_tell_of_lanes(p, write, "stored", now, "reads");
    note_read(s, i, holds_value && !doubtful, now);
}

static inline void note_write(struct emu_shadow *s, size_t i, const struct touch *now)
{
    emu_keep_touch(&s->writes[i], now);
    s->last_write = now->time;
    if (s->last_read >= emu_times.launch) s->stamps[i] = 0;
}

static void write_cell(struct emu_shadow *s, size_t i, char *p, bool atomic,
                       const struct touch *now)
{
    char *const word = p - ((uintptr_t)p & 3);
    const uint8_t bytes =
        (uint8_t)(((1u << (1u << s->shift)) - 1) << ((uintptr_t)p & 3) & 15);
    const struct touch *const write = &s->writes[i];
    struct touch *reads[] = {&s->reads[i], &s->other_reads[i]};
    if (concurrent(write, now)) emu_suspect(word, bytes, write, "wrote", now);
    if (s->stores && concurrent(&s->stores[i], now))
        emu_suspect(word, bytes, &s->stores[i], "wrote", now);
    if (atomic) emu_dispel_doubt(p);
    for (int r = 0; r < 2 && now->bytes == BY_VOLATILE; r++)
        if (in_step(reads[r], now, reads[r]->thread, p))
            emu_suspect_lanes(word, bytes, reads[r], now);
    if (now->bytes == BY_VOLATILE) {
        stored_by_name[now->thread].time = now->time;
        stored_by_name[now->thread].word = p;
    }
    for (int r = 0; r < 2; r++) {
        if (atomic && !in_other_block(reads[r]) && reads[r]->thread == now->thread)
            reads[r]->strong = 1;
        if (concurrent(reads[r], now) && !emu_in_launch_ahead(reads[r]->time))
            emu_suspect(word, bytes, reads[r], "read", now);
    }
    if (now->strong && !write->strong && write->time >= emu_times.launch)
        emu_shadow_keep_store(s, i);
    note_write(s, i, now);
}

/* ---- what a launch has touched ---- */

struct emu_shadow *emu_touched[EMU_MOST_TOUCHED];
unsigned emu_touched_count;

/* Memory that the host sees, or that has more than one address, changes unseen. */
static bool changes_unseen(const char *p)
{
    const struct emu_allocation *const a = emu_allocation_of(p);
    return a ? a->type != cudaMemoryTypeDevice || a->heap || a->mapped
             : emu_is_managed_variable(p);
}

static __attribute__((noinline)) void meet(struct emu_shadow *s, const char *p)
{
    s->met = emu_times.launch;
    if (emu_touched_count == EMU_MOST_TOUCHED || changes_unseen(p))
        emu_now.unrepeatable = true;
    else
        emu_touched[emu_touched_count++] = s;
}

void emu_global_is_read(const char *p)
{
    const struct emu_allocation *const a = emu_allocation_of(p);
    if (!a || !a->shadow) {
        emu_now.unrepeatable = true;
        return;
    }
    if (a->shadow->met != emu_times.launch) meet(a->shadow, p);
    a->shadow->last_read = emu_times.now;
}

void emu_global_access(struct emu_shadow *s, size_t offset, char *p, size_t n,
                       enum emu_access kind, const void *pc)
{
    const enum emu_access basic = kind & BASIC_KIND;
    bool holds = true;
    if (s->met != emu_times.launch) meet(s, p);
    if (basic == ATOMIC || s->unwatched) emu_now.unrepeatable = true;
    if (basic != WRITE && !s->all_known && !emu_now.lens_looks)
        holds = emu_check_holds_values(s, offset, p, n, kind, pc);
    if (basic != READ && !s->all_known) emu_shadow_written(s, offset, n);
    /* One thing at a time: without LENS, races are looked for. */
    if (emu_now.lens_looks) return;
    if (s->span_count) emu_check_spans(s, offset, p, n, basic != READ, pc);
    if (s->unwatched) return;

    const unsigned fits = (unsigned)__builtin_ctzll(offset | n | 4);
    if (!s->writes || fits < s->shift)
        make_cells(s, fits < s->shift ? fits : s->shift, p);
    if (s->unwatched) return;
    struct touch now = emu_touch_now(kind, pc);
    if (kind & VOLATILE && pc == emu_last_volatile) now.bytes = BY_VOLATILE;
    if (emu_flags_tell && now.strong) emu_tell_of_waiting(emu_current->linear, 1);
    char *const first = p;
    const bool strong = emu_fenced && now.strong;
    if (strong && basic != ATOMIC) emu_handover_strong(first, kind);
    const size_t size = (size_t)1 << s->shift;
    for (size_t i = offset >> s->shift; n > 0; i++, p += size, n -= size)
        if (basic == READ)
            read_cell(s, i, p, holds, &now);
        else
            write_cell(s, i, p, basic == ATOMIC, &now);
    /* An atomic waits for nothing: it could have come before the store that lies behind
     * the one from which it learns. */
    if (strong && basic == ATOMIC) emu_handover_strong(first, kind);
}

/* Whether the access was the running thread's own, or came before all that may run beside
 * this one. */
static inline bool is_apart(const struct touch *earlier, const struct touch *now)
{
    return earlier->time < emu_times.launch
               ? earlier->time < emu_times.other_work
               : !in_other_block(earlier) && earlier->thread == now->thread;
}

/* Most threads that read find nothing of this launch; so do most that write. */
static inline bool simple_read(struct emu_shadow *s, size_t i, size_t end,
                               const struct touch *now)
{
    const bool unwritten = all_apart(s->last_write),
               unread = all_apart(s->last_other) && emu_times.other_work == UINT32_MAX;
    for (; i < end; i++) {
        if (!unwritten && !is_apart(&s->writes[i], now)) return false;
        if (!emu_shadow_knows_cell(s, i)) return false;
        if (unread && s->reads[i].time < emu_times.launch) {
            emu_keep_touch(&s->reads[i], now);
            s->last_read = now->time;
            s->stamps[i] = emu_times.run;
        } else {
            note_read(s, i, true, now);
        }
    }
    return true;
}

static inline bool simple_write(struct emu_shadow *s, size_t i, size_t end,
                                const struct touch *now)
{
    const bool unwritten = all_apart(s->last_write), unread = all_apart(s->last_read),
               read_once = all_apart(s->last_other);
    for (; i < end; i++) {
        const struct touch *const write = &s->writes[i];
        if (!unwritten &&
            (!is_apart(write, now) || (write->strong && write->time >= emu_times.launch)))
            return false;
        if (!unread && !is_apart(&s->reads[i], now)) return false;
        if (!read_once && !is_apart(&s->other_reads[i], now)) return false;
        if (!s->all_known && !emu_shadow_knows_whole(s, i))
            emu_shadow_written(s, i << s->shift, (size_t)1 << s->shift);
        note_write(s, i, now);
    }
    return true;
}

bool emu_global_simple(struct emu_shadow *s, size_t i, size_t count, bool writes,
                       const void *pc)
{
    if (s->stores || (s->span_count && emu_concurrent) || !emu_current) return false;
    const struct touch now = emu_touch_whole(pc);
    return writes ? simple_write(s, i, i + count, &now)
                  : simple_read(s, i, i + count, &now);
}

/* Of __device__ and __managed__ variables: of the program, and of modules. */
static struct section {
    char *base;
    struct emu_shadow *shadow;
} *sections;
static size_t section_count;

void emu_need_unwritten(const void *p, size_t bytes, const char *what)
{
    if (!emu_current || !emu_settings.check || bytes == 0) return;
    const struct emu_allocation *const a = emu_allocation_of(p);
    size_t offset = a ? (size_t)((const char *)p - a->base) : 0;
    const struct emu_shadow *const s = a ? a->shadow : emu_variable_shadow(p, &offset);
    if (!s || !s->writes || s->last_write < emu_times.launch || bytes > s->bytes - offset)
        return;
    for (size_t i = offset >> s->shift; i <= (offset + bytes - 1) >> s->shift; i++) {
        if (s->writes[i].time < emu_times.launch) continue;
        char name[300];
        emu_describe_global(name, sizeof name, p);
        const struct emu_place place = emu_source_of(emu_touch_pc(&s->writes[i]));
        emu_fault(__builtin_return_address(0),
                  "%s of %s, which this launch has written, at %s:%d: it may only read "
                  "what no thread writes while the kernel runs, or it may get what was "
                  "there before",
                  what, name, place.file, place.line);
    }
}

void emu_forget_touches(void)
{
    for (const struct emu_allocation *a = emu_allocation_behind(emu_memory_base); a;
         a = emu_allocation_behind(a->base))
        if (a->shadow) emu_shadow_forget(a->shadow);
    emu_changes++;
    for (size_t i = 0; i < section_count; i++) emu_shadow_forget(sections[i].shadow);
}

struct emu_shadow *emu_variable_shadow(const char *p, size_t *offset)
{
    size_t bytes;
    char *const base = emu_variable_section(p, &bytes);
    if (!base) return NULL;
    *offset = (size_t)(p - base);
    for (size_t i = 0; i < section_count; i++)
        if (sections[i].base == base) return sections[i].shadow;
    sections = emu_resized(sections, "for a list of variables", section_count + 1,
                           sizeof *sections);
    sections[section_count] = (struct section){base, emu_shadow_make(bytes, true)};
    return sections[section_count++].shadow;
}
