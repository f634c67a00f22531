/* What the lens tells: a table for reading, JSON for tools, a drawing of one request. */
#include "lens.h"

#include "../gpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const class_names[LENS_CLASSES] = {
    "global load",  "global store",  "global atomic",    "shared load",
    "shared store", "shared atomic", "async copy, read", "async copy, write",
    "bulk copy",    "constant load", "basic block"};

static bool touches_banks(enum lens_class kind)
{
    return kind == SHARED_LOAD || kind == SHARED_STORE || kind == SHARED_ATOMIC ||
           kind == ASYNC_WRITE;
}

/* ---- one row of the report: the sites of a source line that behave alike ---- */

struct row {
    struct emu_place place;
    struct lens_site sum; /* the sites' counts added up; the example of the costliest */
};

static double ratio(uint64_t a, uint64_t b)
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
           a->lanes * b->requests == b->lanes * a->requests;
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
    const struct row *x = a, *y = b;
    int order = strcmp(x->place.file, y->place.file);
    if (!order) order = x->place.line - y->place.line;
    if (!order) order = (int)x->sum.kind - (int)y->sum.kind;
    if (!order) order = (x->sum.pc > y->sum.pc) - (x->sum.pc < y->sum.pc);
    return order;
}

/* The caller frees. */
static struct row *rows_of(const struct lens_kernel *k, unsigned *count)
{
    struct row *rows = NULL;
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
            rows[i] = (struct row){place, *s};
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

static struct lens_site total_of(const struct lens_kernel *k, enum lens_class kind)
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

static uint64_t loads_requested(const struct lens_kernel *k)
{
    return requested_bytes(k, GLOBAL_LOAD) + requested_bytes(k, ASYNC_READ) +
           requested_bytes(k, BULK_COPY);
}

/* ---- floating-point operations ----
 * The compiler reports every basic block that a thread enters, by the return address of a
 * call at its beginning. The disassembly tells what lies between that call and the next:
 * so many additions, so many multiplications. */

static int flop_of(const char *mnemonic, const char *operands)
{
    static const char *const one[] = {"adds", "subs", "muls", "divs", "sqrts"};
    if (*mnemonic == 'v') mnemonic++;
    for (unsigned i = 0; i < sizeof one / sizeof *one; i++) {
        size_t n = strlen(one[i]);
        if (strncmp(mnemonic, one[i], n) == 0 &&
            (mnemonic[n] == 's' || mnemonic[n] == 'd') && !mnemonic[n + 1])
            return 1;
    }
    if (strncmp(mnemonic, "fmadd", 5) == 0 || strncmp(mnemonic, "fmsub", 5) == 0 ||
        strncmp(mnemonic, "fnmadd", 6) == 0 || strncmp(mnemonic, "fnmsub", 6) == 0)
        return 2;
    if (strcmp(mnemonic, "fadd") == 0 || strcmp(mnemonic, "fsub") == 0 ||
        strcmp(mnemonic, "fmul") == 0 || strcmp(mnemonic, "fdiv") == 0 ||
        strcmp(mnemonic, "fsqrt") == 0)
        return 1;
    const bool call = strncmp(mnemonic, "call", 4) == 0 || strcmp(mnemonic, "bl") == 0;
    if (call && (strstr(operands, "<fmaf") || strstr(operands, "<fma@") ||
                 strstr(operands, "<fma>")))
        return 2;
    return 0;
}

struct block_cost {
    uint64_t pc;
    unsigned flop;
};

static struct block_cost *costs;
static size_t cost_count;
static bool disassembled;

static void disassemble(void)
{
    disassembled = true;
    char program[4096], command[4200], line[1024];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) return;
    program[length] = '\0';
    snprintf(command, sizeof command, "objdump -d --no-show-raw-insn '%s' 2>/dev/null",
             program);
    FILE *listing = popen(command, "r");
    if (!listing) return;
    bool after_call = false;
    struct block_cost *current = NULL;
    while (fgets(line, sizeof line, listing)) {
        char *colon = strchr(line, ':');
        if (line[0] != ' ') { /* a function's name: blocks don't reach across it */
            current = NULL;
            continue;
        }
        if (!colon) continue;
        const uint64_t address = strtoull(line, NULL, 16);
        char *mnemonic = colon + 1 + strspn(colon + 1, " \t");
        mnemonic[strcspn(mnemonic, "\n")] = '\0';
        char *operands = mnemonic + strcspn(mnemonic, " \t");
        if (*operands) *operands++ = '\0';
        if (after_call) {
            costs = emu_resized(costs, "for the lens", cost_count + 1, sizeof *costs);
            current = &costs[cost_count++];
            *current = (struct block_cost){.pc = address};
        }
        after_call = strstr(operands, "<__sanitizer_cov_trace_pc>") != NULL;
        if (current) current->flop += (unsigned)flop_of(mnemonic, operands);
    }
    pclose(listing);
}

/* Returns false if no disassembler is there. */
static bool flop_count(const struct lens_kernel *k, uint64_t *flop)
{
    if (!disassembled) disassemble();
    *flop = 0;
    if (cost_count == 0) return false;
    for (const struct lens_site *s = k->sites; s; s = s->next) {
        if (s->kind != BASIC_BLOCK) continue;
        size_t low = 0, high = cost_count;
        while (low + 1 < high) {
            size_t middle = (low + high) / 2;
            if (costs[middle].pc <= (uint64_t)(uintptr_t)s->pc)
                low = middle;
            else
                high = middle;
        }
        if (costs[low].pc == (uint64_t)(uintptr_t)s->pc)
            *flop += s->lanes * costs[low].flop;
    }
    return true;
}

/* ---- the bound ----
 * The least time that a launch can take on this GPU, by each of the resources that the
 * counts are about: what is asked of it, over what all its multiprocessors give in that
 * time. No overlap, no waiting and no cache makes it less; all of them, and whatever is
 * not counted, make it more. LENS.md has the sources of the rates. */
