/* What the lens tells: a table for reading, JSON for tools, a drawing of one request. */
#include "lens.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const class_names[LENS_CLASSES] = {
    "global load", "global store", "global atomic", "shared load", "shared store", "shared atomic",
    "async copy, read", "async copy, write", "constant load", "bulk copy", "basic block"};

static bool touches_banks(enum lens_class kind)
{
    return kind == SHARED_LOAD || kind == SHARED_STORE || kind == SHARED_ATOMIC || kind == ASYNC_WRITE;
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

/* Copies that the compiler made of one access (unrolling) cost the same each; two accesses on one line seldom do. */
static bool alike(const struct lens_site *a, const struct lens_site *b)
{
    return a->kind == b->kind && a->bytes == b->bytes && a->sectors * b->requests == b->sectors * a->requests &&
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
    sum->ideal += s->ideal;
    sum->box_bytes += s->box_bytes;
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
        while (i < *count && !(rows[i].place.line == place.line && strcmp(rows[i].place.file, place.file) == 0 &&
                               alike(&rows[i].sum, s)))
            i++;
        if (i == *count) {
            rows = realloc(rows, ++*count * sizeof *rows);
            rows[i] = (struct row){place, *s};
            continue;
        }
        add(&rows[i].sum, s);
        if (s->pc < rows[i].sum.pc) rows[i].sum.pc = s->pc;
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

static uint64_t requested_load_bytes(const struct lens_kernel *k)
{
    return requested_bytes(k, GLOBAL_LOAD) + requested_bytes(k, ASYNC_READ) + requested_bytes(k, BULK_COPY);
}

/* ---- floating-point operations ----
 * The compiler reports every basic block that a thread enters, by the return address of a call at its beginning. The
 * disassembly tells what lies between that call and the next: so many additions, so many multiplications. */

static int flop_of(const char *mnemonic, const char *operands)
{
    static const char *const one[] = {"adds", "subs", "muls", "divs", "sqrts"};
    if (*mnemonic == 'v') mnemonic++;
    for (unsigned i = 0; i < sizeof one / sizeof *one; i++) {
        size_t n = strlen(one[i]);
        if (strncmp(mnemonic, one[i], n) == 0 && (mnemonic[n] == 's' || mnemonic[n] == 'd') && !mnemonic[n + 1]) return 1;
    }
    if (strncmp(mnemonic, "fmadd", 5) == 0 || strncmp(mnemonic, "fmsub", 5) == 0 || strncmp(mnemonic, "fnmadd", 6) == 0 ||
        strncmp(mnemonic, "fnmsub", 6) == 0)
        return 2;
    if (strcmp(mnemonic, "fadd") == 0 || strcmp(mnemonic, "fsub") == 0 || strcmp(mnemonic, "fmul") == 0 ||
        strcmp(mnemonic, "fdiv") == 0 || strcmp(mnemonic, "fsqrt") == 0)
        return 1;
    const bool call = strncmp(mnemonic, "call", 4) == 0 || strcmp(mnemonic, "bl") == 0;
    if (call && (strstr(operands, "<fmaf") || strstr(operands, "<fma@") || strstr(operands, "<fma>"))) return 2;
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
    snprintf(command, sizeof command, "objdump -d --no-show-raw-insn '%s' 2>/dev/null", program);
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
            costs = realloc(costs, (cost_count + 1) * sizeof *costs);
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
            if (costs[middle].pc <= (uint64_t)(uintptr_t)s->pc) low = middle;
            else high = middle;
        }
        if (costs[low].pc == (uint64_t)(uintptr_t)s->pc) *flop += s->lanes * costs[low].flop;
    }
    return true;
}

/* ---- words ---- */

