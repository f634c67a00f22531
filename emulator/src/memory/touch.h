/* An access to memory, and when it happened. */
#ifndef TOUCH_H
#define TOUCH_H

#include <stdbool.h>
#include <stdint.h>

#include "memory/variables.h"

enum emu_access { EMU_READ, EMU_WRITE, EMU_ATOMIC, EMU_ASYNC_COPY };

#define READ EMU_READ
#define WRITE EMU_WRITE
#define ATOMIC EMU_ATOMIC

/* Added to a kind of access. */
enum {
    VOLATILE = 8,      /* a read or a write that the hardware must do as it stands */
    BY_BYTES = 16,     /* part of a copy: its pieces are not what the program names */
    IN_BLOCK = 32,     /* an atomic that is one only among the threads of a block */
    ONLY_LOADS = 64,   /* an atomic that changes nothing, */
    ONLY_STORES = 128, /* or does not ask what was there */
    BASIC_KIND = 7
};

/* That the program's text says volatile: not an atomic, nor PTX that counts as one. */
enum { BY_VOLATILE = 7 };

struct touch {     /* one access to a word */
    uint32_t pc;   /* from the start of the program's image; see emu_touch_pc */
    uint32_t time; /* when it happened; 0 never */
    union {
        struct {
            uint16_t order; /* how many __syncwarp its warp had seen; in shared memory,
                               from BULK on, a bulk copy that `thread` started */
            uint16_t thread : 10;
            uint16_t bytes : 4;    /* in shared memory: which of the word's four, one bit
                                      each; in global memory 15, or BY_VOLATILE */
            uint16_t strong : 1;   /* an atomic, or volatile in global memory */
            uint16_t in_block : 1; /* and only among the threads of a block */
        };
        uint32_t how; /* all that at once */
    };
};

/* *place = *now, piece by piece: as a whole, the compiler would put it together in memory
 * first, and read it back before it is there. */
static inline void emu_keep_touch(struct touch *place, const struct touch *now)
{
    place->pc = now->pc;
    place->time = now->time;
    place->how = now->how;
}

static inline const void *emu_touch_pc(const struct touch *touch)
{
    return emu_place_of_number(touch->pc);
}

/* Whatever orders some of a block's threads (an mbarrier, a named barrier), or reads and
 * writes for one beside it (the copy engine, the tensor cores), has a slot: a column in
 * the clocks that tell who knows what. Slots are numbered from 0 in each block. */
#define EMU_SLOTS 512
/* Of a touch's `order`: from there the slot of the copy's mbarrier. */
enum { BULK = 0x10000 - EMU_SLOTS };
static inline bool emu_is_bulk(const struct touch *touch)
{
    return touch->order >= BULK;
}

/* Time steps on at everything that orders accesses. It never runs back: what happened
 * before a launch, a block or a barrier has an earlier time than what comes after. */
struct emu_times {
    uint32_t now;
    uint32_t interval; /* since the running block's last barrier */
    uint32_t block;    /* since its begin */
    uint32_t launch;
    uint32_t other_work; /* from then on, an access before this launch may have been of
                            work that nothing orders before it; UINT32_MAX: none was */
    uint32_t quick; /* shared memory: what is read, and was written before, is right; 0
                       where that is not simple */
    uint32_t run;   /* no time, but a number for what a thread does without a pause */
};
extern struct emu_times emu_times;

#endif
