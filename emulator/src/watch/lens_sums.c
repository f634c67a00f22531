/* What the report adds up: rows, the sites of a source line that behave alike; totals;
 * and the bound.
 *
 * The bound is the least time that a launch can take on this GPU, by each of the
 * resources that the counts are about: what is asked of it, over what all its
 * multiprocessors give in that time. No overlap, no waiting and no cache makes it less;
 * all of them, and whatever is not counted, make it more. LENS.md has the sources of the
 * rates. */
#include "watch/lens_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "base/room.h"
#include "base/source.h"
#include "watch/lens_counts.h"
#include "../gpus.h"

const char *const lens_class_names[LENS_CLASSES] = {
    "global load",  "global store",  "global atomic",    "shared load",
    "shared store", "shared atomic", "async copy, read", "async copy, write",
    "bulk copy",    "bulk store",    "constant load",    "basic block"};

bool lens_by_copy_engine(enum lens_class kind)
{
    return kind == BULK_COPY || kind == BULK_STORE;
}

bool lens_touches_banks(enum lens_class kind)
{
    return kind == SHARED_LOAD || kind == SHARED_STORE || kind == SHARED_ATOMIC ||
           kind == ASYNC_WRITE;
}

/* ---- rows and totals ---- */

double lens_ratio(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0.0;
}

/* Copies that the compiler made of one access (unrolling) cost the same each; two
 * accesses on one line seldom do. */
static bool alike(const struct lens_site *a, const struct lens_site *b)
{
    return a->kind == b->kind && a->bytes == b->bytes &&
           a->sectors * b->requests == b->sectors * a->requests &&
           a->wavefronts * b->requests == b->wavefronts * a->requests &&
           a->lanes * b->requests == b->lanes * a->requests &&
           a->unique_bytes * b->requests == b->unique_bytes * a->requests;
}

static void add(struct lens_site *sum, const struct lens_site *s)
{
    sum->requests += s->requests;
    sum->lanes += s->lanes;
    sum->sectors += s->sectors;
    sum->unique_bytes += s->unique_bytes;
    sum->wavefronts += s->wavefronts;
    sum->lookups += s->lookups;
    sum->joined_requests += s->joined_requests;
    sum->joined_wavefronts += s->joined_wavefronts;
    sum->joined_ideal += s->joined_ideal;
    sum->ideal += s->ideal;
    if (s->example.cost > sum->example.cost) sum->example = s->example;
}

static int row_order(const void *a, const void *b)
{
    const struct lens_row *x = a, *y = b;
    int order = strcmp(x->place.file, y->place.file);
    if (!order) order = x->place.line - y->place.line;
    if (!order) order = (int)x->sum.kind - (int)y->sum.kind;
    if (!order) order = (x->sum.pc > y->sum.pc) - (x->sum.pc < y->sum.pc);
    return order;
}

struct lens_row *lens_rows_of(const struct lens_kernel *k, unsigned *count)
{
    struct lens_row *rows = NULL;
    *count = 0;
    for (const struct lens_site *s = k->sites; s; s = s->next) {
        if (s->kind == BASIC_BLOCK) continue;
        struct emu_place place = emu_source_of(s->pc);
        unsigned i = 0;
        while (i < *count &&
               !(rows[i].place.line == place.line &&
                 strcmp(rows[i].place.file, place.file) == 0 && alike(&rows[i].sum, s)))
            i++;
        if (i == *count) {
            rows = emu_resized(rows, "for the lens", ++*count, sizeof *rows);
            rows[i] = (struct lens_row){place, *s};
            continue;
        }
        add(&rows[i].sum, s);
        if (s->pc > rows[i].sum.pc) continue;
        rows[i].sum.pc = s->pc;
        if (s->example.cost >= rows[i].sum.example.cost) rows[i].sum.example = s->example;
    }
    if (rows) qsort(rows, *count, sizeof *rows, row_order);
    return rows;
}

struct lens_site lens_total_of(const struct lens_kernel *k, enum lens_class kind)
{
    struct lens_site sum = {.kind = kind};
    for (const struct lens_site *s = k->sites; s; s = s->next)
        if (s->kind == kind) add(&sum, s);
    return sum;
}

static uint64_t requested_bytes(const struct lens_kernel *k, enum lens_class kind)
{
    uint64_t bytes = 0;
    for (const struct lens_site *s = k->sites; s; s = s->next)
        if (s->kind == kind) bytes += s->lanes * s->bytes;
    return bytes;
}

uint64_t lens_loads_requested(const struct lens_kernel *k)
{
    return requested_bytes(k, GLOBAL_LOAD) + requested_bytes(k, ASYNC_READ) +
           requested_bytes(k, BULK_COPY);
}

