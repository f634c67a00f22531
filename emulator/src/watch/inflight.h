/* What is on its way into shared memory, and who reads it beside the threads. */
#ifndef INFLIGHT_H
#define INFLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block/shared.h"

/* An asynchronous copy reads its source and claims its destination when issued, and
 * writes it when it arrives. */
void emu_check_async_issue(void *shared, const void *global, size_t bytes,
                           size_t zero_fill, const void *pc);
void emu_check_async_arrival(void *shared, size_t bytes, const void *pc);
/* A bulk copy, which will report to the mbarrier of that slot, likewise. Address and
 * `bytes` are multiples of 16; the array must be declared with that alignment. One that
 * reduces into what is there reads it, and several may be on their way. */
void emu_check_bulk_issue(void *shared, size_t bytes, size_t alignment, bool reduces,
                          unsigned slot, enum emu_swizzle swizzle, const void *pc);
void emu_check_bulk_arrival(void *shared, size_t bytes, unsigned slot);
/* The asynchronous proxy reads shared memory from now on until the running thread is told
 * that it is done. What it reads must have come with that swizzle, if it came by a bulk
 * copy (-1: any). Returns the time for emu_check_async_done. */
uint32_t emu_check_async_read(void *shared, size_t bytes, unsigned slot, int swizzle,
                              const void *pc);
/* The running thread makes its writes visible to the asynchronous proxy. */
void emu_check_proxy_fence(const void *pc);
/* The running thread makes eight bytes an mbarrier; and uses it, which must come after.
 */
void emu_check_mbarrier_init(void *barrier, unsigned slot, const void *pc);
void emu_check_mbarrier_resumed(unsigned slot);
void emu_check_mbarrier_used(void *barrier, unsigned slot, const void *pc);

void emu_inflight_forget(void); /* time begins again */

#endif