enum {
    MULTIPLY_ADDS,
    TENSOR,
    ISSUE_SLOTS,
    SHARED,
    L1_LOOKUPS,
    L1_SECTORS,
    DEVICE,
    RESOURCES
};
static const char *const resource_names[RESOURCES] = {
    "multiply-adds", "tensor cores", "issue slots",  "shared memory",
    "L1 lookups",    "L1 sectors",   "device memory"};

/* Multiply-adds of an SM's tensor cores per clock, of 16-bit elements summed in fp32, dense
 * matrices. Where cards of one capability differ, the faster one's. */
static int tensor_multiply_adds_per_clock(int major, int minor)
{
    switch (10 * major + minor) {
    case 80: return 1024;
    case 90: return 2048;
    case 100:
    case 103: return 4096;
    default: return 512;
    }
}

/* How many multiprocessors have a block at all. */
static unsigned busy_sms(const struct lens_kernel *k)
{
    const unsigned sms = (unsigned)emu_gpu()->prop.multiProcessorCount;
    const uint64_t blocks = (uint64_t)k->grid[0] * k->grid[1] * k->grid[2];
    return k->shapes_differ || blocks > sms ? sms : (unsigned)blocks;
}

/* Fills in seconds for one launch, or for all if their grids differ, and returns which is
 * the greatest. */
static unsigned bound_of(const struct lens_kernel *k, double seconds[RESOURCES])
{
    const struct cudaDeviceProp *gpu = &emu_gpu()->prop;
    const double sms = busy_sms(k);
    const double clocks = 1e3 * emu_gpu()->clock_khz * sms; /* of all SMs in a second */
    const double launches = k->shapes_differ ? 1.0 : (double)k->launches;
    const double per = ratio(k->blocks, k->blocks_seen) / launches;
    double requests = 0.0, wavefronts = 0.0, lookups = 0.0, sectors = 0.0;
    uint64_t flop;
    for (int kind = 0; kind < BASIC_BLOCK; kind++) {
        const struct lens_site s = total_of(k, kind);
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
            if (kind != BULK_COPY) wavefronts += (double)s.wavefronts;
        }
        if (kind == GLOBAL_LOAD) sectors += (double)s.sectors;
    }
    const double multiply_adds = flop_count(k, &flop) ? (double)flop / 2.0 : 0.0;
    const double bytes_per_second =
        2e3 * gpu->memoryClockRate * gpu->memoryBusWidth / 8.0;
    seconds[MULTIPLY_ADDS] =
        multiply_adds / multiply_adds_per_clock(gpu->major, gpu->minor) / clocks * per;
    seconds[TENSOR] = k->tensor_work /
                      tensor_multiply_adds_per_clock(gpu->major, gpu->minor) / clocks *
                      per;
    wavefronts += (double)k->tensor_bytes / 128.0;
    seconds[ISSUE_SLOTS] = (multiply_adds / 32.0 + requests) / 4.0 / clocks * per;
    seconds[SHARED] = wavefronts / clocks * per;
    seconds[L1_LOOKUPS] = lookups / clocks * per;
    seconds[L1_SECTORS] = sectors / 4.0 / clocks * per;
    seconds[DEVICE] =
        (double)(k->loaded_bytes + k->stored_bytes) / launches / bytes_per_second;
    unsigned most = 0;
    for (unsigned r = 1; r < RESOURCES; r++)
        if (seconds[r] > seconds[most]) most = r;
    return most;
}

/* ---- words ---- */

/* 1234567 -> "1,234,567"; fractions only where there are some. Four results may be in use
 * at once. */
