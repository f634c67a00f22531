/* The report of the lens for tools. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/device.h"
#include "base/settings.h"
#include "watch/lens_counts.h"
#include "watch/lens_report.h"
#include "watch/lens_request.h"
#include "watch/lens_sums.h"
#include "watch/lens_words.h"

static void json_string(const char *text)
{
    fputc('"', lens_out);
    for (unsigned bytes; *text; text += bytes ? bytes : 1) {
        bytes = lens_character(text);
        if (*text == '"' || *text == '\\')
            lens_say("\\%c", *text);
        else if (bytes == 0)
            lens_say("\\ufffd"); /* the source is not in UTF-8 */
        else if (bytes == 1 && *text < ' ')
            lens_say("\\u%04x", (unsigned)*text);
        else
            lens_say("%.*s", (int)bytes, text);
    }
    fputc('"', lens_out);
}

/* A count that may be unknown. */
static void json_count(const char *name, bool known, uint64_t count)
{
    if (known)
        lens_say(", \"%s\": %llu", name, (unsigned long long)count);
    else
        lens_say(", \"%s\": null", name);
}

static void json_counts(const struct lens_site *s)
{
    lens_say("\"requests\": %llu", (unsigned long long)s->requests);
    json_count("lanes", true, s->lanes);
    if (lens_touches_banks(s->kind)) {
        const bool load = s->kind == SHARED_LOAD; /* others are not joined */
        const uint64_t joined = load ? s->joined_wavefronts : s->wavefronts;
        json_count("wavefronts", true, s->wavefronts);
        json_count("ideal_wavefronts", true, s->ideal);
        json_count("conflicts", true, s->wavefronts - s->ideal);
        json_count("joined_requests", true, load ? s->joined_requests : s->requests);
        json_count("joined_wavefronts", true, joined);
        json_count("joined_conflicts", true,
                   joined - (load ? s->joined_ideal : s->ideal));
    } else {
        if (s->kind != CONSTANT_LOAD) {
            json_count("sectors", true, s->sectors);
            json_count("ideal_sectors", true, s->ideal);
            json_count("lookups", true, s->lookups);
        }
        json_count("bytes_used", true, s->unique_bytes);
    }
    lens_say("}");
}

/* The costliest request of a row: each lane that took part, and how far from the lowest
 * address, rounded down to 128 bytes (so that sectors and banks stay what they are). */
static void json_example(const struct lens_request *r)
{
    uint64_t low = UINT64_MAX;
    for (unsigned lane = 0; lane < 32; lane++)
        if (r->lanes >> lane & 1 && r->address[lane] < low) low = r->address[lane];
    const char *separator = "";
    lens_say(", \"example\": [");
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(r->lanes >> lane & 1)) continue;
        lens_say("%s[%u, %llu]", separator, lane,
                 (unsigned long long)(r->address[lane] - low / 128 * 128));
        separator = ", ";
    }
    lens_say("]");
}

/* Which wavefront serves each lane of the example, in the same order. */
static void json_example_wavefronts(const struct lens_site *s)
{
    unsigned wave[32];
    if (!s->example.lanes || !lens_touches_banks(s->kind)) return;
    lens_wavefront_of(&s->example, s->bytes, s->kind != SHARED_LOAD, wave);
    const char *separator = "";
    lens_say(", \"example_wavefronts\": [");
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(s->example.lanes >> lane & 1)) continue;
        lens_say("%s%u", separator, wave[lane]);
        separator = ", ";
    }
    lens_say("]");
}