/* 1234567 -> "1,234,567"; fractions only where there are some. Four results may be in use at once. */
static const char *number(double value)
{
    static char buffers[8][40];
    static int next;
    char digits[40], *out = buffers[next++ % 8];
    const bool whole = value == (double)(uint64_t)value;
    snprintf(digits, sizeof digits, whole ? "%.0f" : value < 100 ? "%.2f" : "%.1f", value);
    const size_t integer = strcspn(digits, ".");
    size_t at = 0;
    for (size_t i = 0; digits[i]; i++) {
        if (i > 0 && i < integer && (integer - i) % 3 == 0) out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

/* The lanes of a request that meet in its busiest bank, as "0, 8, 16, 24"; returns the bank. */
static unsigned busiest_bank(const struct lens_request *r, unsigned bytes, char *lanes, size_t size)
{
    const unsigned unit = bytes < 4 ? 4 : bytes, together = unit == 4 ? 32 : 16, groups = 128 / unit;
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
        used += (size_t)snprintf(lanes + used, size - used, "%s%u", shown ? ", " : "", lane);
        shown++;
    }
    return worst_group * (unit / 4);
}

/* One sentence on what the figures of a row mean. */
static void verdict(const struct row *row, char *out, size_t size)
{
    const struct lens_site *s = &row->sum;
    const double lanes = ratio(s->lanes, s->requests);
    if (touches_banks(s->kind)) {
        if (s->wavefronts == s->ideal) {
            const double values = ratio(s->unique_bytes, s->requests) / s->bytes;
            if (values == 1.0 && lanes > 1.0) snprintf(out, size, "all lanes want one value: a broadcast, no conflict");
            else snprintf(out, size, "no bank conflicts");
            return;
        }
        char who[64];
        unsigned bank = busiest_bank(&s->example, s->bytes, who, sizeof who);
        snprintf(out, size, "%s-way bank conflict: lanes %s meet in bank %u", number(ratio(s->wavefronts, s->ideal)), who,
                 bank);
        return;
    }
    const double sectors = ratio(s->sectors, s->requests), used = ratio(s->unique_bytes, s->sectors);
    const double values = ratio(s->unique_bytes, s->requests) / s->bytes;
    if (s->kind == BULK_COPY) {
        snprintf(out, size, "the copy engine's: no thread loads; %.3g %% of the boxes lie in the matrix, %.3g of 32 bytes used",
                 100.0 * ratio(s->unique_bytes, s->box_bytes), used);
    } else if (s->kind == CONSTANT_LOAD) {
        snprintf(out, size, values == 1.0 ? "one value for all lanes: what constant memory is good at"
                                          : "lanes want %.3g different values: constant memory serves them in turn", values);
    } else if (values == 1.0 && lanes > 1.0) {
        snprintf(out, size, "all lanes want one value: a broadcast, one sector");
    } else if (used == 32.0) {
        snprintf(out, size, "%.3g lanes touch %.3g sectors and use every byte", lanes, sectors);
    } else {
        snprintf(out, size, "%.3g lanes touch %.3g sectors: %.3g of 32 bytes used of each", lanes, sectors, used);
    }
}

/* What a row wastes: sectors, or wavefronts, beyond what its bytes needed. The row with the most is the worst. */
static double waste(const struct lens_site *s)
{
    if (touches_banks(s->kind)) return (double)(s->wavefronts - s->ideal);
    return s->kind == CONSTANT_LOAD ? 0.0 : (double)s->sectors - (double)s->unique_bytes / 32.0;
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
        say("        %-17s %8.8g B %14s boxes   ", class_names[s->kind], ratio(s->box_bytes, s->requests),
            number(s->requests / per));
    else
        say("        %-17s %2u B x %-4.3g %14s requests", class_names[s->kind], s->bytes, ratio(s->lanes, s->requests),
        number(s->requests / per));
    if (touches_banks(s->kind))
        say("  %6s wavefronts each%s\n", number(ratio(s->wavefronts, s->requests)), worst ? "  <- worst" : "");
    else
        say("  %6s sectors each%s\n", number(ratio(s->sectors, s->requests)), worst ? "  <- worst" : "");
    say("          %s\n", text);
}

static void print_total(const struct lens_kernel *k, enum lens_class kind, double per)
{
    const struct lens_site s = total_of(k, kind);
    if (!s.requests) return;
    say("    %-18s %14s %s", class_names[kind], number(s.requests / per), kind == BULK_COPY ? "boxes   " : "requests");
    if (touches_banks(kind))
        say("  %14s wavefronts  %14s conflicts\n", number(s.wavefronts / per), number((s.wavefronts - s.ideal) / per));
    else
        say("  %14s sectors     %6s a %s, %.3g of 32 bytes used\n", number(s.sectors / per),
            number(ratio(s.sectors, s.requests)), kind == BULK_COPY ? "box" : "request", ratio(s.unique_bytes, s.sectors));
}

static unsigned registers_given(void)
{
    const char *text = getenv("LENS_REGS");
    return text && atoi(text) > 0 ? (unsigned)atoi(text) : 0;
}

static void print_occupancy(const struct lens_kernel *k)
{
    const unsigned threads = k->block[0] * k->block[1] * k->block[2], registers = registers_given();
    struct emu_occupancy o = emu_occupancy(threads, registers ? registers : 16, k->shared);
    say("    occupancy: a block has %u threads and %s bytes of shared memory. Blocks on an SM: %u by threads,\n",
        threads, number((double)k->shared), o.by_warps);
    if (registers) {
        say("      %u by %u registers a thread, %u by shared memory, %u at most: %u of %u warps (%.1f %%)\n", o.by_registers,
            registers, o.by_shared, o.by_blocks, o.warps, o.max_warps, 100.0 * o.warps / o.max_warps);
        return;
    }
    unsigned most = 16;
    while (most < 255 && emu_occupancy(threads, most + 1, k->shared).blocks == o.blocks) most++;
    say("      %u by shared memory, %u at most: %u of %u warps (%.1f %%), if a thread needs no more than\n", o.by_shared,
        o.by_blocks, o.warps, o.max_warps, 100.0 * o.warps / o.max_warps);
    say("      %u registers. Only NVIDIA's compiler knows that number: LENS_REGS=n tells it here\n", most);
}

static void print_summary(const struct lens_kernel *k, double per)
{
    say("  in all\n");
    for (int kind = 0; kind < BASIC_BLOCK; kind++) print_total(k, kind, per);
    const double loaded = (double)requested_load_bytes(k);
    uint64_t flop;
    const bool flop_known = flop_count(k, &flop);
    if (k->stored_elements) {
        const struct lens_site global = total_of(k, GLOBAL_LOAD), async = total_of(k, ASYNC_READ),
                               bulk = total_of(k, BULK_COPY), shared = total_of(k, SHARED_LOAD);
        say("    for each of %s results:", number(k->stored_elements / per));
        say(" %s loads from global memory", number((double)(global.lanes + async.lanes + bulk.lanes) / (double)k->stored_elements));
        say(", %s from shared memory\n", number((double)shared.lanes / (double)k->stored_elements));
    }
    if (flop_known && flop && loaded > 0) {
        say("    %s FLOP: %.3g for each byte requested from global memory", number((double)flop / per), (double)flop / loaded);
        const double least = (double)k->loaded_bytes + (double)k->stored_bytes;
        if (least > 0) say("; %.3g if each byte moved once", (double)flop / least);
        say("\n");
    } else if (!flop_known) {
        say("    FLOP: unknown, there is no objdump here (it comes with binutils)\n");
    }
    print_occupancy(k);
}

static void print_kernel(const struct lens_kernel *k)
{
    unsigned count;
    struct row *rows = rows_of(k, &count);
    const double per = k->blocks_seen == k->blocks ? (double)k->launches : 1.0;
    say("\nLENS  %s  grid (%u,%u,%u), block (%u,%u,%u), as a %s would see it\n", k->name, k->grid[0], k->grid[1],
        k->grid[2], k->block[0], k->block[1], k->block[2], emu_gpu()->prop.name);
    if (k->blocks_seen < k->blocks)
        say("  looked at %s of %s blocks; the figures are of those\n", number((double)k->blocks_seen),
            number((double)k->blocks));
    else if (k->launches > 1) say("  %s launches; the figures are of one\n", number((double)k->launches));

    const struct row *worst = NULL;
    for (unsigned i = 0; i < count; i++)
        if (waste(&rows[i].sum) > (worst ? waste(&worst->sum) : 0.0)) worst = &rows[i];
    for (unsigned i = 0; i < count; i++) {
        const struct row *r = &rows[i], *before = i ? &rows[i - 1] : NULL;
        if (!before || strcmp(before->place.file, r->place.file)) say("  %s\n", r->place.file);
        if (!before || before->place.line != r->place.line || strcmp(before->place.file, r->place.file))
            say("  %4d  %.90s\n", r->place.line, r->place.text);
        print_row(r, per, r == worst);
    }
    print_summary(k, per);
    free(rows);
}

/* ---- JSON ---- */

static void json_string(const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') say("\\%c", *text);
        else if ((unsigned char)*text < ' ') say("\\u%04x", *text);
        else fputc(*text, out);
    }
    fputc('"', out);
}

