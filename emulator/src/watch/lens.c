/* Counts what the memory system would have seen.
 *
 * The lanes of a warp run one after the other here, and on a GPU together. So each lane's
 * accesses go into a log, and when every lane has had its turn the logs are merged: what
 * the 32 lanes did at the same place in the program becomes one request of the warp. "The
 * same place" is found as the hardware's convergence is: among the lanes' next events the
 * one deepest in the calls goes first, then the one lowest in the code, and all lanes
 * whose next event is that one take part. The entries of basic blocks are logged too;
 * they keep a lane that skips an iteration of a loop apart from the lanes that don't. */
#include "watch/lens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "base/room.h"
#include "base/settings.h"
#include "base/source.h"
#include "block/fibers.h"
#include "block/shared.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"
#include "memory/touch.h"
#include "memory/variables.h"
#include "watch/lens_counts.h"
#include "watch/lens_report.h"
#include "watch/lens_request.h"
#include "watch/lens_sums.h"

static struct lens_kernel *kernels;

enum { LANES = 32, LOG_EVENTS = 2000 };

struct event {
    uint64_t address;
    uint32_t pc;
    uint16_t depth; /* of the stack, in 16 bytes */
    uint8_t kind;   /* enum lens_class */
    uint8_t bytes : 7;
    uint8_t loose : 1; /* they may lie anywhere: their alignment is not known */
};

/* The odd rest in the row length keeps the 32 lanes' logs out of each other's cache sets.
 */
static struct event (*logs)[LOG_EVENTS + 5]; /* LANES of them */
static unsigned begin[LANES], end[LANES];

static bool paused;   /* by cudaProfilerStop */
static bool watching; /* the running launch is looked at */
static struct lens_kernel *kernel;
static uint64_t block_number, stride, events_in_block;
static bool resumes; /* the block has waited for others, and some of it was seen before */

/* Above this many events a launch is looked at block by block, not all of them. */
static const uint64_t MANY_EVENTS = 300000000;

/* ---- the log ---- */

static void log_event(const void *p, size_t bytes, bool loose, enum lens_class kind,
                      const void *pc, const void *frame)
{
    const unsigned lane = emu_current->lane;
    /* The other lanes' turn: the log empties as far as they have come. */
    while (end[lane] == LOG_EVENTS) {
        emu_yield();
        end[lane] -= begin[lane];
        memmove(logs[lane], logs[lane] + begin[lane], end[lane] * sizeof **logs);
        begin[lane] = 0;
    }
    logs[lane][end[lane]++] = (struct event){
        .address = (uint64_t)(uintptr_t)p,
        .pc = (uint32_t)(uintptr_t)pc,
        .depth = (uint16_t)((emu_current->stack_high - (const char *)frame) / 16),
        .kind = (uint8_t)kind,
        .bytes = bytes & 0x7f,
        .loose = loose,
    };
}

/* Which class an access is of; LENS_CLASSES: of none. */
static enum lens_class class_of(const char *p, enum emu_access kind)
{
    const bool read = kind == EMU_READ, write = kind == EMU_WRITE;
    if (emu_is_shared(p))
        return read ? SHARED_LOAD : write ? SHARED_STORE : SHARED_ATOMIC;
    if (!emu_is_global(p)) {
        /* Local memory is registers, if the GPU's compiler can help it. */
        if (emu_is_own(p)) return LENS_CLASSES;
        if (emu_is_constant_variable(p)) return CONSTANT_LOAD;
        if (!emu_is_device_variable(p) && !emu_is_local_static(p)) return LENS_CLASSES;
    }
    return read ? GLOBAL_LOAD : write ? GLOBAL_STORE : GLOBAL_ATOMIC;
}

void emu_lens_access(const void *p, size_t bytes, enum emu_access kind, const void *pc,
                     const void *frame)
{
    if (bytes > 16 || bytes & (bytes - 1)) { /* no instruction moves these at once */
        emu_lens_range(p, bytes, kind, pc, frame);
        return;
    }
    const enum lens_class class = class_of(p, kind);
    if (class == LENS_CLASSES) return;
    if (class == SHARED_LOAD) emu_current->shared_loads++;
    log_event(p, bytes, false, class, pc, frame);
}

