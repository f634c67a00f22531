/* What the lens tells at the end of the program: a table for reading, or JSON, or a
 * drawing. */
#include "watch/lens_report.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/device.h"
#include "base/room.h"
#include "base/settings.h"
#include "watch/lens_counts.h"
#include "watch/lens_sums.h"
#include "watch/lens_words.h"
#include "../gpus.h"

/* ---- the table ---- */

static void print_row(const struct lens_row *row, double per, bool worst)
{
    const struct lens_site *s = &row->sum;
    char text[200];
    lens_verdict(row, text, sizeof text);
    lens_say("%-6s%-17s ", worst ? "worst" : "", lens_class_names[s->kind]);
    if (lens_by_copy_engine(s->kind))
        lens_say("%9s B %12s copies  ",
                 lens_number(lens_ratio(s->unique_bytes, s->requests)),
                 lens_number(s->requests / per));
    else
        lens_say("%2u B x %-4.3g %12s requests", s->bytes,
                 lens_ratio(s->lanes, s->requests), lens_number(s->requests / per));
    const bool banks = lens_touches_banks(s->kind);
    const double each = lens_ratio(banks ? s->wavefronts : s->sectors, s->requests);
    if (s->kind == CONSTANT_LOAD)
        lens_say("\n");
    else
        lens_say("  %5s %s%s each\n", lens_number(each), banks ? "wavefront" : "sector",
                 each == 1.0 ? " " : "s");
    lens_say_folded(8, "        %s", text);
}

static void print_total(const struct lens_kernel *k, enum lens_class kind, double per)
{
    const struct lens_site s = lens_total_of(k, kind);
    if (!s.requests) return;
    lens_say("    %-17s %13s requests", lens_class_names[kind],
             lens_number(s.requests / per));
    if (lens_touches_banks(kind))
        lens_say(" %14s wavefronts\n      %s of them are conflicts\n",
                 lens_number(s.wavefronts / per),
                 lens_number((s.wavefronts - s.ideal) / per));
    else if (kind == CONSTANT_LOAD)
        lens_say("\n");
    else
        lens_say(" %14s sectors, %5s each\n      %.3g of 32 bytes of a sector are used\n",
                 lens_number(s.sectors / per),
                 lens_number(lens_ratio(s.sectors, s.requests)),
                 lens_ratio(s.unique_bytes, s.sectors));
    if (kind == SHARED_LOAD && s.joined_requests < s.requests)
        lens_say("      joined, at best %13s requests %14s wavefronts\n"
                 "        %s of them are conflicts\n",
                 lens_number(s.joined_requests / per),
                 lens_number(s.joined_wavefronts / per),
                 lens_number((s.joined_wavefronts - s.joined_ideal) / per));
}

