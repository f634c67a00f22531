/* Global memory: who has touched each word in the running launch, and whether it holds a
 * value at all.
 *
 * Blocks run one after the other here and in any order, or together, on a GPU. So what
 * matters is not who came first, but whether anything orders two accesses to a word, one
 * of which writes: within a block a barrier, __syncwarp() or an mbarrier, between blocks
 * only fences and atomics (handover.c). If nothing does, it is a data race as the memory
 * model of the PTX ISA defines one: every access of the two that is not strong (an
 * atomic, volatile) may see or leave anything. One kind is let pass: a store of the value
 * that is there already, as by threads that all raise one flag.
 *
 * Each word has a cell with the last write and two reads of the launch. Two are enough:
 * a write that both come before is taken to come after the others too, so a race may be
 * missed and is never invented. Nearly all accesses are reads of what no thread of the
 * launch writes; a stamp beside the cell tells them in one look. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct cell {
    struct touch write, read, other_read;
};

/* ---- the host's memory for all this ---- */

/* A mapping takes no memory before it is touched, and most cells never are. */
enum { WORTH_A_MAPPING = 1 << 17 };

void *emu_pages(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

static void *zeros(size_t bytes)
{
    return bytes < WORTH_A_MAPPING ? calloc(1, bytes) : emu_pages(bytes);
}

static void give_back(void *p, size_t bytes)
{
    if (bytes < WORTH_A_MAPPING)
        free(p);
    else if (p)
        munmap(p, bytes);
}

static size_t count_cells(size_t bytes, unsigned shift)
{
    return (bytes + ((size_t)1 << shift) - 1) >> shift;
}

static size_t known_bytes(const struct emu_shadow *s)
{
    return s->bytes / 8 + 1;
}

static void forget_cells(struct emu_shadow *s)
{
    const size_t count = count_cells(s->bytes, s->shift);
    give_back(s->stamps, count * sizeof *s->stamps);
    give_back(s->cells, count * sizeof *s->cells);
    s->stamps = NULL;
    s->cells = NULL;
}

struct emu_shadow *emu_shadow_make(size_t bytes, bool known)
{
    struct emu_shadow *s = emu_settings.check ? calloc(1, sizeof *s) : NULL;
    if (s) *s = (struct emu_shadow){.bytes = bytes, .shift = 2, .all_known = known};
    return s;
}

void emu_shadow_free(struct emu_shadow *s)
{
    if (!s) return;
    forget_cells(s);
    give_back(s->known, known_bytes(s));
    free(s->spans);
    free(s);
}

/* Cells take many times the memory that they are for. Returns whether half of what the
 * machine has left is enough; if not, says so. */
static bool is_worth_it(struct emu_shadow *s, size_t cells, const char *p)
{
    const size_t need = cells * (sizeof *s->cells + sizeof *s->stamps);
    if (need < (size_t)1 << 26 || need < emu_host_available() / 2) return true;
    char name[300];
    emu_describe_global(name, sizeof name, p);
    fprintf(stderr,
            "emulator: races are not looked for in memory that would take %zu MB to "
            "watch: %s\n",
            need >> 20, name);
    forget_cells(s);
    s->unwatched = true;
    return false;
}

/* Gives the shadow cells of that many bytes, and the larger ones' contents to them. */
static void make_cells(struct emu_shadow *s, unsigned shift, const char *p)
{
    struct emu_shadow old = *s;
    const size_t count = count_cells(s->bytes, shift);
    if (!is_worth_it(s, count, p)) return;
    s->shift = shift;
    s->stamps = zeros(count * sizeof *s->stamps);
    s->cells = zeros(count * sizeof *s->cells);
    if (!s->stamps || !s->cells)
        emu_no_memory("for watching what kernels do with %zu bytes of device memory; "
                      "CHECK=0 does without",
                      s->bytes);
    if (!old.cells) return;
    for (size_t i = 0; i < count; i++) {
        const struct cell *from = &old.cells[i >> (old.shift - shift)];
        if (from->write.time || from->read.time) s->cells[i] = *from;
    }
    forget_cells(&old);
}

/* ---- what holds a value ---- */

static bool is_known(const struct emu_shadow *s, size_t byte)
{
    return s->all_known || (s->known && s->known[byte / 8] >> byte % 8 & 1);
}

static bool any_known(const struct emu_shadow *s, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++)
        if (is_known(s, i)) return true;
    return false;
}