void emu_lens_range(const void *p, size_t bytes, enum emu_access kind, const void *pc,
                    const void *frame)
{
    enum { PIECE = 16 }; /* that one request's lanes may agree upon */
    const enum lens_class class = class_of(p, kind);
    if (class == LENS_CLASSES) return;
    if (class == SHARED_LOAD) emu_current->shared_loads++;
    for (size_t i = 0; i < bytes; i += PIECE)
        log_event((const char *)p + i, bytes - i < PIECE ? bytes - i : PIECE, true, class,
                  pc, frame);
}

void emu_lens_async_copy(const void *shared, const void *global, size_t bytes,
                         size_t zero_fill, const void *pc, const void *frame)
{
    if (zero_fill < bytes)
        log_event(global, bytes - zero_fill, false, ASYNC_READ, pc, frame);
    log_event(shared, bytes, false, ASYNC_WRITE, pc, frame);
}

void emu_lens_copy_arrived(unsigned shared_loads)
{
    /* A copy that is forgotten for long shall not make up for others. */
    enum { MOST = 64 };
    kernel->copies_arrived++;
    kernel->loads_beside_copies += shared_loads < MOST ? shared_loads : MOST;
}

void emu_lens_tensor(uint64_t multiply_adds, unsigned bits, size_t shared_bytes)
{
    kernel->tensor_multiply_adds += multiply_adds;
    kernel->tensor_work += (double)multiply_adds * bits / 16.0;
    kernel->tensor_bytes += shared_bytes;
}

void emu_lens_warp_exchange(void)
{
    kernel->warp_exchanges++;
}

void emu_lens_basic_block(const void *pc, const void *frame)
{
    log_event(NULL, 0, false, BASIC_BLOCK, pc, frame);
}

/* ---- distinct bytes of the whole launch ---- */

/* One bit for each 4 bytes of an allocation, for loads and for stores. */
struct footprint {
    char *base;
    size_t bytes;
    uint32_t *loaded, *stored;
};

static struct footprint footprints[64];
static unsigned footprint_count, last_footprint;
static bool footprints_complete;

static void footprints_make(void)
{
    enum { MOST = 1 << 30 };
    size_t total = 0;
    footprint_count = last_footprint = 0;
    footprints_complete = true;
    for (const struct emu_allocation *a = emu_allocation_behind(emu_memory_base); a;
         a = emu_allocation_behind(a->base)) {
        total += a->bytes;
        if (footprint_count == sizeof footprints / sizeof *footprints || total > MOST) {
            footprints_complete = false;
            return;
        }
        size_t words = a->bytes / 128 + 1;
        footprints[footprint_count++] = (struct footprint){
            a->base, a->bytes, emu_zeros("for the lens", words, sizeof(uint32_t)),
            emu_zeros("for the lens", words, sizeof(uint32_t))};
    }
}

static void footprint_touch(uint64_t address, unsigned bytes, bool store)
{
    const char *p = (const char *)address;
    struct footprint *f = &footprints[last_footprint];
    for (unsigned i = 0; (size_t)(p - f->base) >= f->bytes; i++) {
        if (i == footprint_count) return; /* a device variable */
        f = &footprints[last_footprint = i];
    }
    uint32_t *bits = store ? f->stored : f->loaded;
    if (!bits) return;
    size_t first = (size_t)(p - f->base) / 4,
           last = ((size_t)(p - f->base) + bytes - 1) / 4;
    for (size_t i = first; i <= last; i++) bits[i / 32] |= 1u << i % 32;
}

static uint64_t footprint_bytes(bool store)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < footprint_count; i++) {
        const uint32_t *bits = store ? footprints[i].stored : footprints[i].loaded;
        for (size_t j = 0; bits && j < footprints[i].bytes / 128 + 1; j++)
            count += (unsigned)__builtin_popcount(bits[j]);
    }
    return 4 * count;
}

static void footprints_free(void)
{
    for (unsigned i = 0; i < footprint_count; i++)
        free(footprints[i].loaded), free(footprints[i].stored);
    footprint_count = 0;
}

/* ---- the requests of a place in the program ---- */

static unsigned lanes_in(uint32_t group)
{
    return group == ~0u ? LANES : (unsigned)__builtin_popcount(group);
}

/* The running kernel's sites, to be found by what they are: a power of two of places, of
 * which more than half are free, so that a search soon comes to one. */
static struct lens_site **table;
static unsigned table_size, table_used;

static unsigned slot_of(uint32_t pc, unsigned kind, unsigned bytes)
{
    return (pc * 31 + kind * 7 + bytes) & (table_size - 1);
}

