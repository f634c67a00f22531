/* Global memory: who has touched each word. */
#ifndef GLOBAL_H
#define GLOBAL_H

#include <stdbool.h>
#include <stddef.h>

#include "memory/touch.h"

struct emu_shadow;

/* An access of the running thread, at p, `offset` bytes into the allocation, inside it
 * and aligned to n if n is a power of two up to 16. */
void emu_global_access(struct emu_shadow *shadow, size_t offset, char *p, size_t n,
                       enum emu_access kind, const void *pc);
/* The same for `count` whole cells, if they hold values and nobody but the running thread
 * has touched them in this launch, which is what most accesses are; else returns false,
 * and leaves the rest to the function above. */
bool emu_global_simple(struct emu_shadow *shadow, size_t cell, size_t count, bool writes,
                       const void *pc);
/* The shadows of what the running launch has touched, or the last one. */
enum { EMU_MOST_TOUCHED = 32 };
extern struct emu_shadow *emu_touched[EMU_MOST_TOUCHED];
extern unsigned emu_touched_count;
/* The running launch reads the allocation that holds p, and not word by word. */
void emu_global_is_read(const char *p);
/* Forgets who has touched what: time begins again. */
void emu_forget_touches(void);
/* The shadow of the program's variables among which p is, or NULL. */
struct emu_shadow *emu_variable_shadow(const char *p, size_t *offset);

#endif
