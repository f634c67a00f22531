/* What the reader sets in the environment. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>

struct emu_settings {
    bool check;                 /* CHECK; true unless it is 0 */
    bool leaks_are_faults;      /* LEAKS */
    bool strict;                /* STRICT; true unless it is 0 */
    const char *lens;           /* LENS: "1", "json" or "dot"; NULL: no lens */
    const char *lens_out;       /* LENS_OUT, the report's file; NULL: stdout */
    long lens_blocks;           /* LENS_BLOCKS; 0: as many as are quick */
    long lens_warp;             /* LENS_WARP; -1: any */
    long lens_line, lens_which; /* LENS_LINE=44.2 is 44 and 2; 0: any */
    long lens_registers;        /* LENS_REGS, of a thread; 0: unknown */
};
/* Read before anything of the program runs. A value that is not allowed is one clear line
 * and exit 2; an empty one counts as not set. EMULATE is device.c's. */
extern struct emu_settings emu_settings;

#endif