static void make_known(struct emu_shadow *s)
{
    if (!s->known) s->known = zeros(known_bytes(s));
    if (!s->known)
        emu_no_memory("for noting which of %zu bytes of device memory hold values; "
                      "CHECK=0 does without",
                      s->bytes);
}

static void set_known(struct emu_shadow *s, size_t first, size_t n)
{
    const size_t end = first + n;
    if (s->all_known || n == 0) return;
    if (n == s->bytes) {
        s->all_known = true;
        return;
    }
    make_known(s);
    const unsigned low = 0xffu << first % 8 & 0xff, high = 0xffu >> (7 - (end - 1) % 8);
    unsigned char *const from = &s->known[first / 8], *const to =
                                                          &s->known[(end - 1) / 8];
    if (from == to) {
        *from |= low & high;
    } else {
        *from |= low;
        memset(from + 1, 0xff, (size_t)(to - from - 1));
        *to |= high;
    }
}

static const struct emu_allocation *holder(const void *p)
{
    const struct emu_allocation *a = emu_find_allocation(p);
    return a && a->shadow && (size_t)((const char *)p - a->base) < a->bytes ? a : NULL;
}

void emu_check_host_wrote(void *p, size_t bytes)
{
    const struct emu_allocation *a = holder(p);
    if (a) set_known(a->shadow, (size_t)((char *)p - a->base), bytes);
}

void emu_check_host_copied(void *to, const void *from, size_t bytes)
{
    const struct emu_allocation *a = holder(to), *b = holder(from);
    if (!a || a->type != cudaMemoryTypeDevice) return;
    struct emu_shadow *const s = a->shadow;
    if (!b || b->shadow->all_known) {
        emu_check_host_wrote(to, bytes);
        return;
    }
    const size_t first = (size_t)((char *)to - a->base),
                 source = (size_t)((const char *)from - b->base);
    make_known(s);
    if (s->all_known) memset(s->known, 0xff, known_bytes(s));
    s->all_known = false;
    for (size_t i = 0; i < bytes; i++) {
        unsigned char *const bits = &s->known[(first + i) / 8];
        const unsigned bit = 1u << (first + i) % 8;
        *bits =
            (unsigned char)(is_known(b->shadow, source + i) ? *bits | bit : *bits & ~bit);
    }
}

__attribute__((noreturn)) static void fault_unknown(const char *p, const void *pc)
{
    char what[400];
    emu_describe_global(what, sizeof what, p);
    emu_fault(
        pc,
        "uninitialised global memory: %s is read, and neither the host nor a kernel "
        "has written it (a missing cudaMemcpy or cudaMemset? STRICT=0 lets pass what "
        "does not matter, as in a warm-up)",
        what);
}

void emu_check_holds_something(const struct emu_shadow *s, size_t offset, const char *p,
                               size_t n, const void *pc)
{
    if (!emu_lens_on && !s->all_known && !any_known(s, offset, n)) fault_unknown(p, pc);
}

/* A word counts as written if one of its bytes is: the others may be padding. Returns
 * whether all do. */
