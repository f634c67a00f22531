/* Barriers in shared memory, and the copies that report to them. */
#ifndef MBARRIER_H
#define MBARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/now.h"
#include "block/shared.h"

struct emu_bulk_copy { /* one on its way into shared memory, */
    struct emu_bulk_copy *next;
    struct emu_thread *thread; /* who sent for it, */
    const void *pc;            /* and where */
    char *shared;
    enum emu_swizzle swizzle;
    unsigned behind; /* or an arrival, behind this one of the thread's own (cp.async) */
    size_t bytes, alignment;
    uint64_t reduction; /* of what is there already: see emu_put */
    char data[];
};

/* `address`: the 8 bytes in shared memory; pc: whose line a fault names. */
void emu_mbarrier_block_begins(void);
void emu_mbarrier_block_ended(void);
/* The barriers of a block that waits for the grid's, while others run; `aside` is what
 * was given before, or NULL, and the last one is the caller's to free. */
struct emu_mbarriers *emu_mbarriers_put_aside(struct emu_mbarriers *aside);
void emu_mbarriers_bring_back(const struct emu_mbarriers *aside);
/* No thread can go on. Copies that one waits for arrive now, as late as they may. Returns
 * whether a phase is over by that. */
bool emu_bulk_copies_arrive(void);
void emu_mbarrier_init(uint64_t *address, unsigned arrivals, const void *pc);
void emu_mbarrier_inval(uint64_t *address, const void *pc);
/* The thread that runs arrives at the cluster's barrier, .relaxed, for this round. */
void emu_mbarrier_tell_cluster(unsigned round);
/* `count` arrivals, announcing so many bytes; with `drop`, later phases take as many
 * arrivals fewer. Returns the state that a wait can name the phase by. */
uint64_t emu_mbarrier_arrive(uint64_t *address, unsigned count, int64_t bytes, bool drop,
                             const void *pc);
/* Bytes announced without an arrival; less than 0 for bytes that have come. */
void emu_mbarrier_expect(uint64_t *address, int64_t bytes, const void *pc);
/* Until the phase of that parity, or of that state, is over; or, if it may give up, until
 * nobody else can go on. Returns whether the phase is over. */
bool emu_mbarrier_wait(uint64_t *address, bool by_parity, uint64_t which,
                       bool may_give_up, const void *pc);
/* An arrival of the running thread once the copies of its own have come; without
 * `no_increment`, one that the phase counts on besides. */
void emu_mbarrier_arrive_after_copies(uint64_t *address, bool no_increment,
                                      const void *pc);
/* Writes a run of elements, or reduces into them; `code` is an operation and a type, as
 * ptx.h writes them, or 0. */
void emu_put(char *to, const char *from, size_t bytes, uint64_t code);
/* Hands over a copy that has begun; it will come, and be freed, by itself. */
void emu_mbarrier_add_copy(uint64_t *address, struct emu_bulk_copy *copy);

#endif