static void print_bound(const struct lens_kernel *k)
{
    const struct cudaDeviceProp *gpu = &emu_gpu()->prop;
    double seconds[RESOURCES];
    const unsigned most = lens_bound_of(k, seconds);
    if (seconds[most] == 0.0) return;
    /* How each resource gives at most; %s: how much of it. */
    static const char *const rules[RESOURCES] = {
        [MULTIPLY_ADDS] = "an SM makes %s multiply-adds per clock",
        [HALF_MULTIPLY_ADDS] = "an SM makes %s multiply-adds of 16 bits per clock",
        [TENSOR] = "an SM's tensor cores make %s multiply-adds of 16 bits per clock",
        [ISSUE_SLOTS] = "an SM issues 4 instructions per clock",
        [SHARED] = "shared memory answers one wavefront per clock",
        [L1_LOOKUPS] = "the L1 looks up one line of 128 bytes per clock",
        [L1_SECTORS] = "the L1 hands over 4 sectors per clock",
        [DEVICE] = "each byte has to be moved once"};
    const int rates[RESOURCES] = {
        [MULTIPLY_ADDS] = multiply_adds_per_clock(gpu->major, gpu->minor),
        [HALF_MULTIPLY_ADDS] = half_multiply_adds_per_clock(gpu->major, gpu->minor),
        [TENSOR] = lens_tensor_multiply_adds_per_clock(gpu->major, gpu->minor)};
    char rule[100];
    snprintf(rule, sizeof rule, rules[most], lens_number(rates[most]));
    lens_say_folded(6, "    %s no less than %s at %s MHz: %s",
                    k->shapes_differ ? "these launches take" : "a launch takes",
                    lens_duration(seconds[most]),
                    lens_number(emu_gpu()->clock_khz / 1000), rule);
    unsigned said = 0, unknown = 0;
    for (unsigned r = 0; r < RESOURCES; r++)
        if (seconds[r] > 0.0)
            lens_say("%s%s %s",
                     said++ % 3 ? ", "
                     : said > 1 ? ",\n      "
                                : "      ",
                     lens_resource_names[r], lens_duration(seconds[r]));
    lens_say("\n");
    char names[200] = "";
    for (unsigned r = 0; r < RESOURCES; r++) {
        const size_t used = strlen(names);
        if (isnan(seconds[r]))
            snprintf(names + used, sizeof names - used, "%s%s", unknown++ ? ", " : "",
                     lens_resource_names[r]);
    }
    if (unknown)
        lens_say_folded(6, "      not known, and may take longer: %s%s", names,
                        k->bytes_unknown ? " (not all blocks or arrays were looked at)"
                                         : "");
}

/* Which of the limits decide, as "threads and registers". */
static void name_limits(const struct emu_occupancy *o, bool registers_known, char *text,
                        size_t size)
{
    const struct {
        const char *name;
        unsigned blocks;
    } limits[] = {{"threads", o->by_warps},
                  {"registers", o->by_registers},
                  {"shared memory", o->by_shared},
                  {"the number of blocks", o->by_blocks}};
    text[0] = '\0';
    for (unsigned i = 0; i < 4; i++) {
        const size_t used = strlen(text);
        if (limits[i].blocks != o->blocks || (i == 1 && !registers_known)) continue;
        snprintf(text + used, size - used, "%s%s", used ? " and " : "", limits[i].name);
    }
}

static void print_occupancy(const struct lens_kernel *k)
{
    const unsigned threads = k->block[0] * k->block[1] * k->block[2],
                   registers = (unsigned)emu_settings.lens_registers;
    struct emu_occupancy o =
        emu_occupancy(threads, registers ? registers : 16, k->shared);
    char text[400], limits[100];
    name_limits(&o, registers > 0, limits, sizeof limits);
    int at = snprintf(text, sizeof text,
                      "    occupancy: a block has %s thread%s and %s bytes of shared "
                      "memory. Blocks on an SM: %u by threads, ",
                      lens_number(threads), threads == 1 ? "" : "s",
                      lens_number((double)k->shared), o.by_warps);
    if (registers)
        at += snprintf(text + at, sizeof text - at, "%u by %u registers a thread, ",
                       o.by_registers, registers);
    snprintf(text + at, sizeof text - at,
             "%u by shared memory, %u at most: %u of %u warps (%.1f %%), limited by %s",
             o.by_shared, o.by_blocks, o.warps, o.max_warps,
             100.0 * o.warps / o.max_warps, limits);
    if (registers) {
        lens_say_folded(6, "%s", text);
        return;
    }
    unsigned most = 16;
    while (most < 255 && emu_occupancy(threads, most + 1, k->shared).blocks == o.blocks)
        most++;
    lens_say_folded(6,
                    "%s, if a thread needs no more than %u registers. Only NVIDIA's "
                    "compiler knows that number: LENS_REGS=n tells it here",
                    text, most);
}

/* "line 7", and of which file if the rows are of several. */
static char *name_place(const struct lens_row *row, const struct lens_row *rows,
                        unsigned count)
{
    bool one_file = true;
    for (unsigned i = 0; i < count; i++)
        one_file &= strcmp(rows[i].place.file, row->place.file) == 0;
    const size_t size = strlen(row->place.file) + 40;
    char *const name = emu_zeros("for the lens", 1, size);
    snprintf(name, size, "line %d%s%s", row->place.line, one_file ? "" : " of ",
             one_file ? "" : row->place.file);
    return name;
}