static const char *number(double value)
{
    static char buffers[8][40];
    static int next;
    char digits[40], *out = buffers[next++ % 8];
    const bool whole = value == (double)(uint64_t)value;
    snprintf(digits, sizeof digits,
             whole         ? "%.0f"
             : value < 100 ? "%.2f"
                           : "%.1f",
             value);
    const size_t integer = strcspn(digits, ".");
    size_t at = 0;
    for (size_t i = 0; digits[i]; i++) {
        if (i > 0 && i < integer && (integer - i) % 3 == 0) out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

/* The lanes of a request that meet in its busiest bank, as "0, 8, 16, 24"; returns the
 * bank. */
static unsigned busiest_bank(const struct lens_request *r, unsigned bytes, bool store,
                             char *lanes, size_t size)
{
    const unsigned unit = bytes < 4 ? 4 : bytes, groups = 128 / unit;
    const unsigned together = lens_lanes_together(r->address, r->lanes, bytes, store);
    unsigned worst_group = 0, worst_first = 0, most = 0;
    for (unsigned first = 0; first < 32; first += together)
        for (unsigned group = 0; group < groups; group++) {
            uint64_t seen[32];
            unsigned n = 0;
            for (unsigned lane = first; lane < first + together; lane++) {
                const uint64_t value = r->address[lane] / unit;
                if (!(r->lanes >> lane & 1) || value % groups != group) continue;
                unsigned i = 0;
                while (i < n && seen[i] != value) i++;
                if (i == n) seen[n++] = value;
            }
            if (n > most) most = n, worst_group = group, worst_first = first;
        }
    size_t used = 0;
    unsigned shown = 0;
    uint64_t seen[32];
    lanes[0] = '\0';
    for (unsigned lane = worst_first; lane < worst_first + together; lane++) {
        const uint64_t value = r->address[lane] / unit;
        if (!(r->lanes >> lane & 1) || value % groups != worst_group) continue;
        unsigned i = 0;
        while (i < shown && i < 32 && seen[i] != value) i++;
        if (i < shown) continue;
        if (shown == 4) {
            snprintf(lanes + used, size - used, ", ...");
            break;
        }
        seen[shown] = value;
        used +=
            (size_t)snprintf(lanes + used, size - used, "%s%u", shown ? ", " : "", lane);
        shown++;
    }
    return worst_group * (unit / 4);
}

/* How far apart neighbouring lanes of a request lie; 0 if not all equally far. */
static uint64_t apart(const struct lens_request *r)
{
    uint64_t step = 0;
    for (unsigned lane = 1; lane < 32; lane++) {
        if (!(r->lanes >> lane & r->lanes >> (lane - 1) & 1)) continue;
        const uint64_t next = r->address[lane] - r->address[lane - 1];
        if (step && next != step) return 0;
        step = next;
    }
    return step < 1ull << 40 ? step : 0; /* falling addresses come out as huge */
}

static const char *many(double count, const char *one, const char *more)
{
    return count == 1.0 ? one : more;
}

/* One sentence on what the figures of a row mean. */
static void verdict(const struct row *row, char *out, size_t size)
{
    const struct lens_site *s = &row->sum;
    const double lanes = ratio(s->lanes, s->requests),
                 values = ratio(s->unique_bytes, s->requests) / s->bytes;
    const bool atomic = s->kind == GLOBAL_ATOMIC || s->kind == SHARED_ATOMIC;
    int used = 0;
    if (s->kind == BULK_COPY) {
        snprintf(
            out, size,
            "the copy engine moves %s bytes at once: no lane asks, no register waits",
            number(ratio(s->unique_bytes, s->requests)));
        return;
    }
    if (lanes == 1.0) {
        used = snprintf(out, size, "one lane alone");
    } else if (values == 1.0) {
        used =
            snprintf(out, size,
                     atomic ? "%.3g lanes change the same value: they have to take turns"
                     : s->kind == CONSTANT_LOAD
                         ? "one value for all lanes: what constant memory is good at"
                     : touches_banks(s->kind)
                         ? "all lanes want one value: a broadcast, no conflict"
                         : "all lanes want one value: a broadcast, one sector",
                     lanes);
    } else if (s->kind == CONSTANT_LOAD) {
        used = snprintf(
            out, size,
            "lanes want %.3g different values: constant memory serves them in turn",
            values);
    } else if (touches_banks(s->kind) && s->wavefronts == s->ideal) {
        used = snprintf(out, size, "no bank conflicts");
    } else if (touches_banks(s->kind)) {
        char who[64];
        const unsigned bank =
            busiest_bank(&s->example, s->bytes, s->kind != SHARED_LOAD, who, sizeof who);
        used = snprintf(out, size, "%.3g-way bank conflict: lanes %s meet in bank",
                        ratio(s->wavefronts, s->ideal), who);
        used +=
            snprintf(out + used, size - (size_t)used, s->bytes > 4 ? "s %u to %u" : " %u",
                     bank, bank + s->bytes / 4 - 1);
    } else {
        const double sectors = ratio(s->sectors, s->requests),
                     bytes = ratio(s->unique_bytes, s->sectors);
        used = snprintf(out, size, "%.3g lanes touch %.3g %s", lanes, sectors,
                        many(sectors, "sector", "sectors"));
        used += snprintf(out + used, size - (size_t)used,
                         bytes == 32.0 ? " and use every byte"
                                       : ": %.3g of 32 bytes used of each",
                         bytes);
        const uint64_t step = apart(&s->example);
        if (s->sectors > s->ideal && step > s->bytes)
            used += snprintf(out + used, size - (size_t)used,
                             "; neighbours lie %s bytes apart", number((double)step));
    }
    if (lanes > 1.0 && lanes < 24.0)
        snprintf(out + used, size - (size_t)used, "; %.3g of 32 lanes take part", lanes);
}

/* What a row needs at least, and wastes beyond: sectors, or wavefronts. Shared loads count
 * as they are written or as a compiler may join them, whichever wastes less: a conflict
 * that compiling removes is nobody's to remove. The row with the most waste is the worst.
 */
static double needs(const struct lens_site *s, double *wasted)
{
    const double more = touches_banks(s->kind) ? s->wavefronts : s->sectors;
    *wasted = s->kind == CONSTANT_LOAD ? 0.0 : more - (double)s->ideal;
    const double joined = (double)s->joined_wavefronts - (double)s->joined_ideal;
    if (s->kind != SHARED_LOAD || joined >= *wasted) return (double)s->ideal;
    *wasted = joined;
    return (double)s->joined_ideal;
}

static double waste(const struct lens_site *s)
{
    double wasted;
    needs(s, &wasted);
    return wasted;
}

/* ---- the table ---- */

static FILE *out;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
}

static void print_row(const struct row *row, double per, bool worst)
{
    const struct lens_site *s = &row->sum;
    char text[200];
    verdict(row, text, sizeof text);
    if (s->kind == BULK_COPY)
        say("        %-17s %9s B %14s copies  ", class_names[s->kind],
            number(ratio(s->unique_bytes, s->requests)), number(s->requests / per));
    else
        say("        %-17s %2u B x %-4.3g %14s requests", class_names[s->kind], s->bytes,
            ratio(s->lanes, s->requests), number(s->requests / per));
    if (touches_banks(s->kind))
        say("  %6s wavefront%s each%s\n", number(ratio(s->wavefronts, s->requests)),
            s->wavefronts == s->requests ? " " : "s", worst ? "  <- worst" : "");
    else
        say("  %6s sector%s each%s\n", number(ratio(s->sectors, s->requests)),
            s->sectors == s->requests ? " " : "s", worst ? "  <- worst" : "");
    say("          %s\n", text);
}

static void print_total(const struct lens_kernel *k, enum lens_class kind, double per)
{
    const struct lens_site s = total_of(k, kind);
    if (!s.requests) return;
    say("    %-18s %13s requests", class_names[kind], number(s.requests / per));
    if (touches_banks(kind))
        say("  %13s wavefronts  %13s conflicts\n", number(s.wavefronts / per),
            number((s.wavefronts - s.ideal) / per));
    if (kind == SHARED_LOAD && s.joined_requests < s.requests)
        say("      joined, at best  %13s requests  %13s wavefronts  %13s conflicts\n",
            number(s.joined_requests / per), number(s.joined_wavefronts / per),
            number((s.joined_wavefronts - s.joined_ideal) / per));
    if (!touches_banks(kind))
        say("  %13s sectors     %6s each, %.3g of 32 bytes used\n",
            number(s.sectors / per), number(ratio(s.sectors, s.requests)),
            ratio(s.unique_bytes, s.sectors));
}

/* 0.0141 -> "14.1 ms". */
static const char *duration(double seconds)
{
    static char buffers[8][24];
    static int next;
    char *text = buffers[next++ % 8];
    const char *const units[] = {"s", "ms", "us", "ns"};
    int unit = 0;
    while (unit < 3 && seconds < 0.9995) seconds *= 1e3, unit++;
    snprintf(text, sizeof *buffers, seconds < 999.5 ? "%.3g %s" : "%.0f %s", seconds,
             units[unit]);
    return text;
}

static void print_bound(const struct lens_kernel *k)
{
    const struct cudaDeviceProp *gpu = &emu_gpu()->prop;
    double seconds[RESOURCES];
    const unsigned most = bound_of(k, seconds);
    if (seconds[most] == 0.0) return;
    char rule[100];
    switch (most) {
    case MULTIPLY_ADDS:
        snprintf(rule, sizeof rule, "an SM makes %d multiply-adds per clock",
                 multiply_adds_per_clock(gpu->major, gpu->minor));
        break;
    case TENSOR:
        snprintf(rule, sizeof rule,
                 "an SM's tensor cores make %s multiply-adds of 16 bits per clock",
                 number(tensor_multiply_adds_per_clock(gpu->major, gpu->minor)));
        break;
    case ISSUE_SLOTS:
        snprintf(rule, sizeof rule, "an SM issues 4 instructions per clock");
        break;
    case SHARED:
        snprintf(rule, sizeof rule, "shared memory answers one wavefront per clock");
        break;
    case L1_LOOKUPS:
        snprintf(rule, sizeof rule, "the L1 looks up one line of 128 bytes per clock");
        break;
    case L1_SECTORS:
        snprintf(rule, sizeof rule, "the L1 hands over 4 sectors per clock");
        break;
    default: snprintf(rule, sizeof rule, "each byte has to be moved once");
    }
    say("    %s no less than %s at %s MHz: %s\n",
        k->shapes_differ ? "these launches take" : "a launch takes",
        duration(seconds[most]), number(emu_gpu()->clock_khz / 1000), rule);
    unsigned said = 0;
    for (unsigned r = 0; r < RESOURCES; r++)
        if (seconds[r] > 0.0)
            say("%s%s %s",
                said++ % 3 ? ", "
                : said > 1 ? ",\n      "
                           : "      ",
                resource_names[r], duration(seconds[r]));
    say("\n");
}

/* Which of the limits decide, as "threads and registers". */
static const char *limit_of(const struct emu_occupancy *o, bool registers_known)
{
    static char text[64];
    const struct {
        const char *name;
        unsigned blocks;
    } limits[] = {{"threads", o->by_warps},
                  {"registers", o->by_registers},
                  {"shared memory", o->by_shared},
                  {"the number of blocks", o->by_blocks}};
    text[0] = '\0';
    for (unsigned i = 0; i < 4; i++) {
        if (limits[i].blocks != o->blocks || (i == 1 && !registers_known)) continue;
        if (text[0]) strcat(text, " and ");
        strcat(text, limits[i].name);
    }
    return text;
}

static void print_occupancy(const struct lens_kernel *k)
{
    const unsigned threads = k->block[0] * k->block[1] * k->block[2],
                   registers = (unsigned)emu_settings.lens_registers;
    struct emu_occupancy o =
        emu_occupancy(threads, registers ? registers : 16, k->shared);
    say("    occupancy: a block has %s thread%s and %s bytes of shared memory. Blocks on "
        "an SM: %u by threads,\n",
        number(threads), threads == 1 ? "" : "s", number((double)k->shared), o.by_warps);
    say("      ");
    if (registers) say("%u by %u registers a thread, ", o.by_registers, registers);
    say("%u by shared memory, %u at most: %u of %u warps (%.1f %%),\n", o.by_shared,
        o.by_blocks, o.warps, o.max_warps, 100.0 * o.warps / o.max_warps);
    say("      limited by %s", limit_of(&o, registers > 0));
    if (registers) {
        say("\n");
        return;
    }
    unsigned most = 16;
    while (most < 255 && emu_occupancy(threads, most + 1, k->shared).blocks == o.blocks)
        most++;
    say(", if a thread needs no more than %u registers.\n", most);
    say("      Only NVIDIA's compiler knows that number: LENS_REGS=n tells it here\n");
}

/* Where a reader should look first, and what helps there. */
static void print_advice(const struct row *rows, unsigned count, const struct row *worst)
{
    uint64_t requests = 0;
    const struct row *idle = NULL;
    for (unsigned i = 0; i < count; i++) {
        const struct lens_site *s = &rows[i].sum;
        requests += s->requests;
        if (!idle ||
            32 * s->requests - s->lanes > 32 * idle->sum.requests - idle->sum.lanes)
            idle = &rows[i];
    }
    double wasted = 0.0;
    const double needed = worst ? needs(&worst->sum, &wasted) : 0.0;
    if (worst && wasted >= 0.2 * (needed + wasted)) {
        const struct lens_site *s = &worst->sum;
        say("  begin at line %d: ", worst->place.line);
        if (touches_banks(s->kind))
            say("%.0f %% of the wavefronts of its %s are conflicts. Other places in the "
                "array\n"
                "    (a longer row, rearranged columns) or other lanes in charge spread "
                "them over the banks\n",
                100.0 * wasted / (needed + wasted), class_names[s->kind]);
        else
            say("its %s moves %.3g times the sectors that its bytes would fill. It moves "
                "fewer\n"
                "    when neighbours in threadIdx.x go to neighbouring addresses, from a "
                "multiple of 32 bytes on\n",
                class_names[s->kind], ratio(s->sectors, s->ideal));
    } else if (idle && 2 * idle->sum.lanes < 32 * idle->sum.requests &&
               4 * idle->sum.requests > requests) {
        say("  begin at line %d: %.3g of 32 lanes take part in its %s, and the others "
            "wait. Give the work to\n"
            "    whole warps, and let other whole warps rest\n",
            idle->place.line, ratio(idle->sum.lanes, idle->sum.requests),
            class_names[idle->sum.kind]);
    } else if (count) {
        say("  no line wastes much: what is left is to ask for less, or for more at "
            "once\n");
    }
}

static void print_summary(const struct lens_kernel *k, double per)
{
    say("  in all\n");
    for (int kind = 0; kind < BASIC_BLOCK; kind++) print_total(k, kind, per);
    const double loaded = (double)loads_requested(k);
    uint64_t flop;
    const bool flop_known = flop_count(k, &flop);
    flop += 2 * k->tensor_multiply_adds;
    if (k->tensor_multiply_adds) {
        say("    tensor cores %s multiply-adds",
            number((double)k->tensor_multiply_adds / per));
        if (k->tensor_bytes)
            say("; they read %s bytes of shared memory",
                number((double)k->tensor_bytes / per));
        say("\n");
    }
    if (k->stored_elements) {
        const struct lens_site global = total_of(k, GLOBAL_LOAD),
                               async = total_of(k, ASYNC_READ),
                               bulk = total_of(k, BULK_COPY),
                               shared = total_of(k, SHARED_LOAD);
        say("    loads for each of %s results:", number(k->stored_elements / per));
        say(" %s from global memory, %s from shared memory\n",
            number((double)(global.lanes + async.lanes + bulk.lanes) /
                   (double)k->stored_elements),
            number((double)shared.lanes / (double)k->stored_elements));
    }
    if (k->copies_arrived)
        say("    an asynchronous copy travels beside %.3g loads from shared memory\n",
            ratio(k->loads_beside_copies, k->copies_arrived));
    if (flop_known && flop && loaded > 0) {
        say("    %s FLOP: %.3g for each byte requested from global memory",
            number((double)flop / per), (double)flop / loaded);
        const double least = (double)k->loaded_bytes + (double)k->stored_bytes;
        if (least > 0) say("; %.3g if each byte moved once", (double)flop / least);
        say("\n");
    } else if (!flop_known) {
        say("    FLOP: unknown, there is no objdump here (it comes with binutils)\n");
    }
    print_bound(k);
    print_occupancy(k);
}

static void print_kernel(const struct lens_kernel *k)
{
    unsigned count;
    struct row *rows = rows_of(k, &count);
    const bool of_one = k->blocks_seen == k->blocks && !k->shapes_differ;
    const double per = of_one ? (double)k->launches : 1.0;
    say("\nLENS  %s  grid (%u,%u,%u), block (%u,%u,%u), on %s\n", k->name, k->grid[0],
        k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2],
        emu_gpu()->prop.name);
    if (k->blocks_seen < k->blocks)
        say("  looked at %s of %s blocks; the figures are of those\n",
            number((double)k->blocks_seen), number((double)k->blocks));
    else if (k->launches > 1)
        say(of_one ? "  %s launches; the figures are of one\n"
                   : "  %s launches of different shapes, this is the last; the figures "
                     "are of all together\n",
            number((double)k->launches));

    const struct row *worst = NULL;
    for (unsigned i = 0; i < count; i++)
        if (waste(&rows[i].sum) > (worst ? waste(&worst->sum) : 0.0)) worst = &rows[i];
    for (unsigned i = 0; i < count; i++) {
        const struct row *r = &rows[i], *before = i ? &rows[i - 1] : NULL;
        if (!before || strcmp(before->place.file, r->place.file))
            say("  %s\n", r->place.file);
        if (!before || before->place.line != r->place.line ||
            strcmp(before->place.file, r->place.file))
            say("  %4d  %.90s\n", r->place.line, r->place.text);
        print_row(r, per, r == worst);
    }
    print_summary(k, per);
    print_advice(rows, count, worst);
    free(rows);
}

