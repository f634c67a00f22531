/* What one thread hands to another without a barrier: it writes, executes a fence and
 * then an atomic (or a volatile store); the other sees that by an atomic (or a volatile
 * read) on the same word, executes a fence, and may read. PTX ISA, "Memory Consistency
 * Model": release and acquire patterns.
 *
 * A thread's `fenced` row says for each thread of its block up to which time what that
 * one did lies before a fence that lies before the row's owner. A strong write behind a
 * fence leaves the row with the word it goes to. Who reads that word, strongly, learns
 * all rows left there so far, and what their owners had learnt; after a fence (and, for
 * strong accesses, at once) it may count on that. Barriers of all kinds and __syncwarp()
 * pass on rows and learning; shuffles and votes pass on learning, which the memory model
 * does not promise and hardware does.
 *
 * Blocks run one after the other, so what is left at a word is a list that only grows,
 * and what a thread has learnt is how long the lists were. Where lists or memory end, all
 * counts as ordered: then a race may be missed, and none is invented. Without fences
 * nothing here costs anything. */
#include "watch/handover.h"

#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "base/room.h"
#include "base/settings.h"
#include "emulator_runtime.h"
#include "memory/streams.h"
#include "memory/touch.h"
#include "watch/clocks.h"

enum { THREADS = 1024, WARP = 32 };
enum { MOST_LEARNT = 512, MOST_PLACES = 1 << 18, MOST_TIMES = 1 << 26 };

bool emu_fenced, emu_fenced_for_all;
static bool trusting; /* too much to keep: everything is ordered */

/* ---- the blocks of the launch, by the time at which they began ---- */

static uint32_t *begins;
static size_t block_count, block_capacity;

/* The last of a rising list that is not above the limit; the first if all are. */
static size_t last_up_to(const uint32_t *list, size_t count, uint32_t limit)
{
    size_t low = 0, high = count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (list[middle] <= limit)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t emu_block_at(uint32_t time, size_t *number)
{
    if (block_count == 0) return 0;
    *number = last_up_to(begins, block_count, time);
    return begins[*number];
}

/* ---- what is left at a word ---- */

struct release {
    uint32_t time; /* of the strong write */
    uint32_t all;  /* what any thread of the block did before this time; */
    uint32_t at;   /* and what some did later: times[at], ... */
    uint16_t count;
    uint16_t thread; /* who left it */
};

static struct exception {
    uint32_t time;
    uint16_t thread;
} *times;
static size_t time_count, time_capacity;

struct learnt { /* the first `count` releases at the place */
    uint32_t place, count;
};
struct learning { /* sorted by place */
    struct learnt *items;
    unsigned count, capacity;
};

struct place {
    const char *address;
    struct release *releases;
    unsigned count, capacity;
    struct learning passed_on; /* what their authors had learnt */
};
static struct place *places;
static size_t place_count, place_capacity;
static uint32_t *table; /* place number + 1, by hash of the address */
static size_t table_size;

static bool grow(void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) return true;
    const size_t wanted = *capacity ? 2 * *capacity : 16;
    void *grown = realloc(*(void **)list, wanted * size);
    if (!grown) return !(trusting = true);
    *(void **)list = grown;
    *capacity = wanted;
    return true;
}

static uint32_t *slot_of(const char *address)
{
    size_t i = ((uintptr_t)address >> 2) * 0x9e3779b97f4a7c15u >> 20;
    while (table[i %= table_size] && places[table[i] - 1].address != address) i++;
    return &table[i];
}

static struct place *find_place(const char *address)
{
    if (place_count == 0) return NULL;
    const uint32_t number = *slot_of(address);
    return number ? &places[number - 1] : NULL;
}