/* Where a reader should look first, and what helps there. */
static void print_advice(const struct lens_row *rows, unsigned count,
                         const struct lens_row *worst)
{
    uint64_t requests = 0;
    const struct lens_row *idle = NULL;
    for (unsigned i = 0; i < count; i++) {
        const struct lens_site *s = &rows[i].sum;
        if (lens_by_copy_engine(s->kind)) continue;
        requests += s->requests;
        if (!idle ||
            32 * s->requests - s->lanes > 32 * idle->sum.requests - idle->sum.lanes)
            idle = &rows[i];
    }
    double wasted = 0.0;
    const double needed = worst ? lens_needs(&worst->sum, &wasted) : 0.0;
    if (worst && wasted >= 0.2 * (needed + wasted)) {
        const struct lens_site *s = &worst->sum;
        char *const line = name_place(worst, rows, count);
        const char *kind = lens_class_names[s->kind];
        if (lens_touches_banks(s->kind))
            lens_say_folded(
                4,
                "  begin at %s: %.0f %% of the wavefronts of its %s are conflicts. "
                "Other places in the array (a longer row, rearranged columns) or other "
                "lanes in charge spread them over the banks",
                line, 100.0 * wasted / (needed + wasted), kind);
        else
            lens_say_folded(
                4,
                "  begin at %s: its %s moves %.3g times the sectors that its bytes "
                "would fill. It moves fewer when neighbours in threadIdx.x go to "
                "neighbouring addresses, from a multiple of 32 bytes on",
                line, kind, lens_ratio(s->sectors, s->ideal));
        free(line);
    } else if (idle && 2 * idle->sum.lanes < 32 * idle->sum.requests &&
               4 * idle->sum.requests > requests) {
        char *const line = name_place(idle, rows, count);
        lens_say_folded(
            4,
            "  begin at %s: %.3g of 32 lanes take part in its %s, and the others "
            "wait. Give the work to whole warps, and let other whole warps rest",
            line, lens_ratio(idle->sum.lanes, idle->sum.requests),
            lens_class_names[idle->sum.kind]);
        free(line);
    } else if (count) {
        lens_say("  no line wastes much: what is left is to ask for less, or for more at "
                 "once\n");
    }
}

static void print_summary(const struct lens_kernel *k, double per)
{
    lens_say("  in all\n");
    for (int kind = 0; kind < BASIC_BLOCK; kind++) print_total(k, kind, per);
    const double loaded = (double)lens_loads_requested(k);
    struct lens_flop of;
    const bool flop_known = lens_flop_count(k, &of);
    const uint64_t flop = of.wide + of.half + 2 * k->tensor_multiply_adds,
                   results = k->bytes_unknown ? 0 : k->stored_bytes / 4;
    if (k->tensor_multiply_adds) {
        char text[80] = "";
        if (k->tensor_bytes)
            snprintf(text, sizeof text, "; they read %s bytes of shared memory",
                     lens_number((double)k->tensor_bytes / per));
        lens_say_folded(6, "    tensor cores %s multiply-adds%s",
                        lens_number((double)k->tensor_multiply_adds / per), text);
    }
    if (results > 0) {
        const struct lens_site global = lens_total_of(k, GLOBAL_LOAD),
                               async = lens_total_of(k, ASYNC_READ),
                               bulk = lens_total_of(k, BULK_COPY),
                               shared = lens_total_of(k, SHARED_LOAD);
        lens_say_folded(6,
                        "    loads for each of %s results of 4 bytes: %s from global "
                        "memory, %s from shared memory",
                        lens_number(results / per),
                        lens_number((double)(global.lanes + async.lanes + bulk.lanes) /
                                    (double)results),
                        lens_number((double)shared.lanes / (double)results));
    }
    if (k->copies_arrived)
        lens_say(
            "    an asynchronous copy travels beside %.3g loads from shared memory\n",
            lens_ratio(k->loads_beside_copies, k->copies_arrived));
    if (flop_known && flop && loaded > 0) {
        const double least = (double)k->loaded_bytes + (double)k->stored_bytes;
        char text[40] = "";
        if (least > 0 && !k->bytes_unknown)
            snprintf(text, sizeof text, "; %.3g if each byte moved once",
                     (double)flop / least);
        lens_say_folded(6,
                        "    %s FLOP: %.3g for each byte requested from global memory%s",
                        lens_number((double)flop / per), (double)flop / loaded, text);
    } else if (!flop_known) {
        lens_say(
            "    FLOP: unknown, there is no objdump here (it comes with binutils)\n");
    }
    if (k->texture_fetches)
        lens_say_folded(6, "    %s texture fetch%s not counted",
                        lens_number((double)k->texture_fetches / per),
                        k->texture_fetches == per ? " is" : "es are");
    print_bound(k);
    print_occupancy(k);
}