/* ---- one request ---- */

/* Which wavefront serves each lane that takes part; returns how many there are. */
static unsigned wavefront_of(const struct lens_request *r, unsigned bytes, bool store,
                             unsigned wave[32])
{
    const unsigned unit = bytes < 4 ? 4 : bytes, groups = 128 / unit;
    const unsigned together = lens_lanes_together(r->address, r->lanes, bytes, store);
    unsigned before = 0, waves = 0;
    for (unsigned first = 0; first < 32; first += together, before = waves) {
        uint64_t unit_at[32][32];
        unsigned in_group[32] = {0};
        for (unsigned lane = first; lane < first + together; lane++) {
            if (!(r->lanes >> lane & 1)) continue;
            const uint64_t value = r->address[lane] / unit;
            const unsigned group = value % groups;
            unsigned n = 0;
            while (n < in_group[group] && unit_at[group][n] != value) n++;
            if (n == in_group[group]) unit_at[group][in_group[group]++] = value;
            wave[lane] = before + n;
            if (wave[lane] + 1 > waves) waves = wave[lane] + 1;
        }
    }
    return waves;
}

/* ---- JSON ---- */

static void json_string(const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            say("\\%c", *text);
        else if ((unsigned char)*text < ' ')
            say("\\u%04x", *text);
        else
            fputc(*text, out);
    }
    fputc('"', out);
}

