/* A thread that waits for another's store. */
#ifndef ENDLESS_H
#define ENDLESS_H

#include <stddef.h>

#include "memory/touch.h"

/* A launch begins: from now on, a thread that runs for long without a pause is watched.
 */
void emu_watch_for_endless_loops(void);
/* An access, known to be legal, of a thread that is watched; right behind the first,
 * which must not touch any register before it has kept them all. The caller's frames,
 * from its own on, are part of what is compared. */
void emu_keep_registers(void);
void emu_look(const volatile void *p, size_t n, enum emu_access kind, const void *pc);
/* Memory goes that the last atomic may lie in. */
void emu_forget_atomic(void);

#endif
