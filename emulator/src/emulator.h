/* The parts of the runtime, and what each offers to the others. At the bottom, with a header
 * each and knowing only what stands above them here:
 *
 *   room.c     the emulator's own memory, or the reason why there is none
 *   settings.c what the reader sets in the environment
 *   device.c   which GPU is emulated: its properties, limits and occupancy rules
 *   errors.c   the last error, and what errors are called
 *   now.c      who runs now
 *   peers.c    which device may use whose memory
 *   functions.c  what is known of kernels, and their limits
 *   source.c   from a code address to file, line and source text
 *   fault.c    what is said of a fault
 *
 * What runs and checks programs, which is declared below:
 *
 *   memory.c   device memory: one reserved range of addresses, allocations with guard
 *              gaps, copies
 *   texture.c  textures and surfaces
 *   streams.c  streams and events: what orders the work of devices
 *   graph.c    graphs: work that is put off
 *   launch.c   a kernel launch: fibers, the scheduler, barriers, warp operations, cp.async
 *   barrier.c  named barriers
 *   mbarrier.c barriers in shared memory, and when the bulk copies come
 *   bulk.c     the copy engine: bulk copies, tensor maps
 *   wgmma.c    matrix products of four warps
 *   check.c    sees every load and store; finds the faults
 *   lens.c     counts what the memory system would have seen; lens_report.c prints it
 *
 * And on top, known to nobody else:
 *
 *   host_api.c the rest of the cuda* calls: what asks about devices and versions
 *   driver_api.c  the cu* calls: questions about devices
 *   nccl.c, cublas.c, curand.c  the calls of those libraries
 *   ptx_*.c    inline PTX, as ptx_compile.c (in the driver) has translated it
 *   tensor_core.c  the arithmetic of tensor cores
 */
#ifndef EMULATOR_H
#define EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_runtime.h"
#include "emulator_runtime.h"

#include "async.h"
#include "allocations.h"
#include "array.h"
#include "barrier.h"
#include "capture.h"
#include "copies.h"
#include "device.h"
#include "errors.h"
#include "fibers.h"
#include "functions.h"
#include "memory.h"
#include "names.h"
#include "now.h"
#include "peers.h"
#include "room.h"
#include "settings.h"
#include "shadow.h"
#include "shared.h"
#include "source.h"
#include "spans.h"
#include "stacks.h"
#include "streams.h"
#include "touch.h"
#include "values.h"
#include "variables.h"
#include "warp.h"

/* ---- check.c ---- */
/* launch.c tells what orders memory. */
void emu_check_launch_begins(void);
void emu_check_launch_ends(void);
void emu_check_allocations_changed(void); /* a kernel has freed memory */
void emu_check_block_begins(unsigned warps);
/* Which bytes of shared memory the running block has written, a mask for each word: to be
 * restored when, after others have run, it goes on from the grid's barrier. */
void emu_check_keep_known(const char *p, size_t bytes, uint8_t *known);
void emu_check_restore_known(const char *p, size_t bytes, const uint8_t *known);
/* What these threads did before is ordered before what they do from now on: `count` of
 * them, from place `first` on. */
void emu_check_barrier_passed(unsigned first, unsigned count);
void emu_check_warp_ordered(
    unsigned warp,
    unsigned lanes); /* likewise among these of the warp; all bits: the whole warp */
/* An access that the compiler did not report: PTX's. As emu_lens_access. */
void emu_see_access(const void *p, size_t bytes, enum emu_access kind, const void *pc,
                    const void *frame);
void emu_check_warp_met(unsigned warp, unsigned lanes); /* in a shuffle or a vote */
void emu_check_thread_stops(void); /* the running thread waits or has ended */
/* An asynchronous copy reads its source and claims its destination when issued, and
 * writes it when it arrives. */
void emu_check_async_issue(void *shared, const void *global, size_t bytes,
                           size_t zero_fill, const void *pc);