static void json_counts(const struct lens_site *s)
{
    say("\"requests\": %llu, \"lanes\": %llu, ", (unsigned long long)s->requests,
        (unsigned long long)s->lanes);
    if (touches_banks(s->kind)) {
        const bool load = s->kind == SHARED_LOAD; /* others are not joined */
        const uint64_t joined = load ? s->joined_wavefronts : s->wavefronts;
        say("\"wavefronts\": %llu, \"ideal_wavefronts\": %llu, \"conflicts\": %llu, "
            "\"joined_requests\": %llu, \"joined_wavefronts\": %llu, "
            "\"joined_conflicts\": %llu}",
            (unsigned long long)s->wavefronts, (unsigned long long)s->ideal,
            (unsigned long long)(s->wavefronts - s->ideal),
            (unsigned long long)(load ? s->joined_requests : s->requests),
            (unsigned long long)joined,
            (unsigned long long)(joined - (load ? s->joined_ideal : s->ideal)));
    } else
        say("\"sectors\": %llu, \"ideal_sectors\": %llu, \"lookups\": %llu, "
            "\"bytes_used\": %llu}",
            (unsigned long long)s->sectors, (unsigned long long)s->ideal,
            (unsigned long long)s->lookups, (unsigned long long)s->unique_bytes);
}

