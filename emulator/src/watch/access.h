/* Every load and store of a kernel. */
#ifndef ACCESS_H
#define ACCESS_H

#include <stddef.h>

#include "memory/touch.h"

/* An access that the compiler did not report: PTX's. As emu_lens_access. */
void emu_see_access(const void *p, size_t bytes, enum emu_access kind, const void *pc,
                    const void *frame);
/* The same without the lens: of a size that a thread can move at once, or of any (bytes
 * have no alignment to check); and of the copy engine, which has no thread. */
void emu_check_access(const volatile void *address, size_t n, enum emu_access kind,
                      const void *pc);
void emu_check_range(const void *address, size_t n, enum emu_access kind, const void *pc);
void emu_check_global(const void *global, size_t bytes, enum emu_access kind,
                      const void *pc);
/* A launch begins, or a kernel has freed memory. */
void emu_check_allocations_changed(void);

#endif
