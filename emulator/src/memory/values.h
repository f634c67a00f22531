/* Whether global memory holds a value, and whether the host may look at it. */
#ifndef VALUES_H
#define VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "memory/touch.h"

struct emu_shadow;

/* What the host writes there, or copies there from another allocation or a variable. */
void emu_check_host_wrote(void *p, size_t bytes);
void emu_check_host_copied(void *to, const void *from, size_t bytes);
/* The host has waited for all that the device does; or has begun a copy that it would
 * have to wait for; or a kernel has written. */
void emu_check_synchronized(void);
void emu_check_copy_pending(const void *to);
void emu_check_kernel_wrote(struct emu_shadow *s, size_t offset, size_t n);
/* Copying these bytes is a fault if none of them was ever written: what a compiler copies
 * as a whole may have padding in it. */
void emu_check_holds_something(const void *p, size_t n, const void *pc);
/* Reading them is, unless each word of them holds a value. Returns whether they do. */
bool emu_check_holds_values(const struct emu_shadow *s, size_t offset, const char *p,
                            size_t n, enum emu_access kind, const void *pc);

#endif