static void json_counts(const struct lens_site *s)
{
    if (s->kind == BULK_COPY) {
        say("\"boxes\": %llu, \"box_bytes\": %llu, \"sectors\": %llu, \"bytes_used\": %llu}", (unsigned long long)s->requests,
            (unsigned long long)s->box_bytes, (unsigned long long)s->sectors, (unsigned long long)s->unique_bytes);
        return;
    }
    say("\"requests\": %llu, \"lanes\": %llu, ", (unsigned long long)s->requests, (unsigned long long)s->lanes);
    if (touches_banks(s->kind))
        say("\"wavefronts\": %llu, \"ideal_wavefronts\": %llu, \"conflicts\": %llu}", (unsigned long long)s->wavefronts,
            (unsigned long long)s->ideal, (unsigned long long)(s->wavefronts - s->ideal));
    else
        say("\"sectors\": %llu, \"bytes_used\": %llu}", (unsigned long long)s->sectors,
            (unsigned long long)s->unique_bytes);
}

static void json_kernel(const struct lens_kernel *k)
{
    unsigned count;
    struct row *rows = rows_of(k, &count);
    const unsigned threads = k->block[0] * k->block[1] * k->block[2], registers = registers_given();
    uint64_t flop;
    say("{\"name\": ");
    json_string(k->name);
    say(", \"launches\": %llu, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"blocks\": %llu, \"blocks_seen\": %llu",
        (unsigned long long)k->launches, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2],
        (unsigned long long)k->blocks, (unsigned long long)k->blocks_seen);
    if (flop_count(k, &flop)) say(", \"flop\": %llu", (unsigned long long)flop);
    say(", \"requested_load_bytes\": %llu, \"loaded_bytes\": %llu, \"stored_bytes\": %llu, \"results\": %llu",
        (unsigned long long)requested_load_bytes(k),
        (unsigned long long)k->loaded_bytes, (unsigned long long)k->stored_bytes, (unsigned long long)k->stored_elements);
    struct emu_occupancy o = emu_occupancy(threads, registers ? registers : 16, k->shared);
    say(", \"shared_bytes\": %zu, \"occupancy\": {\"registers\": ", k->shared);
    if (registers) say("%u, \"by_registers\": %u", registers, o.by_registers);
    else say("null, \"by_registers\": null");
    say(", \"by_threads\": %u, \"by_shared\": %u, \"by_blocks\": %u, \"blocks\": %u, \"warps\": %u, \"max_warps\": %u}",
        o.by_warps, o.by_shared, o.by_blocks, o.blocks, o.warps, o.max_warps);
    say(", \"totals\": {");
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
        say(", \"kind\": \"%s\", \"bytes\": %u, \"verdict\": ", class_names[rows[i].sum.kind], rows[i].sum.bytes);
        json_string(text);
        say(", ");
        json_counts(&rows[i].sum);
    }
    say("]}");
    free(rows);
}