static void print_kernel(const struct lens_kernel *k)
{
    unsigned count;
    struct lens_row *rows = lens_rows_of(k, &count);
    const bool of_one = k->blocks_seen == k->blocks && !k->shapes_differ;
    const double per = of_one ? (double)k->launches : 1.0;
    lens_say("\n");
    lens_say_folded(6, "LENS  %s  grid (%u,%u,%u), block (%u,%u,%u), on %s", k->name,
                    k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1],
                    k->block[2], emu_gpu()->prop.name);
    if (k->blocks_seen < k->blocks)
        lens_say("  looked at %s of %s blocks; the figures are of those\n",
                 lens_number((double)k->blocks_seen), lens_number((double)k->blocks));
    else if (k->launches > 1)
        lens_say_folded(4, "  %s launches%s", lens_number((double)k->launches),
                        of_one
                            ? "; the figures are of one"
                            : " of different shapes, this is the last; the figures are "
                              "of all together");

    const struct lens_row *worst = NULL;
    for (unsigned i = 0; i < count; i++)
        if (lens_waste(&rows[i].sum) > (worst ? lens_waste(&worst->sum) : 0.0))
            worst = &rows[i];
    for (unsigned i = 0; i < count; i++) {
        const struct lens_row *r = &rows[i], *before = i ? &rows[i - 1] : NULL;
        if (!before || strcmp(before->place.file, r->place.file))
            lens_say("  %s\n", r->place.file);
        if (!before || before->place.line != r->place.line ||
            strcmp(before->place.file, r->place.file))
            lens_say_folded(10, "  %4d  %s", r->place.line,
                            lens_shortened(r->place.text, 90));
        print_row(r, per, r == worst);
    }
    print_summary(k, per);
    print_advice(rows, count, worst);
    free(rows);
}

static void report(const struct lens_kernel *kernels)
{
    const char *mode = emu_settings.lens;
    if (strcmp(mode, "dot") == 0)
        lens_draw(kernels);
    else if (strcmp(mode, "json") == 0)
        lens_json(kernels);
    else
        for (const struct lens_kernel *k = kernels; k; k = k->next) print_kernel(k);
}

void lens_report(const struct lens_kernel *kernels)
{
    const char *path = emu_settings.lens_out;
    errno = 0;
    lens_out = path ? fopen(path, "w") : stdout;
    if (lens_out) {
        report(kernels);
        /* A report that was lost is no success. Who closes a pipe early (| head -1) wants
         * no more, and no word about it either. */
        if (fflush(lens_out) == 0 && !ferror(lens_out) &&
            (!path || fclose(lens_out) == 0))
            return;
    }
    if (errno != EPIPE)
        fprintf(stderr, "LENS: cannot write %s: %s\n", path ? path : "the report",
                errno ? strerror(errno) : "an earlier write failed");
    _exit(3);
}
