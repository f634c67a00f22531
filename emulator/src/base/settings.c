/* What the reader sets in the environment. An empty variable counts as one that is not
 * set; a value that means nothing ends the program in one line, before it has begun. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/settings.h"

struct emu_settings emu_settings;

/* NULL if there is none. */
static const char *setting(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

__attribute__((noreturn)) static void refuse(const char *name, const char *allowed)
{
    fprintf(stderr, "%s must be %s, not \"%s\"\n", name, allowed, getenv(name));
    exit(2);
}

/* Reads a number of at most 9 digits; *end is then behind it. Returns -1 if there is
 * none. */
static long digits(const char *text, const char **end)
{
    const size_t count = strspn(text, "0123456789");
    *end = text + count;
    return count >= 1 && count <= 9 ? atol(text) : -1;
}

static long number(const char *name, long low, long high, long otherwise)
{
    const char *text = setting(name), *end;
    if (!text) return otherwise;
    const long value = digits(text, &end);
    if (value < low || value > high || *end) {
        char allowed[64];
        snprintf(allowed, sizeof allowed, "a whole number from %ld to %ld", low, high);
        refuse(name, allowed);
    }
    return value;
}

__attribute__((constructor(101))) static void read_environment(void)
{
    enum { MANY = 999999999, MOST_REGISTERS = 255 };
    const char *check = setting("CHECK"), *lens = setting("LENS"),
               *line = setting("LENS_LINE"), *end;
    struct emu_settings *s = &emu_settings;

    s->check = !check || strcmp(check, "1") == 0;
    if (!s->check && strcmp(check, "0") != 0) refuse("CHECK", "0 or 1");
    s->strict = number("STRICT", 0, 1, 1);
    s->leaks_are_faults = number("LEAKS", 0, 1, 0);

    if (lens && strcmp(lens, "0") != 0) s->lens = lens;
    if (s->lens && strcmp(lens, "1") != 0 && strcmp(lens, "json") != 0 &&
        strcmp(lens, "dot") != 0)
        refuse("LENS", "1 (a table), json, dot or 0 (off)");
    s->lens_out = setting("LENS_OUT");
    s->lens_blocks = number("LENS_BLOCKS", 1, MANY, 0);
    s->lens_warp = number("LENS_WARP", 0, MANY, -1);
    s->lens_registers = number("LENS_REGS", 1, MOST_REGISTERS, 0);
    if (!line) return;
    s->lens_line = digits(line, &end);
    if (s->lens_line > 0 && *end == '.') s->lens_which = digits(end + 1, &end);
    if (s->lens_line < 1 || s->lens_which < 0 || *end)
        refuse("LENS_LINE", "the number of a line, 44 or 44.2");
}
