/* Warp operations, and how a warp's lanes take turns. */
#ifndef WARP_H
#define WARP_H

#include <stdbool.h>

struct emu_fiber;

/* emu_warp_exchange (emulator_runtime.h) for callers that are not translated code: pc is
 * the program's own. */
const unsigned long long *emu_warp_gather(unsigned mask, unsigned long long value,
                                          const char *kind, const void *pc);

/* The same of all 32 lanes, who must be there: a fault otherwise. */
const unsigned long long *emu_warp_gather_whole(unsigned long long value,
                                                const char *kind, const void *pc);

/* Runs the warp until every lane waits for the whole block or has ended, or nothing can
 * move. While a lane waits for a condition, the others wait with it, as lanes do on a GPU
 * that will meet again behind a branch; `apart` lets them go on. Returns whether a lane
 * has run. */
bool emu_run_warp(unsigned warp, bool apart);
/* Of the mask of a thread that waits in a warp operation, the lanes that have ended and are
 * missed. */
unsigned emu_ended_lanes(const struct emu_fiber *f);
/* The thread waits in a warp operation to which others never come. */
void emu_fault_stuck_warp(struct emu_fiber *f) __attribute__((noreturn));

#endif
