/* From a code address to the reader's source line. */
#ifndef SOURCE_H
#define SOURCE_H

struct emu_place {
    const char *file; /* as the compiler saw it; "?" if unknown */
    int line;         /* 0 if unknown */
    const char *function;
    const char *text; /* the line itself, without its indent; "" if the file is gone */
};
/* The innermost place outside the emulator's own headers. Cached for the life of the
 * program; pc may point at the call or behind it. */
struct emu_place emu_source_of(const void *pc);

#endif