double lens_needs(const struct lens_site *s, double *wasted)
{
    const double more = lens_touches_banks(s->kind) ? s->wavefronts : s->sectors;
    *wasted = more - (double)s->ideal;
    const double joined = (double)s->joined_wavefronts - (double)s->joined_ideal;
    if (s->kind != SHARED_LOAD || joined >= *wasted) return (double)s->ideal;
    *wasted = joined;
    return (double)s->joined_ideal;
}

double lens_waste(const struct lens_site *s)
{
    double wasted;
    lens_needs(s, &wasted);
    return wasted;
}

/* ---- the bound ---- */

const char *const lens_resource_names[RESOURCES] = {
    "multiply-adds", "16-bit multiply-adds", "tensor cores", "issue slots",
    "shared memory", "L1 lookups",           "L1 sectors",   "device memory"};

int lens_tensor_multiply_adds_per_clock(int major, int minor)
{
    switch (10 * major + minor) {
    case 80: return 1024;
    case 90: return 2048;
    case 100:
    case 103: return 4096;
    default: return 512;
    }
}

unsigned lens_busy_sms(const struct lens_kernel *k)
{
    const unsigned sms = (unsigned)emu_gpu()->prop.multiProcessorCount;
    const uint64_t blocks = (uint64_t)k->grid[0] * k->grid[1] * k->grid[2];
    return k->shapes_differ || blocks > sms ? sms : (unsigned)blocks;
}

unsigned lens_bound_of(const struct lens_kernel *k, double seconds[RESOURCES])
{
    const struct cudaDeviceProp *gpu = &emu_gpu()->prop;
    const double sms = lens_busy_sms(k);
    const double clocks = 1e3 * emu_gpu()->clock_khz * sms; /* of all SMs in a second */
    const double launches = k->shapes_differ ? 1.0 : (double)k->launches;
    const double per = lens_ratio(k->blocks, k->blocks_seen) / launches;
    double requests = 0.0, wavefronts = 0.0, lookups = 0.0, sectors = 0.0;
    struct lens_flop flop;
    for (int kind = 0; kind < BASIC_BLOCK; kind++) {
        const struct lens_site s = lens_total_of(k, kind);
        /* An operand from constant memory needs no instruction of its own. */
        if (kind == CONSTANT_LOAD) continue;
        lookups += (double)s.lookups;
        if (kind == SHARED_LOAD) {
            requests += (double)s.joined_requests;
            wavefronts +=
                (double)(s.joined_wavefronts < s.wavefronts ? s.joined_wavefronts
                                                            : s.wavefronts);
        } else if (kind == SHARED_STORE) { /* neighbours may be joined here, too */
            requests += (double)s.requests / 4.0;
            wavefronts += (double)s.unique_bytes / 128.0;
        } else {
            if (kind != ASYNC_WRITE) requests += (double)s.requests;
            wavefronts += (double)s.wavefronts;
        }
        if (kind == GLOBAL_LOAD) sectors += (double)s.sectors;
    }
    const bool flop_known = lens_flop_count(k, &flop);
    const double of_floats = (double)flop.wide / 2.0, of_halves = (double)flop.half / 2.0;
    const double bytes_per_second =
        2e3 * gpu->memoryClockRate * gpu->memoryBusWidth / 8.0;
    seconds[MULTIPLY_ADDS] =
        of_floats / multiply_adds_per_clock(gpu->major, gpu->minor) / clocks * per;
    seconds[HALF_MULTIPLY_ADDS] =
        of_halves / half_multiply_adds_per_clock(gpu->major, gpu->minor) / clocks * per;
    seconds[TENSOR] = k->tensor_work /
                      lens_tensor_multiply_adds_per_clock(gpu->major, gpu->minor) /
                      clocks * per;
    wavefronts += (double)k->tensor_bytes / 128.0;
    /* An instruction makes one of floats in each lane, or two of halves. */
    seconds[ISSUE_SLOTS] =
        (of_floats / 32.0 + of_halves / 64.0 + requests) / 4.0 / clocks * per;
    seconds[SHARED] = wavefronts / clocks * per;
    seconds[L1_LOOKUPS] = lookups / clocks * per;
    seconds[L1_SECTORS] = sectors / 4.0 / clocks * per;
    seconds[DEVICE] =
        (double)(k->loaded_bytes + k->stored_bytes) / launches / bytes_per_second;
    if (!flop_known)
        seconds[MULTIPLY_ADDS] = seconds[HALF_MULTIPLY_ADDS] = seconds[ISSUE_SLOTS] = NAN;
    if (k->bytes_unknown) seconds[DEVICE] = NAN;
    unsigned most = TENSOR; /* which is always known */
    for (unsigned r = 0; r < RESOURCES; r++)
        if (seconds[r] > seconds[most]) most = r;
    return most;
}
