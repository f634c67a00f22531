/* How the report of the lens writes figures, and where. */
#include "watch/lens_words.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "watch/lens_counts.h"
#include "watch/lens_request.h"
#include "watch/lens_sums.h"

FILE *lens_out;

void lens_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(lens_out, format, arguments);
    va_end(arguments);
}

unsigned lens_character(const char *text)
{
    const unsigned char *const t = (const unsigned char *)text;
    const unsigned bytes = t[0] < 0x80   ? 1
                           : t[0] < 0xc2 ? 0
                           : t[0] < 0xe0 ? 2
                           : t[0] < 0xf0 ? 3
                           : t[0] < 0xf5 ? 4
                                         : 0;
    for (unsigned i = 1; i < bytes; i++)
        if ((t[i] & 0xc0) != 0x80) return 0;
    /* Too long a form, a half of a pair, or beyond the last. */
    if ((t[0] == 0xe0 && t[1] < 0xa0) || (t[0] == 0xed && t[1] >= 0xa0) ||
        (t[0] == 0xf0 && t[1] < 0x90) || (t[0] == 0xf4 && t[1] >= 0x90))
        return 0;
    return bytes;
}

/* How many bytes the first `most` characters have. A byte that is none counts as one. */
static size_t bytes_of(const char *text, size_t most)
{
    const char *end = text;
    for (; *end && most > 0; most--) {
        const unsigned bytes = lens_character(end);
        end += bytes ? bytes : 1;
    }
    return (size_t)(end - text);
}

const char *lens_shortened(const char *text, unsigned most)
{
    static char shown[4 * 100 + 1];
    size_t used = 0;
    for (; *text && most > 0; most--) {
        const unsigned bytes = lens_character(text);
        memcpy(shown + used, bytes ? text : "\xef\xbf\xbd", bytes ? bytes : 3);
        used += bytes ? bytes : 3;
        text += bytes ? bytes : 1;
    }
    shown[used] = '\0';
    return shown;
}

void lens_say_folded(int hanging, const char *format, ...)
{
    enum { WIDTH = 80 };
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const size_t size = (size_t)vsnprintf(NULL, 0, format, arguments) + 1;
    char *const text = emu_zeros("for the lens", 1, size), *rest = text;
    vsnprintf(text, size, format, again);
    va_end(again);
    va_end(arguments);
    size_t room = WIDTH, indent = strspn(text, " ");
    for (;;) {
        size_t fits = bytes_of(rest, room);
        if (!rest[fits]) break;
        char *end = rest + fits;
        while (end > rest + indent && *end != ' ') end--;
        if (end > rest + indent) fits = (size_t)(end - rest);
        size_t shown = fits;
        while (shown > 0 && rest[shown - 1] == ' ') shown--;
        lens_say("%.*s\n%*s", (int)shown, rest, hanging, "");
        rest += fits + (rest[fits] == ' ');
        room = (size_t)(WIDTH - hanging);
        indent = 0;
    }
    lens_say("%s\n", rest);
    free(text);
}

const char *lens_number(double value)
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

static const char *many(double count, const char *one, const char *more)
{
    return count == 1.0 ? one : more;
}

const char *lens_duration(double seconds)
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

void lens_verdict(const struct lens_row *row, char *out, size_t size)
{
    const struct lens_site *s = &row->sum;
    const double lanes = lens_ratio(s->lanes, s->requests),
                 values = lens_ratio(s->unique_bytes, s->requests) / s->bytes;
    const bool atomic = s->kind == GLOBAL_ATOMIC || s->kind == SHARED_ATOMIC;
    int used = 0;
    if (lens_by_copy_engine(s->kind)) {
        snprintf(
            out, size,
            "the copy engine moves %s bytes at once: no lane asks, no register waits",
            lens_number(lens_ratio(s->unique_bytes, s->requests)));
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
                     : lens_touches_banks(s->kind)
                         ? "all lanes want one value: a broadcast, no conflict"
                         : "all lanes want one value: a broadcast, one sector",
                     lanes);
    } else if (s->kind == CONSTANT_LOAD) {
        used = snprintf(
            out, size,
            "lanes want %.3g different values: constant memory serves them in turn",
            values);
    } else if (lens_touches_banks(s->kind) && s->wavefronts == s->ideal) {
        used = snprintf(out, size, "no bank conflicts");
    } else if (lens_touches_banks(s->kind)) {
        char who[64];
        const unsigned bank = lens_busiest_bank(&s->example, s->bytes,
                                                s->kind != SHARED_LOAD, who, sizeof who);
        used = snprintf(out, size, "%.3g-way bank conflict: lanes %s meet in bank",
                        lens_ratio(s->wavefronts, s->ideal), who);
        used +=
            snprintf(out + used, size - (size_t)used, s->bytes > 4 ? "s %u to %u" : " %u",
                     bank, bank + s->bytes / 4 - 1);
    } else {
        const double sectors = lens_ratio(s->sectors, s->requests),
                     bytes = lens_ratio(s->unique_bytes, s->sectors);
        used = snprintf(out, size, "%.3g lanes touch %.3g %s", lanes, sectors,
                        many(sectors, "sector", "sectors"));
        used += snprintf(out + used, size - (size_t)used,
                         bytes == 32.0 ? " and use every byte"
                                       : ": %.3g of 32 bytes used of each",
                         bytes);
        const uint64_t step = lens_apart(&s->example);
        if (s->sectors > s->ideal && step > s->bytes)
            used +=
                snprintf(out + used, size - (size_t)used,
                         "; neighbours lie %s bytes apart", lens_number((double)step));
    }
    if (lanes > 1.0 && lanes < 24.0)
        snprintf(out + used, size - (size_t)used, "; %.3g of 32 lanes take part", lanes);
}
