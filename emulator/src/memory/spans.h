/* What copies and libraries touch in global memory. */
#ifndef SPANS_H
#define SPANS_H

#include <stdbool.h>
#include <stddef.h>

struct emu_shadow;

/* The present work reads or writes these bytes; whatever no kernel does has to say so. A
 * race with work of another stream is a fault at pc. */
void emu_work_touches(const void *p, size_t bytes, bool writes, const void *pc);
/* What the running kernel does to these bytes, beside what copies and libraries in other
 * streams do. */
void emu_check_spans(const struct emu_shadow *shadow, size_t offset, const char *p,
                     size_t n, bool writes, const void *pc);
/* Where work was enqueued, or runs in a kernel, that may still read or write (`writes`)
 * these bytes of an allocation, so that the host may not look at them, or not write them:
 * it has not waited for that. NULL if there is none. */
const void *emu_unfinished(struct emu_shadow *shadow, size_t first, size_t n,
                           bool host_writes, bool *writes);

#endif