static void enter_site(struct lens_site *s)
{
    unsigned slot = slot_of((uint32_t)(uintptr_t)s->pc, s->kind, s->bytes);
    while (table[slot]) slot = (slot + 1) & (table_size - 1);
    table[slot] = s;
    table_used++;
}

/* Makes the table anew, of all the kernel's sites, with so many places. */
static void make_table(unsigned size)
{
    if (size != table_size) {
        free(table);
        table = emu_zeros("for the lens", size, sizeof *table);
        table_size = size;
    }
    memset(table, 0, size * sizeof *table);
    table_used = 0;
    for (struct lens_site *s = kernel->sites; s; s = s->next) enter_site(s);
}

static void find_room(void)
{
    enum { FIRST_SIZE = 4096 };
    unsigned size = FIRST_SIZE, sites = 0;
    for (const struct lens_site *s = kernel->sites; s; s = s->next) sites++;
    while (size / 2 <= sites) size *= 2;
    make_table(size);
}

static struct lens_site *site_of(const struct event *e)
{
    unsigned slot = slot_of(e->pc, e->kind, e->bytes);
    for (struct lens_site *s; (s = table[slot]); slot = (slot + 1) & (table_size - 1))
        if ((uint32_t)(uintptr_t)s->pc == e->pc && s->kind == e->kind &&
            s->bytes == e->bytes)
            return s;
    struct lens_site *s = emu_zeros("for the lens", 1, sizeof *s);
    s->pc = (const void *)(uintptr_t)e->pc;
    s->kind = e->kind;
    s->bytes = e->bytes;
    s->kernel = kernel;
    s->next = kernel->sites;
    kernel->sites = s;
    if (2 * (table_used + 1) < table_size)
        enter_site(s);
    else
        make_table(2 * table_size);
    return s;
}

static void keep_example(struct lens_site *s, const uint64_t *address, uint32_t lanes,
                         unsigned warp, unsigned cost)
{
    if (emu_settings.lens_warp >= 0
            ? (long)warp != emu_settings.lens_warp || s->example.lanes
            : cost <= s->example.cost)
        return;
    memcpy(s->example.address, address, sizeof s->example.address);
    s->example.lanes = lanes;
    s->example.block = emu_now.block;
    s->example.warp = warp;
    s->example.cost = cost;
}

/* ---- shared loads as joined ---- Where a thread loads neighbouring words of shared
 * memory, in whatever order, and the compiler can prove the alignment, it makes one
 * instruction of them: four LDS of 4 bytes become an LDS.128. What it has loaded already
 * it keeps in a register. What is written is therefore one figure, and what may be left
 * of it another: here requests of a warp that stay, in all of its lanes, within 16 bytes
 * from a multiple of 16 on (or 8 from a multiple of 8) are taken for parts of one. In
 * chapters 3 to 5 nvcc does just that: results/lens_vs_ncu.csv. */
enum { OPEN_LOADS = 32 };

static struct open_load {
    struct lens_site *site; /* of its first words; NULL: nothing here */
    uint64_t base[LANES];   /* a multiple of `most` */
    uint32_t lanes;
    unsigned most;   /* bytes that one instruction may load from there on, */
    unsigned loaded; /* and those of them that are, a bit each */
} open_loads[OPEN_LOADS];
static unsigned next_open;

/* Instructions are of 16, 8 or 4 bytes, or of what was loaded where that is less. */
static void close_load(struct open_load *o)
{
    if (!o->site) return;
    unsigned bytes = o->most < 16 ? o->most : 16;
    for (unsigned at = 0; at < o->most;) {
        const unsigned bits = (1u << bytes) - 1;
        if ((o->loaded >> at & bits) == bits && at % bytes == 0) {
            uint64_t address[LANES];
            unsigned ideal;
            for (unsigned lane = 0; lane < LANES; lane++)
                address[lane] = o->base[lane] + at;
            o->site->joined_requests++;
            o->site->joined_wavefronts +=
                lens_wavefronts(address, o->lanes, bytes, false, &ideal);
            o->site->joined_ideal += ideal;
            at += bytes;
            bytes = o->most;
        } else if (bytes > 1) {
            bytes /= 2;
        } else {
            at++;
            bytes = o->most;
        }
    }
    o->site = NULL;
}

static void close_loads(void)
{
    for (unsigned i = 0; i < OPEN_LOADS; i++) close_load(&open_loads[i]);
}

