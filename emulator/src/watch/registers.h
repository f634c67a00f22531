/* The variables that hold a wgmma's sums and A, and how many registers warps ask for. */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An access to local memory, while some thread's variables hold the sums of a wgmma
 * (emu_now.own_watched): it may be to them. */
void emu_check_registers(const char *p, size_t bytes, bool writes, const void *pc);

bool emu_registers_block_begins(void); /* returns whether the last one had any */
/* wgmma.fence; and whether the running thread has ever called it. */
void emu_registers_fence(void);
bool emu_registers_fenced(void);
/* A wgmma of the running thread writes these sums of 4 bytes; and when all that it read
 * is known to the checker. */
void emu_registers_written(char *const *sums, unsigned count, const void *pc);
/* And reads this much of A from that variable. */
void emu_registers_read(const char *place, uint32_t value, const void *pc);
void emu_registers_read_at(uint32_t time);
/* wgmma.commit_group and wait_group. Returns whether a group is over now, and if so when
 * its last instruction was. */
void emu_registers_commit(void);
bool emu_registers_wait(uint64_t groups_that_may_remain, uint32_t *time);

/* setmaxnreg: the running thread has so many registers from now on. */
void emu_registers_set(bool more, unsigned registers, const void *pc);
/* Whether all who asked for more can have got them. */
void emu_registers_cluster_ended(void);

#endif