/* The costliest request of a row: each lane that took part, and how far from the lowest
 * address, rounded down to 128 bytes (so that sectors and banks stay what they are). */
static void json_example(const struct lens_request *r)
{
    uint64_t low = UINT64_MAX;
    for (unsigned lane = 0; lane < 32; lane++)
        if (r->lanes >> lane & 1 && r->address[lane] < low) low = r->address[lane];
    const char *separator = "";
    say(", \"example\": [");
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(r->lanes >> lane & 1)) continue;
        say("%s[%u, %llu]", separator, lane,
            (unsigned long long)(r->address[lane] - low / 128 * 128));
        separator = ", ";
    }
    say("]");
}

/* Which wavefront serves each lane of the example, in the same order. */
static void json_example_wavefronts(const struct lens_site *s)
{
    unsigned wave[32];
    if (!s->example.lanes || !touches_banks(s->kind)) return;
    wavefront_of(&s->example, s->bytes, s->kind != SHARED_LOAD, wave);
    const char *separator = "";
    say(", \"example_wavefronts\": [");
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(s->example.lanes >> lane & 1)) continue;
        say("%s%u", separator, wave[lane]);
        separator = ", ";
    }
    say("]");
}

static void json_kernel(const struct lens_kernel *k)
{
    unsigned count;
    struct row *rows = rows_of(k, &count);
    const unsigned threads = k->block[0] * k->block[1] * k->block[2],
                   registers = (unsigned)emu_settings.lens_registers;
    uint64_t flop;
    say("{\"name\": ");
    json_string(k->name);
    say(", \"launches\": %llu, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], "
        "\"blocks\": %llu, \"blocks_seen\": %llu",
        (unsigned long long)k->launches, k->grid[0], k->grid[1], k->grid[2], k->block[0],
        k->block[1], k->block[2], (unsigned long long)k->blocks,
        (unsigned long long)k->blocks_seen);
    if (flop_count(k, &flop))
        say(", \"flop\": %llu", (unsigned long long)(flop + 2 * k->tensor_multiply_adds));
    say(", \"tensor_multiply_adds\": %llu, \"tensor_bytes\": %llu",
        (unsigned long long)k->tensor_multiply_adds, (unsigned long long)k->tensor_bytes);
    say(", \"requested_load_bytes\": %llu, \"loaded_bytes\": %llu, \"stored_bytes\": "
        "%llu, \"results\": %llu",
        (unsigned long long)loads_requested(k), (unsigned long long)k->loaded_bytes,
        (unsigned long long)k->stored_bytes, (unsigned long long)k->stored_elements);
    say(", \"copies_arrived\": %llu, \"loads_beside_copies\": %llu",
        (unsigned long long)k->copies_arrived,
        (unsigned long long)k->loads_beside_copies);
    struct emu_occupancy o =
        emu_occupancy(threads, registers ? registers : 16, k->shared);
    say(", \"shared_bytes\": %zu, \"occupancy\": {\"registers\": ", k->shared);
    if (registers)
        say("%u, \"by_registers\": %u", registers, o.by_registers);
    else
        say("null, \"by_registers\": null");
    say(", \"by_threads\": %u, \"by_shared\": %u, \"by_blocks\": %u, \"blocks\": %u, "
        "\"warps\": %u, \"max_warps\": %u}",
        o.by_warps, o.by_shared, o.by_blocks, o.blocks, o.warps, o.max_warps);
    double seconds[RESOURCES];
    const unsigned most = bound_of(k, seconds);
    say(", \"bound\": {\"seconds\": %.9g, \"by\": \"%s\", \"sms\": %u, \"each\": {",
        seconds[most], resource_names[most], busy_sms(k));
    for (unsigned r = 0; r < RESOURCES; r++)
        say("%s\"%s\": %.9g", r ? ", " : "", resource_names[r], seconds[r]);
    say("}}, \"totals\": {");
    bool first = true;
    for (int kind = 0; kind < BASIC_BLOCK; kind++) {
        struct lens_site s = total_of(k, kind);
        if (!s.requests) continue;
        say("%s\"%s\": {", first ? "" : ", ", class_names[kind]);
        first = false;
        json_counts(&s);
    }
    say("}, \"lines\": [");
    for (unsigned i = 0; i < count; i++) {
        char text[200];
        verdict(&rows[i], text, sizeof text);
        say("%s{\"file\": ", i ? ", " : "");
        json_string(rows[i].place.file);
        say(", \"line\": %d, \"text\": ", rows[i].place.line);
        json_string(rows[i].place.text);
        say(", \"kind\": \"%s\", \"bytes\": %u, \"verdict\": ",
            class_names[rows[i].sum.kind], rows[i].sum.bytes);
        json_string(text);
        json_example(&rows[i].sum.example);
        json_example_wavefronts(&rows[i].sum);
        say(", ");
        json_counts(&rows[i].sum);
    }
    say("]}");
    free(rows);
}

