/* Device memory: which allocations there are, and where. */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_runtime_api.h"

/* Where memory may come from, and who may use it: see emu_may_use(). */
struct CUmemPoolHandle_st {
    int device;
    unsigned devices; /* that were given access, a bit each */
    unsigned users;   /* its allocations, and the program until it destroys the pool */
    uint64_t attributes[cudaMemPoolAttrUsedMemHigh + 1];
};

struct emu_allocation {
    char *base;
    size_t bytes;
    const void *pc;           /* of the cudaMalloc call */
    unsigned number;          /* 1 for the program's first allocation */
    enum cudaMemoryType type; /* device, managed; host: pinned, for kernels too */
    const char *call;         /* that made it: "cudaMalloc" */
    int device;               /* where it lies */
    cudaMemPool_t pool;       /* that it was taken from; or NULL */
    bool heap; /* made by a kernel, with malloc or new; the host can neither copy nor free
                  it */
    bool graph;                /* made by a node of a graph */
    bool mapped;               /* reserved addresses with memory behind them */
    struct emu_shadow *shadow; /* what the checker knows of it; NULL without checks */
};
/* All device memory lies in [emu_memory_base, emu_memory_base + emu_memory_reserved). */
extern char *emu_memory_base;
extern size_t emu_memory_reserved;
static inline bool emu_is_global(const void *p)
{
    return (size_t)((const char *)p - emu_memory_base) < emu_memory_reserved;
}

/* Fresh memory holds no useful value on a GPU; here it holds NaNs, so that reading it
 * shows. `call` at pc asks for it; 0 bytes are NULL. */
cudaError_t emu_allocate(void **pointer, size_t bytes, enum cudaMemoryType type,
                         const char *call, const void *pc);
cudaError_t emu_allocate_from_pool(void **pointer, size_t bytes, cudaMemPool_t pool,
                                   const char *call, const void *pc);
/* For a node of a graph: at `place`, which an allocation of as many bytes had before, and
 * nobody now. */
cudaError_t emu_allocate_again(void *place, size_t bytes, int device, const char *call,
                               const void *pc);
cudaError_t emu_deallocate(void *pointer, bool pinned, const void *pc);
/* Addresses that no other allocation gets; NULL if there are none left. */
char *emu_reserve_addresses(size_t bytes, size_t alignment);
/* Whether all of these lie in one such stretch. */
bool emu_are_reserved(const char *place, size_t bytes);
/* A whole stretch may be had by others again. False if it is none. */
bool emu_release_addresses(const char *place, size_t bytes);
/* Reserved addresses, behind which there is memory now, become one allocation of a pool of
 * its own; those that lie in it end, and what is known of their bytes stays known. */
cudaError_t emu_join_mapped(char *place, size_t bytes, cudaMemPool_t pool,
                            const void *pc);
/* One that goes on behind `place` becomes two. */
cudaError_t emu_part_mapped(char *place);
void emu_deallocate_mapped(char *place, size_t bytes); /* those that lie in it */
/* Memory of the device with no address yet; false if there is no room for it. */
bool emu_take_memory(size_t bytes, int device);
void emu_give_memory(size_t bytes, int device);
void emu_free_everything(void); /* of the current device */
/* Of what the pool has reserved and not given out it keeps no more than that. */
void emu_trim_pool(cudaMemPool_t pool, uint64_t keep);
void emu_leave_pool(cudaMemPool_t pool); /* one user less; without any it is gone */
/* Of the heap of kernels; NULL if it is full, false if it never gave p. */
void *emu_heap_allocate(size_t bytes, const char *call, const void *pc);
bool emu_heap_free(void *p, const void *pc);

/* The allocation that holds p; or NULL. */
const struct emu_allocation *emu_allocation_of(const void *p);
/* That, or else the last one that begins before p; or NULL. */
const struct emu_allocation *emu_find_allocation(const void *p);
/* The first allocation that begins behind p, or NULL. */
const struct emu_allocation *emu_allocation_behind(const void *p);
/* The one that held p until it was freed, by the call at *freed_at; NULL if none of the
 * last 1,024 did. */
const struct emu_allocation *emu_find_freed(const void *p, const void **freed_at);

/* Whether kernels of the device may use it. Peer access says nothing about the memory of
 * pools, of which each is opened by itself (CUDA programming guide, "Device Accessibility
 * for Multi-GPU Support"). */
bool emu_may_use(int device, const struct emu_allocation *a);

/* Bytes in use on the device; and those that the largest allocation may have. */
size_t emu_device_bytes(int device);
size_t emu_graph_bytes(int device); /* of them those of nodes of graphs */
size_t emu_room_left(void);

#endif
