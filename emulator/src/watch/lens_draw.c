/* A drawing of one request, for Graphviz. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"
#include "watch/lens_counts.h"
#include "watch/lens_report.h"
#include "watch/lens_request.h"
#include "watch/lens_sums.h"
#include "watch/lens_words.h"

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
    lens_say("  text%d [shape=plaintext, style=\"\", width=%.3f, height=0.3, "
             "pos=\"%.1f,%.1f!\", fontname=\"%s\", fontsize=%d,\n"
             "    fontcolor=\"" GREY_COLOUR "\", label=\"",
             count++, width / 72, left + width / 2, y, font, size);
    for (; *text; text++) lens_say(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    lens_say("\\l\"];\n");
}

static void draw_box(const char *name, double left, double y, double width, double height,
                     const char *colour, const char *label)
{
    lens_say("  %s [width=%.3f, height=%.3f, pos=\"%.2f,%.1f!\", fillcolor=\"%s\", "
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
             different == 1
                 ? "%u sector of global memory: 32 bytes, 4 bytes to a cell"
                 : "%u sectors of global memory: 32 bytes each, 4 bytes to a cell",
             different);
    draw_text(0, SECTORS_AT - 26, DRAWING, 13, FONT, label);
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(r->lanes >> lane & 1)) continue;
        const uint64_t middle = r->address[lane] + (bytes > 4 ? bytes / 2 : 0);
        unsigned i = 0;
        while (sectors[i] != middle / 32) i++;
        lens_say("  lane%u:s -> word%u_%u:n;\n", lane, i, (unsigned)(middle % 32 / 4));
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
    const unsigned waves = lens_wavefront_of(r, bytes, store, wave);
    char name[32], label[96];
    snprintf(label, sizeof label,
             "a column is one of the 32 banks, a row is one wavefront; numbers are the "
             "lanes it serves");
    draw_text(0, BANKS_AT + 24, DRAWING, 13, FONT, label);
    for (unsigned bank = 0; bank < 32; bank++) {
        snprintf(label, sizeof label, "%u", bank);
        lens_say("  bank%u [shape=plaintext, style=\"\", width=0.3, height=0.2, "
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

static void draw(const struct lens_row *row)
{
    char text[200], title[300];
    lens_verdict(row, text, sizeof text);
    snprintf(title, sizeof title, "%s, %u byte%s a lane: %s",
             lens_class_names[row->sum.kind], row->sum.bytes,
             row->sum.bytes == 1 ? "" : "s", text);
    lens_say("digraph request {\n"
             "  graph [layout=neato, inputscale=72, bgcolor=\"transparent\", pad=0.1, "
             "splines=line];\n"
             "  node [shape=box, style=filled, fixedsize=true, penwidth=0, margin=0, "
             "fontname=\"" FONT "\", fontsize=11,\n"
             "        fontcolor=white];\n"
             "  edge [color=\"" MOVING_COLOUR "\", arrowsize=0.4, penwidth=1];\n");
    draw_text(0, 0, DRAWING, 15, FONT, title);
    draw_text(0, -22, DRAWING, 13, "Courier,monospace",
              lens_shortened(row->place.text, 100));
    if (lens_touches_banks(row->sum.kind))
        draw_banks(&row->sum.example, row->sum.bytes, row->sum.kind != SHARED_LOAD);
    else
        draw_sectors(&row->sum.example, row->sum.bytes);
    lens_say("}\n");
}

void lens_draw(const struct lens_kernel *kernels)
{
    const long line = emu_settings.lens_line, which = emu_settings.lens_which;
    for (const struct lens_kernel *k = kernels; k; k = k->next) {
        unsigned count;
        int place = 0;
        struct lens_row *rows = lens_rows_of(k, &count), *chosen = NULL;
        for (unsigned i = 0; i < count; i++) {
            const bool same = i && rows[i].place.line == rows[i - 1].place.line &&
                              strcmp(rows[i].place.file, rows[i - 1].place.file) == 0;
            place = same ? place + 1 : 1;
            if (!rows[i].sum.example.lanes || (line && rows[i].place.line != line) ||
                (which && place != which))
                continue;
            if (!chosen || lens_waste(&rows[i].sum) > lens_waste(&chosen->sum))
                chosen = &rows[i];
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
