/* From a code address to the reader's source line. */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stddef.h>

struct emu_place {
    const char *file; /* as the compiler saw it; "?" if unknown */
    int line;         /* 0 if unknown */
    const char *function;
    const char *text;  /* the line itself, without its indent; "" if the file is gone */
    const char *whole; /* the function that all of this has been compiled into */
    bool in_vector;    /* it is in the copy of a float4, or of its like; or unknown */
};
/* The innermost place outside the emulator's own headers. Cached for the life of the
 * program; pc may point at the call or behind it. */
struct emu_place emu_source_of(const void *pc);
/* Whether an access to n bytes is the copy of a structure, of which a GPU moves one member
 * after the other, and padding not at all. Of 16 bytes the compiler says so in the same way
 * as of a float4, which a GPU moves at once: here it has said so last. */
extern const void *emu_copied_at;
bool emu_is_structure(size_t n, const void *pc);
/* Whether two calls are one in the source. The compiler may have copied a call (an
 * unrolled loop, an inlined function): what counts is the line. A place that nobody knows
 * is like any other. */
bool emu_same_line(const void *pc, const void *other);

#endif
