/* What is known of each byte and each word of an allocation. */
#ifndef SHADOW_H
#define SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/touch.h"

/* The shadow of an allocation. A cell of it belongs to a word, or to less once the kernel
 * has accessed less. What is kept of each cell lies in an array for each kind of touch:
 * most accesses need one of them, and to fetch them from memory is what checking costs. */
struct emu_shadow {
    size_t bytes;     /* of the memory it is the shadow of */
    unsigned shift;   /* a cell is 1 << shift bytes */
    uint32_t *stamps; /* of each cell; equal to one in emu_times: until that changes, one
                         more read is no news. NULL before the first access */
    struct touch *writes, *reads, *other_reads; /* likewise */
    uint32_t last_write, last_read, last_other; /* none of theirs is later than that */
    struct touch *stores; /* of each cell: the last plain write that an atomic has taken
                             the place of; NULL before the first */
    unsigned char *known; /* which bytes were written since the allocation, one bit each;
                             NULL for none */
    size_t unknown;       /* how many were not */
    bool all_known;
    struct span *spans; /* what copies and libraries touched: spans.c */
    unsigned span_count, span_capacity;
    struct {
        size_t first, end;
    } calm[2]; /* where the host was last found to touch none of the spans: in reading,
                  and in writing */
    bool unwatched; /* too large: no races are looked for */
    uint32_t met;   /* the time of the last launch that has touched it */
};

/* How often device memory has changed, or may have, otherwise than by stores of kernels that
 * its shadow knows of. */
extern unsigned long long emu_changes;

/* What an allocation's bytes hold: nothing at first unless `known`. NULL without checks.
 */
struct emu_shadow *emu_shadow_make(size_t bytes, bool known);
void emu_shadow_free(struct emu_shadow *s);

/* Gives the shadow cells of 1 << shift bytes, and the larger ones' contents to them.
 * Returns how many bytes they would take if that is too much; then it has none. */
size_t emu_shadow_refine(struct emu_shadow *s, unsigned shift);
/* An atomic takes the place of the plain write in this cell, and must not hide it. */
void emu_shadow_keep_store(struct emu_shadow *s, size_t cell);
/* Forgets who has touched what. */
void emu_shadow_forget(struct emu_shadow *s);

bool emu_shadow_knows_any(const struct emu_shadow *s, size_t first, size_t n);
static inline bool emu_shadow_knows_cell(const struct emu_shadow *s, size_t cell)
{
    const size_t first = cell << s->shift;
    const unsigned bits = (1u << (1u << s->shift)) - 1;
    return s->all_known || (s->known && s->known[first / 8] >> first % 8 & bits);
}
static inline bool emu_shadow_knows_whole(const struct emu_shadow *s, size_t cell)
{
    const size_t first = cell << s->shift;
    const unsigned bits = ((1u << (1u << s->shift)) - 1) << first % 8;
    return s->known && (s->known[first / 8] & bits) == bits;
}
void emu_shadow_written(struct emu_shadow *s, size_t first, size_t n);
/* These bytes hold what those of the other do. */
void emu_shadow_copied(struct emu_shadow *s, size_t first, const struct emu_shadow *from,
                       size_t source, size_t n);

/* Zeroed memory, the host's own until it is touched unless `at_once`; NULL for none. */
void *emu_pages(size_t bytes, bool at_once);

#endif