static void json_kernel(const struct lens_kernel *k)
{
    unsigned count;
    struct lens_row *rows = lens_rows_of(k, &count);
    const unsigned threads = k->block[0] * k->block[1] * k->block[2],
                   registers = (unsigned)emu_settings.lens_registers;
    struct lens_flop flop;
    lens_say("{\"name\": ");
    json_string(k->name);
    lens_say(", \"launches\": %llu, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], "
             "\"blocks\": %llu, \"blocks_seen\": %llu",
             (unsigned long long)k->launches, k->grid[0], k->grid[1], k->grid[2],
             k->block[0], k->block[1], k->block[2], (unsigned long long)k->blocks,
             (unsigned long long)k->blocks_seen);
    const bool flop_known = lens_flop_count(k, &flop);
    json_count("flop", flop_known, flop.wide + flop.half + 2 * k->tensor_multiply_adds);
    json_count("half_flop", flop_known, flop.half);
    json_count("tensor_multiply_adds", true, k->tensor_multiply_adds);
    json_count("tensor_bytes", true, k->tensor_bytes);
    json_count("requested_load_bytes", true, lens_loads_requested(k));
    json_count("loaded_bytes", !k->bytes_unknown, k->loaded_bytes);
    json_count("stored_bytes", !k->bytes_unknown, k->stored_bytes);
    json_count("results", !k->bytes_unknown, k->stored_bytes / 4);
    json_count("texture_fetches", true, k->texture_fetches);
    json_count("copies_arrived", true, k->copies_arrived);
    json_count("loads_beside_copies", true, k->loads_beside_copies);
    json_count("warp_exchanges", true, k->warp_exchanges);
    json_count("steps", true, k->steps);
    json_count("steps_of_busiest_block", true, k->most_steps);
    struct emu_occupancy o =
        emu_occupancy(threads, registers ? registers : 16, k->shared);
    lens_say(", \"shared_bytes\": %zu, \"occupancy\": {\"registers\": ", k->shared);
    if (registers)
        lens_say("%u, \"by_registers\": %u", registers, o.by_registers);
    else
        lens_say("null, \"by_registers\": null");
    lens_say(
        ", \"by_threads\": %u, \"by_shared\": %u, \"by_blocks\": %u, \"blocks\": %u, "
        "\"warps\": %u, \"max_warps\": %u}",
        o.by_warps, o.by_shared, o.by_blocks, o.blocks, o.warps, o.max_warps);
    double seconds[RESOURCES];
    const unsigned most = lens_bound_of(k, seconds);
    lens_say(", \"bound\": {\"seconds\": %.9g, \"by\": \"%s\", \"sms\": %u, \"each\": {",
             seconds[most], lens_resource_names[most], lens_busy_sms(k));
    for (unsigned r = 0; r < RESOURCES; r++) {
        lens_say("%s\"%s\": ", r ? ", " : "", lens_resource_names[r]);
        if (isnan(seconds[r]))
            lens_say("null");
        else
            lens_say("%.9g", seconds[r]);
    }
    lens_say("}}, \"totals\": {");
    bool first = true;
    for (int kind = 0; kind < BASIC_BLOCK; kind++) {
        struct lens_site s = lens_total_of(k, kind);
        if (!s.requests) continue;
        lens_say("%s\"%s\": {", first ? "" : ", ", lens_class_names[kind]);
        first = false;
        json_counts(&s);
    }
    lens_say("}, \"lines\": [");
    for (unsigned i = 0; i < count; i++) {
        char text[200];
        lens_verdict(&rows[i], text, sizeof text);
        lens_say("%s{\"file\": ", i ? ", " : "");
        json_string(rows[i].place.file);
        lens_say(", \"line\": %d, \"text\": ", rows[i].place.line);
        json_string(rows[i].place.text);
        lens_say(", \"kind\": \"%s\", \"bytes\": %u, \"verdict\": ",
                 lens_class_names[rows[i].sum.kind], rows[i].sum.bytes);
        json_string(text);
        json_example(&rows[i].sum.example);
        json_example_wavefronts(&rows[i].sum);
        lens_say(", ");
        json_counts(&rows[i].sum);
    }
    lens_say("]}");
    free(rows);
}

void lens_json(const struct lens_kernel *kernels)
{
    /* A line of its own, whether or not the program has ended its last one. */
    lens_say(lens_out == stdout ? "\n{\"gpu\": " : "{\"gpu\": ");
    json_string(emu_gpu()->prop.name);
    lens_say(", \"sms\": %d, \"kernels\": [", emu_gpu()->prop.multiProcessorCount);
    for (const struct lens_kernel *k = kernels; k; k = k->next) {
        json_kernel(k);
        if (k->next) lens_say(", ");
    }
    lens_say("]}\n");
}