/* Whether every lane's address is `offset` bytes behind the open load's base. */
static bool belongs(const struct open_load *o, const uint64_t *address, uint64_t offset)
{
    for (uint32_t rest = o->lanes; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        if (address[lane] - o->base[lane] != offset) return false;
    }
    return true;
}

static void join(struct lens_site *s, const uint64_t *address, uint32_t lanes,
                 unsigned bytes)
{
    const unsigned leader = (unsigned)__builtin_ctz(lanes), bits = (1u << bytes) - 1;
    for (unsigned i = 0; i < OPEN_LOADS; i++) {
        struct open_load *o = &open_loads[i];
        if (!o->site || o->lanes != lanes) continue;
        const uint64_t offset = address[leader] - o->base[leader];
        if (offset + bytes > o->most || offset >= o->most || !belongs(o, address, offset))
            continue;
        const unsigned old = o->loaded >> offset & bits;
        if (old && old != bits) continue;
        o->loaded |= bits << offset;
        return;
    }
    struct open_load *o = &open_loads[next_open++ % OPEN_LOADS];
    close_load(o);
    unsigned most = bytes < 4 ? bytes : 16;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        while (most > bytes && (address[lane] - address[leader]) % most) most /= 2;
    }
    const unsigned offset = (unsigned)(address[leader] % most);
    *o = (struct open_load){
        .site = s, .lanes = lanes, .most = most, .loaded = bits << offset};
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        o->base[lane] = address[lane] - offset;
    }
}

/* One request: `count` lanes take part, and `dense` are their addresses side by side. */
static void count_request(const struct event *e, const uint64_t *address,
                          const uint64_t *dense, uint32_t group, unsigned n,
                          unsigned warp)
{
    struct lens_site *s = site_of(e);
    const unsigned unique_bytes = lens_unique_bytes(dense, n, e->bytes);
    unsigned cost = 0;
    s->requests++;
    s->lanes += n;
    s->unique_bytes += unique_bytes;
    if (lens_touches_banks(e->kind)) {
        unsigned ideal;
        uint64_t step;
        if (e->bytes == 4 && lens_constant_stride(dense, n, &step) &&
            (step == 4 || step == 0))
            cost = ideal = 1; /* neighbours in neighbouring banks, or one word for all */
        else
            cost =
                lens_wavefronts(address, group, e->bytes, e->kind != SHARED_LOAD, &ideal);
        s->wavefronts += cost;
        s->ideal += ideal;
        if (e->kind == SHARED_LOAD) join(s, address, group, e->bytes);
    } else if (e->kind == CONSTANT_LOAD) {
        cost =
            unique_bytes / e->bytes; /* a cache of its own, that serves a value a turn */
    } else {
        cost = e->kind == ASYNC_READ && e->bytes == 16
                   ? lens_sectors_past_l1(address, group)
                   : lens_pieces(dense, n, 5);
        s->sectors += cost;
        s->lookups += lens_pieces(dense, n, 7);
        s->ideal += (unique_bytes + 31) / 32;
        if (footprints_complete)
            for (unsigned i = 0; i < n; i++)
                footprint_touch(dense[i], e->bytes, e->kind == GLOBAL_STORE);
    }
    keep_example(s, address, group, warp, cost);
}

/* What a compiler that knows no alignment makes of a request: as many of words, or of
 * what the lanes' addresses and sizes allow. One lane's address may be a multiple of more
 * by chance. */
static void count_loose(struct event e, uint64_t *address, uint64_t *dense,
                        uint32_t group, unsigned n, unsigned warp)
{
    const unsigned bytes = e.bytes;
    uint64_t all = 4 | bytes;
    for (unsigned i = 0; i < n; i++) all |= dense[i];
    e.bytes = all & -all & 0x7f;
    for (unsigned done = 0; done < bytes; done += e.bytes) {
        count_request(&e, address, dense, group, n, warp);
        for (unsigned i = 0; i < n; i++) dense[i] += e.bytes;
        for (unsigned lane = 0; lane < LANES; lane++) address[lane] += e.bytes;
    }
}

