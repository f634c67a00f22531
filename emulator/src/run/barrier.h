/* The barriers of a block, of some of its threads, and of a cluster. */
#ifndef BARRIER_H
#define BARRIER_H

#include <stdbool.h>

#include "base/now.h"
#include "emulator_runtime.h"

#define EMU_NAMED_BARRIERS 16

void emu_barriers_begin(void); /* of a cluster */
/* Those of a cluster that waits while others run: to be brought back once. NULL if it has
 * used none. */
struct emu_barriers *emu_barriers_put_aside(void);
void emu_barriers_bring_back(struct emu_barriers *aside);
/* Lets a block's threads go on that wait at its barrier, if they all do. */
bool emu_release_barrier(unsigned rank);
/* bar.sync and its kin: barrier `number`, with `threads` of the block (0: all). `op` is
 * an enum emu_barrier_op, or -1 to arrive without waiting. */
int emu_named_barrier(int op, unsigned number, unsigned threads, int predicate,
                      const void *pc);
/* barrier.cluster: arrive, with what was done before ordered before what those do who
 * wait, for the round, 1, 2, ..., that is returned; and wait. */
unsigned emu_cluster_arrive(bool orders_memory, const void *pc);
void emu_cluster_wait(const void *pc);
/* Whether the thread that runs has waited for this round. */
bool emu_cluster_has_passed(unsigned round);
/* Who has ended is not waited for. */
void emu_barriers_thread_ends(struct emu_thread *thread);

#endif
