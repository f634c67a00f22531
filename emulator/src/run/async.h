/* cp.async. */
#ifndef ASYNC_H
#define ASYNC_H

#include <stdbool.h>
#include <stdint.h>

/* cp.async.mbarrier.arrive: the running thread arrives when its copies have come. */
void emu_async_arrive(uint64_t *barrier, bool no_increment, const void *pc);
/* The blocks that ran have ended: a copy that is still on its way is a fault. */
void emu_check_copies_arrived(void);

#endif