/* The lanes in `group` execute the event at their logs' heads together. */
static void count(uint32_t group, unsigned warp)
{
    const unsigned leader = (unsigned)__builtin_ctz(group);
    const struct event e = logs[leader][begin[leader]];
    uint64_t address[LANES] = {0}, dense[LANES];
    unsigned n = 0;
    if (e.kind == BASIC_BLOCK) {
        struct lens_site *s = site_of(&e);
        s->requests++;
        s->lanes += lanes_in(group);
        return;
    }
    for (uint32_t rest = group; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        dense[n++] = address[lane] = logs[lane][begin[lane]].address;
    }
    if (e.loose)
        count_loose(e, address, dense, group, n, warp);
    else
        count_request(&e, address, dense, group, n, warp);
}

/* The logs of a warp that had to stop while a lane of it was missing. */
struct kept_logs {
    unsigned begin[LANES], end[LANES];
    struct event logs[LANES][LOG_EVENTS + 5];
};
static struct kept_logs *kept[EMU_MAX_WARPS];
static unsigned logging_warp;

void emu_lens_warp_begins(unsigned warp)
{
    close_loads(); /* no compiler joins loads across a barrier */
    if (warp == logging_warp) return;
    bool left = false;
    for (unsigned lane = 0; lane < LANES; lane++) left |= begin[lane] != end[lane];
    if (left) {
        struct kept_logs *k = kept[logging_warp] =
            emu_zeros("for the lens", 1, sizeof *k);
        memcpy(k->begin, begin, sizeof begin);
        memcpy(k->end, end, sizeof end);
        memcpy(k->logs, logs, sizeof k->logs);
    }
    memset(begin, 0, sizeof begin);
    memset(end, 0, sizeof end);
    logging_warp = warp;
    struct kept_logs *k = kept[warp];
    if (!k) return;
    memcpy(begin, k->begin, sizeof begin);
    memcpy(end, k->end, sizeof end);
    memcpy(logs, k->logs, sizeof k->logs);
    free(k);
    kept[warp] = NULL;
}

void emu_lens_merge(unsigned warp, unsigned may_come)
{
    for (;;) {
        uint32_t present = 0, group = 0;
        const struct event *first = NULL;
        for (unsigned lane = 0; lane < LANES; lane++) {
            if (begin[lane] == end[lane]) {
                begin[lane] = end[lane] = 0;
                if (may_come >> lane & 1)
                    return; /* its next event may belong before all others */
                continue;
            }
            const struct event *e = &logs[lane][begin[lane]];
            present |= 1u << lane;
            bool same = first && e->pc == first->pc && e->depth == first->depth &&
                        e->kind == first->kind && e->bytes == first->bytes &&
                        e->loose == first->loose;
            if (same) {
                group |= 1u << lane;
            } else if (!first || e->depth > first->depth ||
                       (e->depth == first->depth &&
                        (e->pc < first->pc ||
                         (e->pc == first->pc && e->kind < first->kind)))) {
                first = e;
                group = 1u << lane;
            }
        }
        if (!present) return;
        events_in_block += lanes_in(group);
        count(group, warp);
        for (; group; group &= group - 1) begin[__builtin_ctz(group)]++;
    }
}

void emu_lens_bulk_copy(const void *global, size_t bytes, bool first, bool store,
                        const void *pc)
{
    const struct event e = {.pc = (uint32_t)(uintptr_t)pc,
                            .kind = store ? BULK_STORE : BULK_COPY,
                            .bytes = 4};
    struct lens_site *s = site_of(&e);
    const uint64_t address = (uint64_t)(uintptr_t)global;
    s->requests += first;
    s->lanes += bytes / 4;
    s->unique_bytes += bytes;
    const uint64_t sectors = (address + bytes - 1) / 32 - address / 32 + 1;
    s->sectors += sectors;
    s->ideal += sectors; /* a copy's rows lie where they lie */
    if (footprints_complete)
        for (size_t i = 0; i < bytes; i += 4) footprint_touch(address + i, 4, store);
}

void emu_lens_texture_fetch(void)
{
    kernel->texture_fetches++;
}

/* ---- launches and blocks ---- */

static struct lens_kernel *kernel_of(const struct emu_launch *launch)
{
    struct lens_kernel **place = &kernels;
    for (; *place; place = &(*place)->next)
        if ((*place)->address == launch->address &&
            (launch->address || strcmp((*place)->name, launch->kernel) == 0))
            return *place;
    struct lens_kernel *k = *place = emu_zeros("for the lens", 1, sizeof *k);
    k->name = emu_copy_of(launch->kernel);
    k->address = launch->address;
    return k;
}

