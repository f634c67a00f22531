/* A thread that waits for another's store. */
#ifndef ENDLESS_H
#define ENDLESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/now.h"
#include "memory/touch.h"

struct emu_fiber;

/* A launch begins: from now on, a thread that runs for long without a pause is watched.
 */
void emu_watch_for_endless_loops(void);
/* From now on the running thread is. */
void emu_watch(void);
/* An access, known to be legal, of a thread that is watched; right behind the first,
 * which must not touch any register before it has kept them all. The caller's frames,
 * from its own on, are part of what is compared. Returns true if the thread has waited, and
 * others may have changed what it reads. */
void emu_keep_registers(void);
bool emu_look(const volatile void *p, size_t n, enum emu_access kind, const void *pc);
/* The caller has called others that count something. What they leave below on the stack may
 * come to lie in gaps of later frames, and would be taken for a change there. */
void emu_leave_no_trace(void);
/* Where threads have waited: who comes there twice, with one other atomic or volatile access
 * between at most, is watched at once. */
enum { EMU_WAITED_AT = 4 };
extern const void *emu_waited_at[EMU_WAITED_AT], *emu_strong_before[2];
static inline void emu_may_wait(const void *pc)
{
    if (pc == emu_strong_before[0] || pc == emu_strong_before[1])
        for (int i = 0; i < EMU_WAITED_AT; i++)
            if (emu_waited_at[i] == pc && !(emu_attention & EMU_WATCHED)) emu_watch();
    emu_strong_before[1] = emu_strong_before[0];
    emu_strong_before[0] = pc;
}
/* Whether the thread waits for the stores of others. */
bool emu_waits_for_stores(const struct emu_fiber *f);
/* Memory goes that the last atomic may lie in. */
void emu_forget_atomic(void);

#endif