/* ---- a drawing of one request ----
 * Graphviz only draws here: neato, with every box at its place. Lengths are points, y
 * grows upwards. */

#define GLOBAL_COLOUR "#b35900"
#define SHARED_COLOUR "#0b7285"
#define REGISTER_COLOUR "#6741b8"
#define MOVING_COLOUR "#c92a2a"
#define GREY_COLOUR "#5c636e"
#define EMPTY_COLOUR "#5c636e38"
#define FONT "Helvetica,Arial,sans-serif"

enum { DRAWING = 864, LANE = DRAWING / 32 };

static void draw_text(double left, double y, double width, int size, const char *font,
                      const char *text)
{
    static int count;
    say("  text%d [shape=plaintext, style=\"\", width=%.3f, height=0.3, "
        "pos=\"%.1f,%.1f!\", fontname=\"%s\", fontsize=%d,\n"
        "    fontcolor=\"" GREY_COLOUR "\", label=\"",
        count++, width / 72, left + width / 2, y, font, size);
    for (; *text; text++) say(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    say("\\l\"];\n");
}

static void draw_box(const char *name, double left, double y, double width, double height,
                     const char *colour, const char *label)
{
    say("  %s [width=%.3f, height=%.3f, pos=\"%.2f,%.1f!\", fillcolor=\"%s\", "
        "label=\"%s\"];\n",
        name, width / 72, height / 72, left + width / 2, y, colour, label);
}

static int address_order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Lanes above; below them the sectors they touch in order of address, a column for every
 * 4 bytes. */
static void draw_sectors(const struct lens_request *r, unsigned bytes)
{
    enum { LANES_AT = -72, SECTORS_AT = -212, WORDS = 8 };
    uint64_t sectors[32 * 2];
    unsigned count = 0, different = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(r->lanes >> lane & 1)) continue;
        sectors[count++] = r->address[lane] / 32;
        sectors[count++] = (r->address[lane] + bytes - 1) / 32;
    }
    qsort(sectors, count, sizeof *sectors, address_order);
    for (unsigned i = 0; i < count; i++)
        if (i == 0 || sectors[i] != sectors[i - 1]) sectors[different++] = sectors[i];
    const double pitch =
        different > 5 ? (double)DRAWING / different : (double)DRAWING / 5;
    const double word = 0.9 * pitch / WORDS,
                 first = (DRAWING - pitch * different + 0.1 * pitch) / 2;

    uint32_t used[32 * 2] = {0}; /* a bit for each word */
    char name[32], label[64];
    draw_text(0, LANES_AT + 24, DRAWING, 13, FONT, "the 32 lanes of a warp");
    for (unsigned lane = 0; lane < 32; lane++) {
        snprintf(name, sizeof name, "lane%u", lane);
        snprintf(label, sizeof label, "%u", lane);
        const bool active = r->lanes >> lane & 1;
        draw_box(name, lane * LANE + 1.5, LANES_AT, LANE - 3, 22,
                 active ? REGISTER_COLOUR : EMPTY_COLOUR, label);
        for (unsigned byte = 0; active && byte < bytes; byte++) {
            unsigned i = 0;
            while (sectors[i] != (r->address[lane] + byte) / 32) i++;
            used[i] |= 1u << (r->address[lane] + byte) % 32 / 4;
        }
    }
    for (unsigned i = 0; i < different; i++)
        for (unsigned w = 0; w < WORDS; w++) {
            snprintf(name, sizeof name, "word%u_%u", i, w);
            draw_box(name, first + i * pitch + w * word, SECTORS_AT,
                     word > 4 ? word - 1 : word, 26,
                     used[i] >> w & 1 ? GLOBAL_COLOUR : EMPTY_COLOUR, "");
        }
    snprintf(label, sizeof label,
             different == 1 ? "%u sector of global memory: 32 bytes, 4 to a column"
                            : "%u sectors of global memory: 32 bytes each, 4 to a column",
             different);
    draw_text(0, SECTORS_AT - 26, DRAWING, 13, FONT, label);
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(r->lanes >> lane & 1)) continue;
        const uint64_t middle = r->address[lane] + (bytes > 4 ? bytes / 2 : 0);
        unsigned i = 0;
        while (sectors[i] != middle / 32) i++;
        say("  lane%u:s -> word%u_%u:n;\n", lane, i, (unsigned)(middle % 32 / 4));
    }
}

/* The lanes that share a unit, for its box: "5", "0-15", "0,16", or how many. */
static void name_lanes(uint32_t lanes, char *text, size_t size)
{
    const unsigned low = (unsigned)__builtin_ctz(lanes),
                   high = 31 - (unsigned)__builtin_clz(lanes);
    const unsigned count = (unsigned)__builtin_popcount(lanes);
    if (count == 1)
        snprintf(text, size, "%u", low);
    else if (count == high - low + 1)
        snprintf(text, size, "%u-%u", low, high);
    else if (count == 2)
        snprintf(text, size, "%u,%u", low, high);
    else
        snprintf(text, size, "%u x", count);
}