void emu_lens_pause(bool pause)
{
    paused = pause;
}

void emu_lens_launch_begins(void)
{
    watching = emu_settings.lens && !paused;
    if (!watching) return;
    if (!logs) logs = emu_zeros("for the lens", LANES, sizeof *logs);
    kernel = kernel_of(emu_now.launch);
    find_room();
    if (kernel->launches &&
        (memcmp(kernel->grid, emu_now.launch->grid, sizeof kernel->grid) ||
         memcmp(kernel->block, emu_now.launch->block, sizeof kernel->block)))
        kernel->shapes_differ = true;
    memcpy(kernel->grid, emu_now.launch->grid, sizeof kernel->grid);
    memcpy(kernel->block, emu_now.launch->block, sizeof kernel->block);
    kernel->launches++;
    stride = 1;
    const uint64_t blocks = (uint64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2];
    const uint64_t blocks_wanted = (uint64_t)emu_settings.lens_blocks;
    if (blocks_wanted && blocks_wanted < blocks)
        stride = (blocks + blocks_wanted - 1) / blocks_wanted;
    kernel->blocks += blocks;
    footprints_make();
}

void emu_lens_launch_repeats(void)
{
    if (!watching) return;
    const uint64_t blocks = (uint64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2];
    kernel->launches--;
    kernel->blocks -= blocks;
    kernel->blocks_seen -= emu_now.blocks;
    footprints_free();
}

void emu_lens_block_begins(unsigned long long number, bool again)
{
    if (!watching) return;
    block_number = number;
    resumes = again;
    emu_now.lens_looks = block_number % stride == 0;
    if (emu_now.lens_looks) emu_attention |= EMU_LENS;
    if (!emu_now.lens_looks) return;
    events_in_block = 0;
    memset(begin, 0, sizeof begin);
    memset(end, 0, sizeof end);
    logging_warp = 0;
}

void emu_lens_block_ended(void)
{
    if (!watching) return;
    if (emu_now.lens_looks) {
        close_loads();
        if (!resumes) kernel->blocks_seen += emu_now.blocks;
        kernel->shared = emu_shared_in_use();
        kernel->steps += events_in_block;
        if (events_in_block > kernel->most_steps) kernel->most_steps = events_in_block;
    }
    const uint64_t blocks = (uint64_t)kernel->grid[0] * kernel->grid[1] * kernel->grid[2];
    /* The first block tells how much all of them would be. */
    if (block_number == 0 && !resumes && !emu_settings.lens_blocks)
        stride = 1 + events_in_block * blocks / MANY_EVENTS;
    emu_now.lens_looks = false;
    emu_attention &= ~EMU_LENS;
}

void emu_lens_launch_ended(void)
{
    if (!watching) return;
    if (footprints_complete && stride == 1) {
        kernel->loaded_bytes += footprint_bytes(false);
        kernel->stored_bytes += footprint_bytes(true);
    } else {
        kernel->bytes_unknown = true;
    }
    footprints_free();
}

/* ---- start and end of the program ---- */

/* At its launch a kernel may be called k<T>, or table[i]: its own name says which it is.
 * From "void ns::k<float>(float *)" that is what lies between. */
static void use_own_name(struct lens_kernel *k)
{
    static const char returns[] = "void ";
    if (!k->address) return;
    char *name = emu_copy_of(emu_source_of((const char *)k->address + 1).whole);
    char *end = strrchr(name, ')');
    for (int depth = 0; end && end > name; end--) {
        depth += (*end == ')') - (*end == '(');
        if (depth == 0) break;
    }
    const size_t skipped =
        strncmp(name, returns, sizeof returns - 1) == 0 ? sizeof returns - 1 : 0;
    if (end && end > name + skipped) {
        *end = '\0';
        free(k->name);
        k->name = emu_copy_of(name + skipped);
    }
    free(name);
}

/* A program that launches nothing has a report too; not so a process that it forked, nor
 * one that fails before its first launch, and has said why. */
static pid_t program;

static void at_exit(int status, void *unused)
{
    (void)unused;
    fflush(stdout);
    if (!kernels && (status || getpid() != program)) return;
    for (struct lens_kernel *k = kernels; k; k = k->next) use_own_name(k);
    lens_report(kernels);
}

__attribute__((constructor(102))) static void watch_exit(void)
{
    if (!emu_settings.lens) return;
    program = getpid();
    on_exit(at_exit, NULL);
}