void emu_check_async_arrival(void *shared, size_t bytes, const void *pc);
/* Whatever orders some of a block's threads (an mbarrier, a named barrier), or reads and
 * writes for one beside it (the copy engine, the tensor cores), has a slot: a column in the
 * clocks that tell who knows what. Slots are numbered from 0 in each block. */
#define EMU_SLOTS 512
unsigned emu_check_slot(const void *pc);
/* A bulk copy, which will report to the mbarrier of that slot, likewise. Address and
 * `bytes` are multiples of 16. */
void emu_check_bulk_issue(void *shared, size_t bytes, unsigned slot,
                          enum emu_swizzle swizzle, const void *pc);
void emu_check_bulk_arrival(void *shared, size_t bytes, unsigned slot);
/* The asynchronous proxy reads shared memory from now on until the running thread is told
 * that it is done. What it reads must have come with that swizzle, if it came by a bulk
 * copy (-1: any). Returns the time for emu_check_async_done. */
uint32_t emu_check_async_read(void *shared, size_t bytes, unsigned slot, int swizzle,
                              const void *pc);
void emu_check_async_done(unsigned slot, uint32_t time);
/* The running thread makes its writes visible to the asynchronous proxy. */
void emu_check_proxy_fence(void);
void emu_check_global(const void *global, size_t bytes, enum emu_access kind,
                      const void *pc);
/* The running thread makes eight bytes an mbarrier; and uses it, which must come after.
 */
void emu_check_mbarrier_init(void *barrier, unsigned slot, const void *pc);
void emu_check_mbarrier_resumed(unsigned slot);
void emu_check_mbarrier_used(void *barrier, unsigned slot, const void *pc);
/* All that the running thread has done, and knows to be done, comes before what those do
 * who wait for this phase ... */
void emu_check_mbarrier_arrived(unsigned slot);
/* ... which is over now, ... */
void emu_check_mbarrier_over(unsigned slot);
/* ... and for which the running thread has waited. */
void emu_check_mbarrier_passed(unsigned slot);

/* ---- bulk.c ---- */
struct emu_bulk_copy { /* one on its way into shared memory */
    struct emu_bulk_copy *next;
    struct emu_thread *thread; /* who sent for it, */
    const void *pc;            /* and where */
    char *shared;
    enum emu_swizzle swizzle;
    bool of_thread, arrives; /* a cp.async, and the last before its thread arrives */
    size_t bytes;
    char data[];
};
void emu_bulk_put(const struct emu_bulk_copy *copy);
/* Bytes, or a box of a tensor from coordinates `at`, first dimension first, into shared
 * memory; reported to the barrier. `blocks`: to the same place in each of these of the
 * cluster, a bit each; 0 for the place as it is. And out of it; `code` is 0 or says how to reduce (an
 * operation, and for bytes a type, as ptx.h writes them). */
void emu_bulk_load(char *shared, const void *global, size_t bytes, uint64_t *barrier,
                   unsigned blocks, const void *pc);
void emu_bulk_load_tensor(char *shared, const void *map, int dimensions, const int *at,
                          uint64_t *barrier, unsigned blocks, const void *pc);
/* From this block's shared memory to that of a block of the cluster. */
void emu_bulk_send(char *to, char *from, size_t bytes, uint64_t *barrier, const void *pc);
void emu_bulk_store(void *global, char *shared, size_t bytes, uint64_t code,
                    const void *pc);
void emu_bulk_store_tensor(const void *map, int dimensions, const int *at, char *shared,
                           uint64_t code, const void *pc);
void emu_bulk_commit(void);
void emu_bulk_wait(unsigned groups_that_may_remain);
void emu_bulk_block_begins(void);
void emu_bulk_thread_ended(const struct emu_thread *thread);

/* ---- mbarrier.c ----
 * `address`: the 8 bytes in shared memory; pc: whose line a fault names. */