/* The banks are columns, the wavefronts rows: who is served when. */
static void draw_banks(const struct lens_request *r, unsigned bytes, bool store)
{
    enum { BANKS_AT = -72, ROW = 24 };
    const unsigned unit = bytes < 4 ? 4 : bytes, groups = 128 / unit, banks = 32 / groups;
    unsigned wave[32];
    const unsigned waves = wavefront_of(r, bytes, store, wave);
    char name[32], label[96];
    snprintf(label, sizeof label,
             "a column is one of the 32 banks, a row is one wavefront; numbers are the "
             "lanes it serves");
    draw_text(0, BANKS_AT + 24, DRAWING, 13, FONT, label);
    for (unsigned bank = 0; bank < 32; bank++) {
        snprintf(label, sizeof label, "%u", bank);
        say("  bank%u [shape=plaintext, style=\"\", width=0.3, height=0.2, "
            "pos=\"%.1f,%d!\", fontcolor=\"" GREY_COLOUR
            "\", fontsize=11, label=\"%u\"];\n",
            bank, (bank + 0.5) * LANE, BANKS_AT, bank);
    }
    uint32_t lanes_of[32][32] = {{0}}; /* that a wavefront serves from a group of banks */
    for (unsigned lane = 0; lane < 32; lane++)
        if (r->lanes >> lane & 1)
            lanes_of[wave[lane]][r->address[lane] / unit % groups] |= 1u << lane;
    for (unsigned row = 0; row < waves; row++)
        for (unsigned group = 0; group < groups; group++) {
            const uint32_t lanes = lanes_of[row][group];
            label[0] = '\0';
            if (lanes) name_lanes(lanes, label, sizeof label);
            snprintf(name, sizeof name, "box%u_%u", row, group);
            draw_box(name, group * banks * LANE + 1, BANKS_AT - 20.0 - row * ROW,
                     banks * LANE - 2.0, ROW - 2.0, lanes ? SHARED_COLOUR : EMPTY_COLOUR,
                     label);
        }
    snprintf(label, sizeof label,
             waves == 1 ? "%u wavefront" : "%u wavefronts, one after the other", waves);
    draw_text(0, BANKS_AT - 20.0 - waves * ROW - 4, DRAWING, 13, FONT, label);
}

static void draw(const struct row *row)
{
    char text[200], title[300];
    verdict(row, text, sizeof text);
    snprintf(title, sizeof title, "%s, %u byte%s a lane: %s", class_names[row->sum.kind],
             row->sum.bytes, row->sum.bytes == 1 ? "" : "s", text);
    snprintf(text, sizeof text, "%.100s", row->place.text);
    say("digraph request {\n"
        "  graph [layout=neato, inputscale=72, bgcolor=\"transparent\", pad=0.1, "
        "splines=line];\n"
        "  node [shape=box, style=filled, fixedsize=true, penwidth=0, margin=0, "
        "fontname=\"" FONT "\", fontsize=11,\n"
        "        fontcolor=white];\n"
        "  edge [color=\"" MOVING_COLOUR "\", arrowsize=0.4, penwidth=1];\n");
    draw_text(0, 0, DRAWING, 15, FONT, title);
    draw_text(0, -22, DRAWING, 13, "Courier,monospace", text);
    if (touches_banks(row->sum.kind))
        draw_banks(&row->sum.example, row->sum.bytes, row->sum.kind != SHARED_LOAD);
    else
        draw_sectors(&row->sum.example, row->sum.bytes);
    say("}\n");
}

/* LENS_LINE=44 is the access of line 44 that wastes most, 44.2 the second that the table
 * shows there; without it, the worst of all. */
static void draw_chosen(void)
{
    const long line = emu_settings.lens_line, which = emu_settings.lens_which;
    for (const struct lens_kernel *k = lens_kernels; k; k = k->next) {
        unsigned count;
        int place = 0;
        struct row *rows = rows_of(k, &count), *chosen = NULL;
        for (unsigned i = 0; i < count; i++) {
            place = i && rows[i].place.line == rows[i - 1].place.line ? place + 1 : 1;
            if (!rows[i].sum.example.lanes || (line && rows[i].place.line != line) ||
                (which && place != which))
                continue;
            if (!chosen || waste(&rows[i].sum) > waste(&chosen->sum)) chosen = &rows[i];
        }
        if (chosen) {
            draw(chosen);
            free(rows);
            return;
        }
        free(rows);
    }
    if (line)
        fprintf(stderr, "LENS=dot: no access to memory on line %s\n",
                getenv("LENS_LINE"));
    else
        fprintf(stderr, "LENS=dot: the program made no access to memory\n");
}

/* ---- entry ---- */

static void report(void)
{
    const char *mode = emu_settings.lens;
    if (strcmp(mode, "dot") == 0) {
        draw_chosen();
    } else if (strcmp(mode, "json") == 0) {
        say("{\"gpu\": ");
        json_string(emu_gpu()->prop.name);
        say(", \"sms\": %d, \"kernels\": [", emu_gpu()->prop.multiProcessorCount);
        for (const struct lens_kernel *k = lens_kernels; k; k = k->next) {
            json_kernel(k);
            if (k->next) say(", ");
        }
        say("]}\n");
    } else {
        for (const struct lens_kernel *k = lens_kernels; k; k = k->next) print_kernel(k);
    }
}

void lens_report(void)
{
    const char *path = emu_settings.lens_out;
    errno = 0;
    out = path ? fopen(path, "w") : stdout;
    if (out) {
        report();
        /* A report that was lost is no success. Who closes a pipe early (| head -1) wants
         * no more, and no word about it either. */
        if (fflush(out) == 0 && !ferror(out) && (!path || fclose(out) == 0)) return;
    }
    if (errno != EPIPE)
        fprintf(stderr, "LENS: cannot write %s: %s\n", path ? path : "the report",
                errno ? strerror(errno) : "an earlier write failed");
    _exit(3);
}
