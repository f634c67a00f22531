/* What lens.c counts and the report tells. The names are Nsight Compute's; LENS.md says
 * which counter is which. */
#ifndef LENS_COUNTS_H
#define LENS_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/lens_request.h"

enum lens_class {
    GLOBAL_LOAD,
    GLOBAL_STORE,
    GLOBAL_ATOMIC,
    SHARED_LOAD,
    SHARED_STORE,
    SHARED_ATOMIC,
    ASYNC_READ,  /* cp.async: its read of global memory, */
    ASYNC_WRITE, /* and its write to shared memory */
    BULK_COPY,   /* the copy engine's reads: a request is a copy, a lane 4 bytes */
    BULK_STORE,  /* its writes and reductions, counted so, too */
    CONSTANT_LOAD,
    BASIC_BLOCK,
    LENS_CLASSES
};

/* All executions of one memory instruction of the host program. */
struct lens_site {
    const void *pc;
    enum lens_class kind;
    unsigned bytes; /* a lane */
    struct lens_kernel *kernel;
    uint64_t requests; /* warp-level executions */
    uint64_t lanes;    /* thread-level executions */
    uint64_t sectors;  /* global: distinct 32-byte pieces, added up over the requests */
    uint64_t unique_bytes; /* distinct bytes, added up over the requests */
    uint64_t wavefronts;   /* shared: passes through the banks */
    uint64_t lookups;      /* global: distinct lines of 128 bytes, over the requests */
    uint64_t joined_requests, joined_wavefronts,
        joined_ideal; /* shared loads, as a compiler would join
                                                    neighbouring ones: see lens.c */
    uint64_t ideal; /* wavefronts if no two words met in a bank; sectors if the bytes lay
                       side by side */
    struct lens_request example; /* the costliest, or LENS_WARP's first */
    struct lens_site *next;
};

struct lens_kernel {
    char *name;
    const void *address;
    uint64_t launches, blocks, blocks_seen;
    unsigned grid[3], block[3]; /* of the last launch */
    bool shapes_differ;         /* there were launches of other grids or blocks */
    size_t shared;              /* static and dynamic, of a block */
    uint64_t loaded_bytes, stored_bytes; /* distinct ones, of the launches together, */
    bool bytes_unknown; /* unless there was a launch of which not everything was seen */
    uint64_t texture_fetches;      /* which are not looked at */
    uint64_t tensor_multiply_adds; /* of tensor cores, */
    double tensor_work;      /* as if all were of 16 bits: 32 count double, 8 half */
    uint64_t tensor_bytes;   /* of shared memory that they read by themselves */
    uint64_t copies_arrived; /* asynchronous ones that were waited for, and the loads */
    uint64_t loads_beside_copies; /* from shared memory while they travelled, 64 at most
                                     of each */
    uint64_t warp_exchanges;    /* shuffles, votes and the like, one for a warp's lanes */
    uint64_t steps, most_steps; /* accesses and turns of a thread: of all blocks that were
                                   seen, and of the one that has most */
    struct lens_site *sites;
    struct lens_kernel *next;
};

#endif