/* ---- a drawing of one request ---- */

#define GLOBAL_COLOUR "#d9822b"
#define SHARED_COLOUR "#2b8a9d"
#define MOVING_COLOUR "#c0392b"
#define GREY_COLOUR "#888888"

static int address_order(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Lanes on the left, what they touch on the right: sectors of global memory in the order of their addresses, or
 * banks, one row a wavefront. HTML-like tables keep 32 lanes in one straight line. */
static void draw(const struct row *row)
{
    const struct lens_request *r = &row->sum.example;
    const bool banks = touches_banks(row->sum.kind);
    const unsigned bytes = row->sum.bytes;
    char text[200];
    verdict(row, text, sizeof text);
    say("digraph request {\n"
        "  graph [rankdir=TB, bgcolor=\"transparent\", ranksep=1.1, nodesep=0.05, margin=0.1,\n"
        "         fontname=\"Helvetica,Arial,sans-serif\", fontsize=18, fontcolor=\"" GREY_COLOUR "\", labelloc=t,\n"
        "         label=\"%s, %u bytes a lane: %s\\nabove: the 32 lanes of a warp; below: %s\"];\n"
        "  node [shape=box, style=filled, fontname=\"Helvetica,Arial,sans-serif\", fontsize=13, fontcolor=white,\n"
        "        color=\"#00000000\", width=0.32, height=0.32, fixedsize=true, margin=0];\n"
        "  edge [color=\"%s\", arrowsize=0.5, penwidth=1.2];\n",
        class_names[row->sum.kind], bytes, text,
        banks ? "the 32 banks, an arrow's colour is its wavefront" : "the 32-byte sectors they touch, in order of address",
        banks ? SHARED_COLOUR : GLOBAL_COLOUR);
    say("  { rank=same;\n");
    for (unsigned lane = 0; lane < 32; lane++)
        say("    lane%u [label=\"%u\", fillcolor=\"%s\"];\n", lane, lane, r->lanes >> lane & 1 ? "#7a5fb5" : GREY_COLOUR);
    for (unsigned lane = 0; lane < 31; lane++) say("    lane%u -> lane%u [style=invis];\n", lane, lane + 1);
    say("  }\n  { rank=same;\n");
    uint64_t units[32];
    unsigned count = 0;
    if (banks) {
        for (unsigned bank = 0; bank < 32; bank++)
            say("    unit%u [label=\"%u\", fillcolor=\"" SHARED_COLOUR "\"];\n", bank, bank);
        count = 32;
    } else {
        for (unsigned lane = 0; lane < 32; lane++)
            if (r->lanes >> lane & 1) units[count++] = r->address[lane] / 32;
        qsort(units, count, sizeof *units, address_order);
        unsigned distinct = 0;
        for (unsigned i = 0; i < count; i++)
            if (i == 0 || units[i] != units[i - 1]) units[distinct++] = units[i];
        count = distinct;
        for (unsigned i = 0; i < count; i++)
            say("    unit%u [label=\"%u\", fillcolor=\"" GLOBAL_COLOUR "\", width=%s];\n", i, i,
                count <= 8 ? "1.0" : "0.32");
    }
    for (unsigned i = 0; i + 1 < count; i++) say("    unit%u -> unit%u [style=invis];\n", i, i + 1);
    say("  }\n");
    /* Of the words that meet in a bank, the first goes in the first wavefront, the next in the second, ... */
    static const char *const wave_colours[] = {SHARED_COLOUR, MOVING_COLOUR, GLOBAL_COLOUR, "#7a5fb5"};
    uint64_t seen[32][32];
    unsigned in_bank[32] = {0};
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(r->lanes >> lane & 1)) continue;
        unsigned unit = 0, wave = 0;
        if (banks) {
            unit = r->address[lane] / 4 % 32;
            while (wave < in_bank[unit] && seen[unit][wave] != r->address[lane] / 4) wave++;
            if (wave == in_bank[unit]) seen[unit][in_bank[unit]++] = r->address[lane] / 4;
            say("  lane%u -> unit%u [color=\"%s\"];\n", lane, unit, wave_colours[wave % 4]);
        } else {
            while (units[unit] != r->address[lane] / 32) unit++;
            say("  lane%u -> unit%u;\n", lane, unit);
        }
    }
    say("}\n");
}

