/* The lens, for those who see accesses and those who launch. */
#ifndef LENS_H
#define LENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/touch.h"

/* Each lane's accesses are logged as they happen and merged into warp-level requests when
 * the warp stops. */

/* One access of the running thread; the caller has made sure that emu_now.lens_looks
 * holds. `frame` is the frame address of the function that accesses. May give the
 * processor to the warp's other lanes (the log is full). */
void emu_lens_access(const void *p, size_t bytes, enum emu_access kind, const void *pc,
                     const void *frame);
/* The same for any number of bytes whose alignment is not known: a struct, a memcpy. */
void emu_lens_range(const void *p, size_t bytes, enum emu_access kind, const void *pc,
                    const void *frame);
/* An asynchronous copy: reads global, writes shared, without passing through registers.
 */
void emu_lens_async_copy(const void *shared, const void *global, size_t bytes,
                         size_t zero_fill, const void *pc, const void *frame);
/* One of the running thread has been waited for, which has made so many loads from shared
 * memory since it started the copy. */
void emu_lens_copy_arrived(unsigned shared_loads);
/* `bytes` of a bulk copy's place in global memory, that lie side by side; `first` for one
 * of them a copy. No lane takes part. */
void emu_lens_bulk_copy(const void *global, size_t bytes, bool first, bool store,
                        const void *pc);
/* A texture was read, or a surface. */
void emu_lens_texture_fetch(void);
/* A matrix instruction made so many multiply-adds of elements of `bits` bits, and read
 * `shared_bytes` of shared memory by itself. */
void emu_lens_tensor(uint64_t multiply_adds, unsigned bits, size_t shared_bytes);
/* Lanes of a warp handed values to each other: a shuffle, a vote. */
void emu_lens_warp_exchange(void);
/* The running thread enters a basic block (trace-pc): what tells the iterations of a
 * divergent loop apart. */
void emu_lens_basic_block(const void *pc, const void *frame);
/* Between cudaProfilerStop and cudaProfilerStart launches are not looked at. */
void emu_lens_pause(bool pause);
/* What launches tells where the run stands. */
void emu_lens_launch_begins(void);
void emu_lens_launch_ended(void);
void emu_lens_launch_repeats(void); /* what was begun does not count */
void emu_lens_block_begins(unsigned long long number, bool again);
void emu_lens_block_ended(void);
/* The lanes that run from now on are this warp's. */
void emu_lens_warp_begins(unsigned warp);
/* Every lane of the warp has had its turn. Bit i of may_come: lane i will run again
 * before the others do anything else (its log was full, or it waits where they do not).
 * With 0, everything logged is merged. */
void emu_lens_merge(unsigned warp, unsigned may_come);

#endif