void emu_mbarrier_block_begins(void);
void emu_mbarrier_block_ended(void);
/* The barriers of a block that waits for the grid's, while others run; `aside` is what was
 * given before, or NULL, and the last one is the caller's to free. */
struct emu_mbarriers *emu_mbarriers_put_aside(struct emu_mbarriers *aside);
void emu_mbarriers_bring_back(const struct emu_mbarriers *aside);
/* No thread can go on. Copies that one waits for arrive now, as late as they may. Returns
 * whether a phase is over by that. */
bool emu_bulk_copies_arrive(void);
void emu_mbarrier_init(uint64_t *address, unsigned arrivals, const void *pc);
void emu_mbarrier_inval(uint64_t *address, const void *pc);
/* The copy engine may use what the running thread has initialised. */
void emu_mbarrier_fence_init(void);
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
unsigned emu_mbarrier_pending(uint64_t state);
/* An arrival of the running thread once those copies of its own have come; without
 * `no_increment`, one that the phase counts on besides. */
void emu_mbarrier_arrive_after(uint64_t *address, struct emu_bulk_copy *copies,
                               bool no_increment, const void *pc);
/* Hands over a copy that has begun; it will come, and be freed, by itself. */
void emu_mbarrier_add_copy(uint64_t *address, struct emu_bulk_copy *copy);

/* ---- wgmma.c ---- */
void emu_wgmma_block_begins(void);
/* Some thread's variables hold the sums of a wgmma; an access to local memory may be to
 * them. */
extern bool emu_registers_watched;
void emu_check_registers(const char *p, size_t bytes, bool writes, const void *pc);

/* ---- lens.c ----
 * Each lane's accesses are logged as they happen and merged into warp-level requests when
 * the warp stops. */
extern bool
    emu_lens_on; /* LENS is set, and the running block is one of those looked at */
/* One access of the running thread; the caller has made sure that emu_lens_on holds.
 * `frame` is the frame address of the function that accesses. May give the processor to
 * the warp's other lanes (the log is full). */
void emu_lens_access(const void *p, size_t bytes, enum emu_access kind, const void *pc,
                     const void *frame);
/* An asynchronous copy: reads global, writes shared, without passing through registers.
 */
void emu_lens_async_copy(const void *shared, const void *global, size_t bytes,
                         size_t zero_fill, const void *pc, const void *frame);
/* One of the running thread has been waited for, which has made so many loads from shared
 * memory since it started the copy. */
void emu_lens_copy_arrived(unsigned shared_loads);
/* `bytes` of a bulk copy's source, that lie side by side; `first` for one of them a copy.
 * No lane takes part. */
void emu_lens_bulk_copy(const void *global, size_t bytes, bool first, const void *pc);
/* A matrix instruction made so many multiply-adds of elements of `bits` bits, and read
 * `shared_bytes` of shared memory by itself. */
void emu_lens_tensor(uint64_t multiply_adds, unsigned bits, size_t shared_bytes);
/* The running thread enters a basic block (trace-pc): what tells the iterations of a
 * divergent loop apart. */
void emu_lens_basic_block(const void *pc, const void *frame);
/* Between cudaProfilerStop and cudaProfilerStart launches are not looked at. */
void emu_lens_pause(bool pause);
/* launch.c tells where the run stands. */
void emu_lens_launch_begins(void);
void emu_lens_launch_ended(void);
void emu_lens_launch_repeats(void); /* what was begun does not count */
void emu_lens_block_begins(void);
void emu_lens_block_ended(void);
/* The lanes that run from now on are this warp's. */
void emu_lens_warp_begins(unsigned warp);
/* Every lane of the warp has had its turn. Bit i of may_come: lane i will run again
 * before the others do anything else (its log was full, or it waits where they do not).
 * With 0, everything logged is merged. */
void emu_lens_merge(unsigned warp, unsigned may_come);

#endif