static void draw_worst(void)
{
    const char *wanted = getenv("LENS_LINE");
    for (const struct lens_kernel *k = lens_kernels; k; k = k->next) {
        unsigned count;
        struct row *rows = rows_of(k, &count), *chosen = NULL;
        for (unsigned i = 0; i < count; i++) {
            if (!rows[i].sum.example.lanes || (wanted && rows[i].place.line != atoi(wanted))) continue;
            if (!chosen || waste(&rows[i].sum) > waste(&chosen->sum)) chosen = &rows[i];
        }
        if (chosen) {
            draw(chosen);
            free(rows);
            return;
        }
        free(rows);
    }
    fprintf(stderr, "LENS=dot: %s%s\n", wanted ? "no access to memory on line " : "the program made no access to memory",
            wanted ? wanted : "");
}

/* ---- entry ---- */

void lens_report(const char *mode)
{
    const char *path = getenv("LENS_OUT");
    out = stdout;
    if (path && !(out = fopen(path, "w"))) {
        fprintf(stderr, "LENS_OUT: cannot write %s\n", path);
        return;
    }
    if (strcmp(mode, "dot") == 0) {
        draw_worst();
    } else if (strcmp(mode, "json") == 0) {
        say("{\"gpu\": ");
        json_string(emu_gpu()->prop.name);
        say(", \"kernels\": [");
        for (const struct lens_kernel *k = lens_kernels; k; k = k->next) {
            json_kernel(k);
            if (k->next) say(", ");
        }
        say("]}\n");
    } else {
        for (const struct lens_kernel *k = lens_kernels; k; k = k->next) print_kernel(k);
    }
    if (path) fclose(out);
    else fflush(out);
}
