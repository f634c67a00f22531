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
#include "access.h"
#include "allocations.h"
#include "array.h"
#include "barrier.h"
#include "capture.h"
#include "check.h"
#include "clocks.h"
#include "copies.h"
#include "device.h"
#include "errors.h"
#include "fibers.h"
#include "functions.h"
#include "inflight.h"
#include "lens.h"
#include "memory.h"
#include "names.h"
#include "order.h"
#include "race.h"
#include "now.h"
#include "peers.h"
#include "registers.h"
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
#include "words.h"

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

#endif