static struct place *make_place(const char *address)
{
    struct place *const place = find_place(address);
    if (place) return place;
    if (place_count == MOST_PLACES) trusting = true;
    if (trusting || !grow(&places, place_count, &place_capacity, sizeof *places))
        return NULL;
    if (2 * place_count >= table_size) {
        const size_t size = table_size ? 2 * table_size : 64;
        uint32_t *const larger = calloc(size, sizeof *table);
        if (!larger) return trusting = true, NULL;
        free(table);
        table = larger;
        table_size = size;
        for (size_t i = 0; i < place_count; i++)
            *slot_of(places[i].address) = (uint32_t)i + 1;
    }
    places[place_count] = (struct place){.address = address};
    *slot_of(address) = (uint32_t)++place_count;
    return &places[place_count - 1];
}

/* ---- learning ---- */

static const struct learnt *find_learnt(const struct learning *l, uint32_t place)
{
    unsigned low = 0, high = l->count;
    while (low < high) {
        const unsigned middle = (low + high) / 2;
        if (l->items[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->count && l->items[low].place == place ? &l->items[low] : NULL;
}

/* Returns whether *into has changed. */
static bool learn(struct learning *into, struct learnt item)
{
    struct learnt *const found = (struct learnt *)find_learnt(into, item.place);
    if (found) {
        const bool more = item.count > found->count;
        if (more) found->count = item.count;
        return more;
    }
    size_t capacity = into->capacity;
    if (into->count == MOST_LEARNT) trusting = true;
    if (trusting || !grow(&into->items, into->count, &capacity, sizeof *into->items))
        return false;
    into->capacity = (unsigned)capacity;
    unsigned i = into->count++;
    for (; i > 0 && into->items[i - 1].place > item.place; i--)
        into->items[i] = into->items[i - 1];
    into->items[i] = item;
    return true;
}

static bool learn_all(struct learning *into, const struct learning *from)
{
    bool changed = false;
    for (unsigned i = 0; i < from->count; i++) changed |= learn(into, from->items[i]);
    return changed;
}

/* ---- the running block ---- */

/* `sure` may be counted on; `seen` only by strong accesses, or after a fence. */
struct mind {
    struct learning sure, seen;
};
static struct mind minds[THREADS], block_mind; /* the block's: at its last barrier */
static uint32_t (*fenced)[THREADS];            /* the rows */
static uint32_t block_fenced[THREADS];         /* what all have in common */
static bool has_row[THREADS];    /* has fenced, or met who has, since the last barrier */
static bool has_fenced[THREADS]; /* with a fence of whatever reach */
static bool block_used, any_fenced, any_learnt;
static bool warp_fenced[THREADS / WARP], warp_learnt[THREADS / WARP]; /* since they met */
static uint32_t warp_met[THREADS / WARP]; /* when all lanes met in a __syncwarp() */
static struct {
    uint32_t time, lanes;
} met[THREADS]; /* or when these did */
/* Of those who arrived at the barriers that order fewer than the block: see clocks.h. */
static struct mind slot_minds[EMU_SLOTS];
static uint32_t (*slot_fenced)[THREADS];
static bool slot_has_row[EMU_SLOTS];

/* A cluster may have more; then nothing is looked for. */
static unsigned thread_count(void)
{
    const unsigned places = emu_now.places;
    return places < THREADS ? places : THREADS;
}

static bool is_crowded(void)
{
    return emu_now.places > THREADS;
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void forget(struct mind *mind)
{
    mind->sure.count = mind->seen.count = 0;
}

static bool learn_mind(struct mind *into, const struct mind *from)
{
    const bool changed = learn_all(&into->sure, &from->sure);
    return learn_all(&into->seen, &from->seen) | changed;
}

static void join_rows(uint32_t *into, const uint32_t *from)
{
    for (unsigned t = 0; t < thread_count(); t++) into[t] = later(into[t], from[t]);
}

void emu_handover_launch_begins(void)
{
    for (size_t i = 0; i < place_count; i++) {
        free(places[i].releases);
        free(places[i].passed_on.items);
    }
    if (place_count > 0) memset(table, 0, table_size * sizeof *table);
    place_count = time_count = block_count = 0;
    emu_fenced = emu_fenced_for_all = trusting = false;
}

void emu_handover_block_begins(void)
{
    if (grow(&begins, block_count, &block_capacity, sizeof *begins))
        begins[block_count++] = emu_times.block;
    memset(warp_met, 0, sizeof warp_met);
    memset(met, 0, thread_count() * sizeof *met);
    if (!block_used) return;
    for (unsigned t = 0; t < THREADS; t++) forget(&minds[t]);
    for (unsigned i = 0; i < EMU_SLOTS; i++) forget(&slot_minds[i]);
    forget(&block_mind);
    memset(slot_has_row, 0, sizeof slot_has_row);
    memset(block_fenced, 0, sizeof block_fenced);
    memset(has_row, 0, sizeof has_row);
    memset(has_fenced, 0, sizeof has_fenced);
    memset(warp_fenced, 0, sizeof warp_fenced);
    memset(warp_learnt, 0, sizeof warp_learnt);
    block_used = any_fenced = any_learnt = false;
}

static uint32_t *row_of(unsigned thread)
{
    if (!has_row[thread])
        memcpy(fenced[thread], block_fenced, thread_count() * sizeof **fenced);
    has_row[thread] = true;
    return fenced[thread];
}

void emu_fence(int for_all)
{
    if (!emu_current || !emu_settings.check) return;
    if (for_all) emu_fenced_for_all = true;
    if (is_crowded()) emu_fenced = trusting = true;
    if (trusting) return;
    const unsigned thread = emu_current->linear, warp = emu_current->warp;
    emu_fenced = block_used = has_fenced[thread] = true;
    if (!for_all) return;
    if (!fenced && !(fenced = calloc(THREADS, sizeof *fenced))) {
        trusting = true;
        return;
    }
    any_fenced = warp_fenced[warp] = true;
    uint32_t *const row = row_of(thread);
    for (unsigned t = 0; t < thread_count(); t++) {
        row[t] = later(row[t], emu_times.interval);
        const uint32_t clock = emu_clock_of(thread, t);
        if (clock) row[t] = later(row[t], clock + 1);
    }
    for (unsigned lane = 0; lane < WARP; lane++) {
        uint32_t *const mate = &row[warp * WARP + lane];
        *mate = later(*mate, warp_met[warp]);
        if (met[thread].lanes >> lane & 1) *mate = later(*mate, met[thread].time);
    }
    row[thread] = ++emu_times.now;
    bool changed = learn_all(&minds[thread].sure, &minds[thread].seen);
    changed |= learn_all(&minds[thread].sure, &block_mind.seen);
    any_learnt |= changed;
    warp_learnt[warp] |= changed;
}

/* Leaves the running thread's row with a strong write. */
static void leave(struct place *place, unsigned thread, const uint32_t *row)
{
    const unsigned threads = thread_count();
    uint32_t all = UINT32_MAX;
    unsigned exceptions = 0;
    for (unsigned t = 0; t < threads; t++) all = row[t] < all ? row[t] : all;
    for (unsigned t = 0; t < threads; t++) exceptions += row[t] > all;

    size_t capacity = place->capacity;
    if (time_count + exceptions > MOST_TIMES) trusting = true;
    if (trusting ||
        !grow(&place->releases, place->count, &capacity, sizeof *place->releases))
        return;
    place->capacity = (unsigned)capacity;
    const size_t at = time_count;
    for (unsigned t = 0; t < threads; t++) {
        if (row[t] == all) continue;
        if (!grow(&times, time_count, &time_capacity, sizeof *times)) return;
        times[time_count++] = (struct exception){row[t], (uint16_t)t};
    }
    place->releases[place->count++] = (struct release){
        emu_times.now, all, (uint32_t)at, (uint16_t)exceptions, (uint16_t)thread};
}

/* Whether the last release at the place is the thread's own and says as much; then it is
 * brought up to date. A thread that tries again and again leaves one. */
static bool is_left(struct place *place, unsigned thread, const uint32_t *row)
{
    if (place->count == 0) return false;
    struct release *r = &place->releases[place->count - 1];
    uint32_t left = r->all;
    if (r->thread != thread || r->time < emu_times.block) return false;
    for (unsigned i = 0; i < r->count; i++)
        if (times[r->at + i].thread == thread) left = times[r->at + i].time;
    if (left == row[thread]) r->time = emu_times.now;
    return left == row[thread];
}

void emu_handover_strong(const char *p, enum emu_access kind)
{
    if (trusting) return;
    const unsigned thread = emu_current->linear;
    struct mind *const mind = &minds[thread];
    struct place *place = find_place(p);
    if ((kind & BASIC_KIND) != WRITE && place && place->count > 0) {
        const struct learnt all = {(uint32_t)(place - places), place->count};
        bool changed = learn(&mind->seen, all);
        changed |= learn_all(&mind->seen, &place->passed_on);
        block_used |= changed;
        any_learnt |= changed;
        warp_learnt[emu_current->warp] |= changed;
    }
    if ((kind & BASIC_KIND) == READ) return;
    if (!has_fenced[thread] && !has_row[thread] && !block_fenced[thread]) return;
    static const uint32_t nothing[THREADS];
    const uint32_t *const row = kind & IN_BLOCK   ? nothing
                                : has_row[thread] ? fenced[thread]
                                                  : block_fenced;
    emu_times.now++;
    if (!(place = make_place(p))) return;
    if (!is_left(place, thread, row)) leave(place, thread, row);
    learn_all(&place->passed_on, &mind->sure);
    learn_all(&place->passed_on, &block_mind.sure);
}

void emu_handover_barrier(void)
{
    const unsigned threads = thread_count();
    for (unsigned t = 0; any_learnt && t < threads; t++) {
        learn_mind(&block_mind, &minds[t]);
        forget(&minds[t]);
    }
    for (unsigned t = 0; any_fenced && t < threads; t++) {
        if (!has_row[t]) continue;
        join_rows(block_fenced, fenced[t]);
        has_row[t] = false;
    }
    any_fenced = any_learnt = false;
    memset(warp_fenced, 0, sizeof warp_fenced);
    memset(warp_learnt, 0, sizeof warp_learnt);
}

void emu_handover_lanes(unsigned warp, unsigned lanes, bool ordered)
{
    if (is_crowded()) return;
    const unsigned first = warp * WARP, threads = thread_count();
    const unsigned count = threads - first < WARP ? threads - first : WARP;
    const unsigned leader = first + (unsigned)__builtin_ctz(lanes);
    const bool full = lanes == ~0u;
    if (ordered) {
        emu_times.now++;
        if (full) warp_met[warp] = emu_times.now;
    }
    if (ordered && !full)
        for (unsigned lane = 0; lane < count; lane++)
            if (lanes >> lane & 1) {
                met[first + lane].time = emu_times.now;
                met[first + lane].lanes |= lanes;
            }
    if (ordered && warp_fenced[warp]) {
        for (unsigned lane = 0; lane < count; lane++) {
            if (!(lanes >> lane & 1) || !has_row[first + lane]) continue;
            join_rows(row_of(leader), fenced[first + lane]);
        }
        for (unsigned t = leader + 1; has_row[leader] && t < first + count; t++)
            if (lanes >> (t - first) & 1)
                memcpy(row_of(t), fenced[leader], threads * sizeof **fenced);
        if (full) warp_fenced[warp] = false;
    }
    if (!warp_learnt[warp]) return;
    for (unsigned t = leader + 1; t < first + count; t++)
        if (lanes >> (t - first) & 1) learn_mind(&minds[leader], &minds[t]);
    for (unsigned t = leader + 1; t < first + count; t++)
        if (lanes >> (t - first) & 1) learn_mind(&minds[t], &minds[leader]);
    if (full) warp_learnt[warp] = false;
}

static bool has_to_tell(void)
{
    return !trusting && block_used && !is_crowded();
}

void emu_check_mbarrier_arrived(unsigned slot)
{
    emu_clocks_arrived(slot);
    if (!has_to_tell()) return;
    const unsigned thread = emu_current->linear;
    learn_mind(&slot_minds[slot], &minds[thread]);
    if (!has_row[thread]) return;
    if (!slot_fenced)
        slot_fenced = emu_zeros("for fences", EMU_SLOTS, sizeof *slot_fenced);
    if (!slot_has_row[slot]) memset(slot_fenced[slot], 0, sizeof *slot_fenced);
    slot_has_row[slot] = true;
    join_rows(slot_fenced[slot], fenced[thread]);
}

void emu_check_mbarrier_passed(unsigned slot)
{
    if (emu_some_have_waited) emu_tell_of_waiting(emu_current->linear, 1);
    emu_clocks_passed(slot);
    if (!has_to_tell()) return;
    const unsigned thread = emu_current->linear, warp = emu_current->warp;
    if (learn_mind(&minds[thread], &slot_minds[slot]))
        any_learnt = warp_learnt[warp] = true;
    if (!slot_has_row[slot]) return;
    any_fenced = warp_fenced[warp] = true;
    join_rows(row_of(thread), slot_fenced[slot]);
}

/* ---- the question ---- */

static bool covers(const struct release *r, const struct touch *earlier, bool same_block)
{
    if (earlier->time < r->all) return true;
    if (same_block && r->thread == earlier->thread) return true;
    for (unsigned i = 0; i < r->count; i++)
        if (times[r->at + i].thread == earlier->thread)
            return earlier->time < times[r->at + i].time;
    return false;
}

/* As emu_handed_over, by what is learnt here. */
static enum emu_handover search(const struct learning *l, const struct touch *earlier)
{
    static const struct release *last; /* often the answer to the next question, too */
    static uint32_t last_place;
    enum emu_handover result = NOT_HANDED_OVER;
    if (l->count == 0) return result;
    size_t number;
    const uint32_t begin = emu_block_at(earlier->time, &number);
    const uint32_t end = number + 1 < block_count ? begins[number + 1] : UINT32_MAX;
    const bool same_block = begin == emu_times.block;
    const struct learnt *item =
        last_place < place_count ? find_learnt(l, last_place) : NULL;
    if (item && last >= places[last_place].releases &&
        last < places[last_place].releases + item->count && last->time > earlier->time &&
        last->time < end && covers(last, earlier, same_block))
        return HANDED_OVER;
    for (unsigned i = 0; i < l->count; i++) {
        const struct release *list = places[l->items[i].place].releases;
        unsigned low = 0, high = l->items[i].count;
        while (low < high) {
            const unsigned middle = (low + high) / 2;
            if (list[middle].time <= earlier->time)
                low = middle + 1;
            else
                high = middle;
        }
        if (low > 0 && list[low - 1].time >= begin) result = RELEASED_TOO_LITTLE;
        for (; low < l->items[i].count && list[low].time < end; low++) {
            if (covers(&list[low], earlier, same_block)) {
                last = &list[low];
                last_place = l->items[i].place;
                return HANDED_OVER;
            }
            result = RELEASED_TOO_LITTLE;
        }
    }
    return result;
}

enum emu_handover emu_handed_over(const struct touch *earlier, const struct touch *now)
{
    if (trusting) return HANDED_OVER;
    const bool same_block = earlier->time >= emu_times.block;
    const struct mind *const mind = &minds[now->thread];
    enum emu_handover sure = search(&mind->sure, earlier);
    if (sure != HANDED_OVER) sure = later(sure, search(&block_mind.sure, earlier));
    if (sure == HANDED_OVER) return sure;
    enum emu_handover seen =
        later(search(&mind->seen, earlier), search(&block_mind.seen, earlier));
    if (seen == HANDED_OVER)
        return now->strong || same_block || !emu_settings.strict ? HANDED_OVER
                                                                 : NOT_ACQUIRED;
    return later(sure, seen);
}
