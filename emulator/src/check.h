/* What the parts of the checker share.
 *
 *   check.c     sees every access; knows what may be accessed, and shared memory
 *   global.c    who has touched each word of global memory, and whether it holds a value
 *   handover.c  what fences and atomics hand from one thread to another
 */
#ifndef CHECK_H
#define CHECK_H

#include "emulator.h"

#define READ EMU_READ
#define WRITE EMU_WRITE
#define ATOMIC EMU_ATOMIC

/* Added to a kind of access. */
enum {
    VOLATILE = 8,  /* a read or a write that the hardware must do as it stands */
    BY_BYTES = 16, /* part of a copy: its pieces are not what the program names */
    IN_BLOCK = 32, /* an atomic that is one only among the threads of a block */
    BASIC_KIND = 7
};

struct touch {      /* one access to a word */
    uint32_t pc;    /* from the start of the program's image; see emu_touch_pc */
    uint32_t time;  /* when it happened; 0 never */
    uint16_t order; /* how many __syncwarp its warp had seen; in shared memory, from BULK
                       on, a bulk copy that `thread` started */
    uint16_t thread : 10;
    uint16_t bytes : 4;    /* in shared memory: which of the word's four, one bit each */
    uint16_t strong : 1;   /* an atomic, or volatile in global memory */
    uint16_t in_block : 1; /* and only among the threads of a block */
};

/* Time steps on at everything that orders accesses. It never runs back: what happened
 * before a launch, a block or a barrier has an earlier time than what comes after. */
struct emu_times {
    uint32_t now;
    uint32_t interval; /* since the running block's last barrier */
    uint32_t block;    /* since its begin */
    uint32_t launch;
    uint32_t
        other_work; /* from then on, an access before this launch may have been of work
                            that nothing orders before it; UINT32_MAX: none was */
    uint32_t run;   /* no time, but a number for what a thread does without a pause */
};
extern struct emu_times emu_times;

/* ---- check.c ---- */
struct touch emu_touch_now(enum emu_access kind, const void *pc);
const void *emu_touch_pc(const struct touch *touch);
/* Whether nothing orders the earlier access, in the running block, before this one. */
bool emu_unordered(const struct touch *earlier, const struct touch *now);
/* The time up to which mbarriers have handed this thread what the other did; 0: none. */
uint32_t emu_clock_of(unsigned thread, unsigned other);
/* A write of the running thread to `bytes` of a word (one bit each), which races with an
 * earlier access that did `did`, unless it stores what is there already. That is seen
 * when it has happened, so the suspicion waits for the thread's next event. */
void emu_suspect(char *word, uint8_t bytes, const struct touch *earlier, const char *did,
                 const struct touch *now);
/* A plain read of what an atomic of another thread wrote: a race, unless the thread goes
 * on with an atomic on the same word. */
void emu_doubt(char *word, const struct touch *write, const struct touch *read);
void emu_dispel_doubt(const char *word);
const char *emu_thread_name(unsigned linear); /* "(1,0,0)" */
__attribute__((noreturn)) void emu_fault_race(const char *p, const struct touch *earlier,
                                              const char *did, const struct touch *now,
                                              const char *does);

/* ---- global.c ---- */
/* Zeroed memory that is the host's own until it is touched; NULL if there is none. */
void *emu_pages(size_t bytes);
/* The shadow of an allocation. A cell of it belongs to a word, or to less once the kernel
 * has accessed less. */
struct emu_shadow {
    size_t bytes;     /* of the memory it is the shadow of */
    unsigned shift;   /* a cell is 1 << shift bytes */
    uint32_t *stamps; /* of each cell; equal to one in emu_times: until that changes, one
                         more read is no news. NULL before the first access */
    struct cell *cells;
    unsigned char *known; /* which bytes were written since the allocation, one bit each;
                             NULL for none */
    bool all_known;
    struct span *spans; /* what copies and libraries touched: streams.c */
    unsigned span_count, span_capacity;
    bool unwatched;      /* too large: no races are looked for */
    bool unsynchronized; /* written by the device since the host has waited for it */
};
/* An access of the running thread, at p, `offset` bytes into the allocation, inside it
 * and aligned to n if n is a power of two up to 16. */
void emu_global_access(struct emu_shadow *shadow, size_t offset, char *p, size_t n,
                       enum emu_access kind, const void *pc);
/* What a copy or a library is about to do to these bytes, beside what kernels in other
 * streams have done. */
void emu_check_cells(const struct emu_shadow *shadow, size_t offset, const char *p,
                     size_t n, bool writes, const void *pc);
/* Forgets who has touched what: time begins again. */
void emu_forget_touches(void);
/* The shadow of the program's variables among which p is, or NULL. */
struct emu_shadow *emu_variable_shadow(const char *p, size_t *offset);
/* Copying these bytes is a fault if none of them was ever written. */
void emu_check_holds_something(const struct emu_shadow *shadow, size_t offset,
                               const char *p, size_t n, const void *pc);
void emu_global_fault_race(const char *p, const struct touch *earlier, const char *did,
                           const struct touch *now, const char *does)
    __attribute__((noreturn));

/* ---- streams.c ---- */
/* What the running kernel does to these bytes, beside what copies and libraries in other
 * streams do. */
void emu_check_spans(const struct emu_shadow *shadow, size_t offset, const char *p,
                     size_t n, bool writes, const void *pc);

/* ---- handover.c ---- */
extern bool emu_fenced; /* a thread of this launch has executed a fence */
void emu_handover_launch_begins(void);
void emu_handover_block_begins(void);
void emu_handover_barrier(void);
/* These lanes have met, in a __syncwarp() if `ordered`, else in a shuffle or a vote. */
void emu_handover_lanes(unsigned warp, unsigned lanes, bool ordered);
/* A strong access of the running thread. */
void emu_handover_strong(const char *p, enum emu_access kind);
enum emu_handover { NOT_HANDED_OVER, RELEASED_TOO_LITTLE, NOT_ACQUIRED, HANDED_OVER };
/* Whether, by fences and what they order, the earlier access lies before the present one.
 */
enum emu_handover emu_handed_over(const struct touch *earlier, const struct touch *now);
/* The time at which the block began in which something happened, and its number in the
 * launch. */
uint32_t emu_block_at(uint32_t time, size_t *number);

#endif
