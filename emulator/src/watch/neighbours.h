/* Shared memory of other blocks of the cluster: is that block still there? */
#ifndef NEIGHBOURS_H
#define NEIGHBOURS_H

#include "memory/touch.h"

/* The running thread uses shared memory, perhaps another block's. Ends with a fault if that
 * block has ended. */
void emu_neighbour_is_used(const void *p, enum emu_access kind, const void *pc);
/* The running thread has arrived at the cluster's barrier, whether it orders memory or not;
 * or has waited there for all others. The rounds of that barrier are counted from 1. */
void emu_neighbours_arrived(unsigned round);
void emu_neighbours_met(unsigned round);
/* A bulk copy that this thread has sent for has come: what its block used before, to have
 * something to send or to know that there is room, is over. */
void emu_neighbours_copy_came(const void *to, unsigned sender);

void emu_neighbours_cluster_begins(void);
/* All its blocks have ended. Whoever used another's memory must have done so before that
 * block's end, and not by chance. */
void emu_neighbours_cluster_ended(void);

#endif
