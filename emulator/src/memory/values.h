/* Whether global memory holds a value. */
#ifndef VALUES_H
#define VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "memory/touch.h"

struct emu_shadow;

/* What the host writes there, or copies there from another allocation or a variable. */
void emu_check_host_wrote(void *p, size_t bytes);
void emu_check_host_copied(void *to, const void *from, size_t bytes);
/* Whether the access reads this word only to put a bit-field into it, which clang does: what
 * else is there may not be a value yet. */
bool emu_fills(const char *p, const void *pc);
/* Copying these bytes is a fault if none of them was ever written: what a compiler copies
 * as a whole may have padding in it. */
void emu_check_holds_something(const void *p, size_t n, const void *pc);
/* Reading them is, unless each word of them holds a value. Returns whether they do. */
bool emu_check_holds_values(const struct emu_shadow *s, size_t offset, const char *p,
                            size_t n, enum emu_access kind, const void *pc);

#endif