static bool holds_values(const struct emu_shadow *s, size_t offset, const char *p,
                         size_t n, enum emu_access kind, const void *pc)
{
    bool all = true;
    for (size_t i = 0; i < n && !s->all_known;) {
        const size_t in_word = 4 - ((offset + i) & 3),
                     piece = in_word < n - i ? in_word : n - i;
        if (!any_known(s, offset + i, piece)) {
            if (!(kind & BY_BYTES) && emu_settings.strict) fault_unknown(p + i, pc);
            all = false;
        }
        i += piece;
    }
    return all;
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

/* Keeps the read, and sets the stamp once a further read by whatever thread would change
 * nothing. */
static inline void note_read(struct cell *cell, uint32_t *stamp, const struct touch *now)
{
    const bool written = cell->write.time >= emu_times.launch;
    if (!written && cell->read.time >= emu_times.launch && in_other_block(&cell->read)) {
        *stamp = emu_times.launch;
        return;
    }
    if (!concurrent(&cell->read, now))
        cell->read = *now;
    else if (!concurrent(&cell->other_read, now))
        cell->other_read = *now;
    *stamp = !written && cell->other_read.time >= emu_times.interval ? emu_times.interval
                                                                     : emu_times.run;
}

static inline void read_cell(struct cell *cell, uint32_t *stamp, char *p,
                             bool holds_value, const struct touch *now)
{
    uint32_t no_stamp;
    const bool doubtful = concurrent(&cell->write, now);
    if (doubtful && !cell->write.strong)
        emu_fault_race(p, &cell->write, "wrote", now, "reads");
    if (doubtful) emu_doubt(p, &cell->write, now);
    note_read(cell, holds_value && !doubtful ? stamp : &no_stamp, now);
}

static void write_cell(struct cell *cell, uint32_t *stamp, char *p, unsigned shift,
                       bool atomic, const struct touch *now)
{
    char *const word = p - ((uintptr_t)p & 3);
    const uint8_t bytes =
        (uint8_t)(((1u << (1u << shift)) - 1) << ((uintptr_t)p & 3) & 15);
    const struct touch *reads[] = {&cell->read, &cell->other_read};
    if (concurrent(&cell->write, now))
        emu_suspect(word, bytes, &cell->write, "wrote", now);
    if (atomic) emu_dispel_doubt(p);
    for (int i = 0; i < 2; i++) {
        if (atomic && !in_other_block(reads[i]) && reads[i]->thread == now->thread)
            ((struct touch *)reads[i])->strong = 1;
        if (concurrent(reads[i], now)) emu_suspect(word, bytes, reads[i], "read", now);
    }
    cell->write = *now;
    *stamp = 0;
}

static const struct touch *in_other_work(const struct touch *touch)
{
    return touch->time >= emu_times.other_work && emu_in_other_work(touch->time) ? touch
                                                                                 : NULL;
}

void emu_check_cells(const struct emu_shadow *s, size_t offset, const char *p, size_t n,
                     bool writes, const void *pc)
{
    if (!s->cells || emu_times.other_work == UINT32_MAX) return;
    for (size_t i = offset >> s->shift; i <= (offset + n - 1) >> s->shift; i++) {
        const struct cell *const cell = &s->cells[i];
        const struct touch *touch = in_other_work(&cell->write);
        const char *const did = touch ? "written" : "read";
        if (!touch && writes) touch = in_other_work(&cell->read);
        if (!touch && writes) touch = in_other_work(&cell->other_read);
        if (!touch) continue;
        char name[300];
        const size_t at = i << s->shift > offset ? (i << s->shift) - offset : 0;
        emu_describe_global(name, sizeof name, p + at);
        const struct emu_place place = emu_source_of(emu_touch_pc(touch));
        emu_fault(pc,
                  "data race in global memory: %s is %s here, and %s by a kernel in "
                  "another stream at %s:%d; nothing orders the two (a missing "
                  "cudaStreamWaitEvent, or a wait of the host?)",
                  name, writes ? "written" : "read", did, place.file, place.line);
    }
}

static bool any_unsynchronized;

void emu_check_synchronized(void)
{
    if (!any_unsynchronized) return;
    EMU_ALONE;
    any_unsynchronized = false;
    for (const struct emu_allocation *a = emu_allocation_behind(emu_memory_base); a;
         a = emu_allocation_behind(a->base))
        if (a->shadow) a->shadow->unsynchronized = false;
}

void emu_check_copy_pending(const void *to)
{
    const struct emu_allocation *a = emu_find_allocation(to);
    if (!a || !a->shadow || (size_t)((const char *)to - a->base) >= a->bytes) return;
    a->shadow->unsynchronized = any_unsynchronized = true;
}

void emu_global_access(struct emu_shadow *s, size_t offset, char *p, size_t n,
                       enum emu_access kind, const void *pc)
{
    const enum emu_access basic = kind & BASIC_KIND;
    bool holds = true;
    if (basic != WRITE && !emu_lens_on) holds = holds_values(s, offset, p, n, kind, pc);
    if (basic != READ) {
        set_known(s, offset, n);
        s->unsynchronized = any_unsynchronized = true;
    }
    /* One thing at a time: without LENS, races are looked for. */
    if (emu_lens_on) return;
    if (s->span_count) emu_check_spans(s, offset, p, n, basic != READ, pc);
    if (s->unwatched) return;

    const unsigned fits = (unsigned)__builtin_ctzll(offset | n | 4);
    if (!s->cells || fits < s->shift) make_cells(s, fits < s->shift ? fits : s->shift, p);
    if (s->unwatched) return;
    const struct touch now = emu_touch_now(kind, pc);
    if (emu_fenced && now.strong) emu_handover_strong(p, kind);
    const size_t size = (size_t)1 << s->shift;
    for (size_t i = offset >> s->shift; n > 0; i++, p += size, n -= size)
        if (basic == READ)
            read_cell(&s->cells[i], &s->stamps[i], p, holds, &now);
        else
            write_cell(&s->cells[i], &s->stamps[i], p, s->shift, basic == ATOMIC, &now);
}

static struct {
    char *base;
    struct emu_shadow *shadow;
} sections[2]; /* __device__ and __managed__ variables */

void emu_forget_touches(void)
{
    for (const struct emu_allocation *a = emu_allocation_behind(emu_memory_base); a;
         a = emu_allocation_behind(a->base))
        if (a->shadow) forget_cells(a->shadow);
    for (int i = 0; i < 2; i++)
        if (sections[i].shadow) forget_cells(sections[i].shadow);
}

struct emu_shadow *emu_variable_shadow(const char *p, size_t *offset)
{
    size_t bytes;
    char *const base = emu_variable_section(p, &bytes);
    if (!base) return NULL;
    *offset = (size_t)(p - base);
    for (int i = 0; i < 2; i++) {
        if (!sections[i].base) {
            sections[i].base = base;
            sections[i].shadow = emu_shadow_make(bytes, true);
        }
        if (sections[i].base == base) return sections[i].shadow;
    }
    return NULL;
}

/* ---- messages ---- */

static void name_block(char *text, size_t size, const struct touch *touch)
{
    const unsigned *grid = emu_now.launch->grid;
    size_t number;
    if (!emu_block_at(touch->time, &number) || emu_now.blocks > 1) {
        snprintf(text, size, "of another block");
        return;
    }
    snprintf(text, size, "of block (%zu,%zu,%zu)", number % grid[0],
             number / grid[0] % grid[1], number / grid[0] / grid[1]);
}

/* What would have ordered the two. */
static const char *remedy(const struct touch *earlier, const char *did,
                          const struct touch *now, const char *does)
{
    const bool both_write = *did == 'w' && *does == 'w';
    if (!in_other_block(earlier))
        return both_write ? "a missing __syncthreads(), or one index for two threads?"
                          : "a missing __syncthreads()?";
    if (earlier->in_block || now->in_block)
        return "an atomic whose name ends in _block is one only among the threads of a "
               "block";
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
                     "or a second launch";
    }
}

void emu_global_fault_race(const char *p, const struct touch *earlier, const char *did,
                           const struct touch *now, const char *does)
{
    char what[400], block[64] = "";
    const struct emu_place place = emu_source_of(emu_touch_pc(earlier));
    emu_describe_global(what, sizeof what, p);
    if (earlier->time < emu_times.launch)
        emu_fault(emu_touch_pc(now),
                  "data race in global memory, %s: a kernel in another stream %s it at "
                  "%s:%d, thread %s %s it here, and nothing orders the two (a missing "
                  "cudaStreamWaitEvent, or a wait of the host?)",
                  what, did, place.file, place.line, emu_thread_name(now->thread), does);
    if (in_other_block(earlier)) {
        block[0] = ' ';
        name_block(block + 1, sizeof block - 1, earlier);
    }
    emu_fault(
        emu_touch_pc(now),
        "data race in global memory, %s: thread %s%s %s it at %s:%d, thread %s%s %s "
        "it here, and nothing between orders the two (%s)",
        what, emu_thread_name(earlier->thread), block, did, place.file, place.line,
        emu_thread_name(now->thread), *block ? " of this one" : "", does,
        remedy(earlier, did, now, does));
}
