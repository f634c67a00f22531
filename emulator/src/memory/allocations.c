/* Device memory: one reserved range of addresses; every allocation lies in it between
 * pages that nobody may touch.
 *
 * Pinned and managed memory lie there too, as kernels can use both, and the heap of
 * kernels. Addresses are handed out in rising order and a freed allocation becomes
 * inaccessible again; its addresses come back only when the range has been used up. */
#include "memory/allocations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/device.h"
#include "base/errors.h"
#include "base/now.h"
#include "base/peers.h"
#include "base/room.h"
#include "base/settings.h"
#include "base/source.h"
#include "memory/shadow.h"

char *emu_memory_base;
size_t emu_memory_reserved;

static struct emu_allocation *live; /* sorted by address */
static size_t live_count, live_capacity;
/* Unused, so that index -1 of the first allocation is seen; less where there is little.
 */
enum { FIRST_GUARD = 1 << 20 };
static char *first_address;
static char *next_address;
static size_t device_bytes[EMU_MOST_DEVICES]; /* in use, device and managed */
static size_t heap_bytes;                     /* of them what kernels allocated */
static size_t graph_bytes[EMU_MOST_DEVICES];  /* and what nodes of graphs did */
static unsigned allocations_made;

/* ---- what fits ---- */

static bool fits(size_t bytes, enum cudaMemoryType type, int device)
{
    enum { WORTH_ASKING = 1 << 20 };
    size_t spare = (size_t)64 << 20; /* for everything else the machine does */
    if (type != cudaMemoryTypeHost &&
        bytes > emu_gpu()->prop.totalGlobalMem - device_bytes[device])
        return false;
    if (bytes < WORTH_ASKING) return true;
    size_t available = emu_host_available();
    return available > spare && bytes <= available - spare;
}

/* ---- the range ---- */

static size_t page_size(void)
{
    static size_t size;
    if (!size) size = (size_t)sysconf(_SC_PAGESIZE);
    return size;
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + page_size() - 1) / page_size() * page_size();
}

/* Address space costs nothing, unless there is a limit on it. Then stacks, and what is
 * known of each word of device memory, take most of it. */
static bool reserve(void)
{
    const size_t least = (size_t)1 << 20, space = emu_address_space();
    size_t bytes = (size_t)1 << 40;
    while (bytes > space / 16 && bytes > least) bytes /= 2;
    for (; bytes >= least; bytes /= 2) {
        void *base = mmap(NULL, bytes, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED) continue;
        emu_memory_base = base;
        first_address = emu_memory_base +
                        (FIRST_GUARD < bytes / 16 ? (size_t)FIRST_GUARD : page_size());
        next_address = first_address;
        emu_memory_reserved = bytes;
        return true;
    }
    return false;
}

/* How many live allocations begin at or before p. */
static size_t count_up_to(const char *p)
{
    size_t low = 0, high = live_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (live[middle].base <= p)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A system cuts memory into so many mappings at most (Linux: 65,530), and each guard page
 * takes one. Where there are many allocations, more lie side by side. */
static size_t guard(void)
{
    enum { MANY = 1 << 14 };
    return live_count < MANY ? page_size() : 0;
}

/* The end of an allocation's pages. */
static char *end_of(const struct emu_allocation *a)
{
    return a->base + whole_pages(a->bytes);
}

size_t emu_room_left(void)
{
    if (!emu_memory_base) reserve();
    const char *place = first_address;
    size_t most = (size_t)(emu_memory_base + emu_memory_reserved - next_address);
    for (size_t i = 0; i < live_count; i++) {
        if (place < live[i].base && (size_t)(live[i].base - place) > most)
            most = (size_t)(live[i].base - place);
        place = end_of(&live[i]) + guard();
    }
    return most > page_size() ? most - page_size() : 0;
}

/* What a program has reserved begins where next_address was. */
static struct reserved {
    char *base;
    size_t bytes;
} *reserved;
static size_t reserved_count;

static bool is_reserved(const char *place, size_t bytes)
{
    for (size_t i = 0; i < reserved_count; i++)
        if (place < reserved[i].base + reserved[i].bytes &&
            reserved[i].base < place + bytes)
            return true;
    return false;
}

char *emu_reserve_addresses(size_t bytes, size_t alignment)
{
    EMU_ALONE;
    if (!emu_memory_base && !reserve()) return NULL;
    const size_t odd = (uintptr_t)next_address % alignment,
                 skipped = odd ? alignment - odd : 0,
                 left = (size_t)(emu_memory_base + emu_memory_reserved - next_address);
    if (bytes > left || skipped + page_size() > left - bytes) return NULL;
    reserved = emu_resized(reserved, "for a list of reserved addresses",
                           reserved_count + 1, sizeof *reserved);
    char *const place = next_address + skipped;
    reserved[reserved_count++] = (struct reserved){place, bytes};
    next_address = place + whole_pages(bytes) + page_size();
    return place;
}

bool emu_are_reserved(const char *place, size_t bytes)
{
    EMU_ALONE;
    for (size_t i = 0; i < reserved_count; i++) {
        const size_t offset = (size_t)(place - reserved[i].base);
        if (offset < reserved[i].bytes) return bytes <= reserved[i].bytes - offset;
    }
    return false;
}

bool emu_release_addresses(const char *place, size_t bytes)
{
    EMU_ALONE;
    for (size_t i = 0; i < reserved_count; i++)
        if (reserved[i].base == place && reserved[i].bytes == bytes) {
            reserved[i] = reserved[--reserved_count];
            return true;
        }
    return false;
}

/* How much room to leave behind an allocation that others do not need soon. The wider it
 * is, the further a wrong index may lead and still be known for this allocation's. */
static size_t room_behind(size_t bytes)
{
    const char *end = emu_memory_base + emu_memory_reserved;
    const size_t left = guard() ? (size_t)(end - next_address) / 4096 : 0;
    const size_t wanted = bytes < 1 << 14 ? 1 << 20 : 64 * bytes;
    return whole_pages(wanted < left ? wanted : left);
}

/* An address with `bytes` free bytes behind it: past all addresses given so far, or else
 * in the first gap that is wide enough. NULL if there is none. */
static char *find_place(size_t bytes)
{
    char *end = emu_memory_base + emu_memory_reserved;
    if (bytes <= (size_t)(end - next_address)) return next_address;
    char *place = first_address;
    for (size_t i = 0; i < live_count; i++) {
        if (place <= live[i].base && bytes <= (size_t)(live[i].base - place) &&
            !is_reserved(place, bytes))
            return place;
        place = end_of(&live[i]) + guard();
    }
    const bool fits_in = place < end && bytes <= (size_t)(end - place);
    return fits_in && !is_reserved(place, bytes) ? place : NULL;
}

/* ---- giving and taking ---- */

/* What is asked for is described by `a`. */
void emu_trim_pool(cudaMemPool_t pool, uint64_t keep)
{
    const uint64_t used = pool->attributes[cudaMemPoolAttrUsedMemCurrent];
    uint64_t *const reserved = &pool->attributes[cudaMemPoolAttrReservedMemCurrent];
    if (keep < used) keep = used;
    if (*reserved > keep) *reserved = keep;
}

/* So much of the pool is in use now. What it has reserved for later it keeps up to its
 * threshold. */
static void count_in_pool(cudaMemPool_t pool, uint64_t used)
{
    uint64_t *const of = pool->attributes;
    uint64_t *const reserved = &of[cudaMemPoolAttrReservedMemCurrent];
    of[cudaMemPoolAttrUsedMemCurrent] = used;
    if (of[cudaMemPoolAttrUsedMemHigh] < used) of[cudaMemPoolAttrUsedMemHigh] = used;
    if (*reserved < used)
        *reserved = used;
    else
        emu_trim_pool(pool, of[cudaMemPoolAttrReleaseThreshold]);
    if (of[cudaMemPoolAttrReservedMemHigh] < *reserved)
        of[cudaMemPoolAttrReservedMemHigh] = *reserved;
}

static cudaError_t allocate(void **pointer, struct emu_allocation a)
{
    EMU_ALONE;
    EMU_NEED_DEVICE;
    if (!pointer) return cudaErrorInvalidValue;
    *pointer = NULL;
    if (a.bytes == 0) return cudaSuccess;
    if (!emu_memory_base && !reserve()) return cudaErrorMemoryAllocation;
    if (a.bytes > emu_memory_reserved || (!a.mapped && !fits(a.bytes, a.type, a.device)))
        return cudaErrorMemoryAllocation;

    size_t with_guard = whole_pages(a.bytes) + guard();
    if (!a.base) a.base = find_place(with_guard);
    if (!a.base) return cudaErrorMemoryAllocation;
    if (live_count == live_capacity) {
        size_t capacity = live_capacity ? 2 * live_capacity : 64;
        struct emu_allocation *grown = realloc(live, capacity * sizeof *live);
        if (!grown) return cudaErrorMemoryAllocation;
        live = grown;
        live_capacity = capacity;
    }
    if (mprotect(a.base, whole_pages(a.bytes), PROT_READ | PROT_WRITE) != 0)
        return cudaErrorMemoryAllocation;
    /* What was never written is a NaN or -1. Managed memory counts as written, so it has
     * what it has on GPUs in practice, though CUDA does not promise it. */
    if (!a.mapped) {
        memset(a.base, a.type == cudaMemoryTypeManaged ? 0 : 0xff, a.bytes);
        /* The host writes to pinned and managed memory unseen. */
        a.shadow = emu_shadow_make(a.bytes, a.type != cudaMemoryTypeDevice);
    }
    a.number = ++allocations_made;

    size_t at = count_up_to(a.base);
    memmove(live + at + 1, live + at, (live_count - at) * sizeof *live);
    live[at] = a;
    live_count++;
    if (a.base == next_address) {
        next_address += with_guard;
        next_address += room_behind(a.bytes);
    }
    if (a.type != cudaMemoryTypeHost && !a.mapped) device_bytes[a.device] += a.bytes;
    if (a.heap) heap_bytes += a.bytes;
    if (a.graph) graph_bytes[a.device] += a.bytes;
    if (a.pool) {
        a.pool->users++;
        count_in_pool(a.pool,
                      a.pool->attributes[cudaMemPoolAttrUsedMemCurrent] + a.bytes);
    }
    *pointer = a.base;
    return cudaSuccess;
}

cudaError_t emu_allocate(void **pointer, size_t bytes, enum cudaMemoryType type,
                         const char *call, const void *pc)
{
    return allocate(pointer, (struct emu_allocation){.bytes = bytes,
                                                     .pc = pc,
                                                     .type = type,
                                                     .call = call,
                                                     .device = emu_device()});
}

cudaError_t emu_allocate_again(void *place, size_t bytes, int device, const char *call,
                               const void *pc)
{
    const size_t before = count_up_to((char *)place + whole_pages(bytes));
    if (before > 0 && end_of(&live[before - 1]) > (char *)place)
        return cudaErrorInvalidValue;
    return allocate(&place, (struct emu_allocation){.base = place,
                                                    .bytes = bytes,
                                                    .pc = pc,
                                                    .type = cudaMemoryTypeDevice,
                                                    .call = call,
                                                    .device = device,
                                                    .graph = true});
}

cudaError_t emu_allocate_from_pool(void **pointer, size_t bytes, cudaMemPool_t pool,
                                   const char *call, const void *pc)
{
    return allocate(pointer, (struct emu_allocation){.bytes = bytes,
                                                     .pc = pc,
                                                     .type = cudaMemoryTypeDevice,
                                                     .call = call,
                                                     .device = pool->device,
                                                     .pool = pool});
}

void emu_leave_pool(cudaMemPool_t pool)
{
    if (--pool->users == 0) free(pool);
}

struct freed {
    struct emu_allocation was;
    const void *pc;
};
enum { REMEMBERED = 1024 };
EMU_TABLE(struct freed, freed, REMEMBERED); /* the last ones, in a ring */
static size_t freed_count;

static void release(size_t at)
{
    struct emu_allocation *a = &live[at];
    if (a->type != cudaMemoryTypeHost && !a->mapped) device_bytes[a->device] -= a->bytes;
    if (a->heap) heap_bytes -= a->bytes;
    if (a->graph) graph_bytes[a->device] -= a->bytes;
    if (a->pool) {
        count_in_pool(a->pool,
                      a->pool->attributes[cudaMemPoolAttrUsedMemCurrent] - a->bytes);
        emu_leave_pool(a->pool);
    }
    emu_shadow_free(a->shadow);
    if (!a->mapped) madvise(a->base, whole_pages(a->bytes), MADV_DONTNEED);
    mprotect(a->base, whole_pages(a->bytes), PROT_NONE);
    live_count--;
    memmove(a, a + 1, (live_count - at) * sizeof *live);
}

static void release_and_remember(size_t at, const void *pc)
{
    const size_t place = freed_count++ % REMEMBERED;
    freed[place].was = live[at];
    freed[place].pc = pc;
    release(at);
}

cudaError_t emu_deallocate(void *pointer, bool pinned, const void *pc)
{
    EMU_ALONE;
    EMU_NEED_DEVICE;
    if (!pointer) return cudaSuccess;
    size_t count = count_up_to(pointer);
    if (count == 0 || live[count - 1].base != pointer) return cudaErrorInvalidValue;
    if ((live[count - 1].type == cudaMemoryTypeHost) != pinned)
        return cudaErrorInvalidValue;
    if (live[count - 1].heap || live[count - 1].mapped) return cudaErrorInvalidValue;
    release_and_remember(count - 1, pc);
    return cudaSuccess;
}

void emu_free_everything(void)
{
    EMU_ALONE;
    for (size_t i = live_count; i > 0; i--)
        if (live[i - 1].device == emu_device()) release(i - 1);
}

/* ---- reserved addresses with memory behind them ---- */

bool emu_take_memory(size_t bytes, int device)
{
    EMU_ALONE;
    if (!fits(bytes, cudaMemoryTypeDevice, device)) return false;
    device_bytes[device] += bytes;
    return true;
}

void emu_give_memory(size_t bytes, int device)
{
    EMU_ALONE;
    device_bytes[device] -= bytes;
}

static cudaError_t allocate_mapped(char *place, size_t bytes, cudaMemPool_t pool,
                                   struct emu_shadow *shadow, const void *pc)
{
    void *p;
    return allocate(&p, (struct emu_allocation){.base = place,
                                                .bytes = bytes,
                                                .pc = pc,
                                                .type = cudaMemoryTypeDevice,
                                                .call = "cuMemMap",
                                                .device = pool->device,
                                                .pool = pool,
                                                .shadow = shadow,
                                                .mapped = true});
}

static void copy_known(struct emu_shadow *to, size_t first, const struct emu_shadow *from,
                       size_t source, size_t n)
{
    if (from && from->all_known)
        emu_shadow_written(to, first, n);
    else if (from && from->unknown < from->bytes)
        emu_shadow_copied(to, first, from, source, n);
}

cudaError_t emu_join_mapped(char *place, size_t bytes, cudaMemPool_t pool, const void *pc)
{
    EMU_ALONE;
    struct emu_shadow *const shadow = emu_shadow_make(bytes, false);
    for (size_t i = count_up_to(place + bytes - 1); i > 0; i--) {
        const struct emu_allocation *const a = &live[i - 1];
        if (a->base < place) break;
        copy_known(shadow, (size_t)(a->base - place), a->shadow, 0, a->bytes);
    }
    emu_deallocate_mapped(place, bytes);
    return allocate_mapped(place, bytes, pool, shadow, pc);
}

cudaError_t emu_part_mapped(char *place)
{
    EMU_ALONE;
    const size_t count = count_up_to(place - 1);
    if (count == 0) return cudaSuccess;
    struct emu_allocation *const a = &live[count - 1];
    const size_t first = (size_t)(place - a->base);
    if (first >= a->bytes) return cudaSuccess;
    const size_t rest = a->bytes - first;
    const void *const pc = a->pc;
    struct emu_shadow *const left = emu_shadow_make(first, false);
    struct emu_shadow *const right = emu_shadow_make(rest, false);
    copy_known(left, 0, a->shadow, 0, first);
    copy_known(right, 0, a->shadow, first, rest);
    emu_shadow_free(a->shadow);
    a->shadow = left;
    a->bytes = first;
    const cudaMemPool_t pool = emu_zeros("for access to memory", 1, sizeof *pool);
    *pool = *a->pool;
    pool->users = 0;
    return allocate_mapped(place, rest, pool, right, pc);
}

void emu_deallocate_mapped(char *place, size_t bytes)
{
    EMU_ALONE;
    for (size_t i = count_up_to(place + bytes - 1); i > 0; i--) {
        if (live[i - 1].base < place) break;
        release(i - 1);
    }
}

/* ---- the heap of kernels ---- */

void *emu_heap_allocate(size_t bytes, const char *call, const void *pc)
{
    void *p;
    size_t limit = 0;
    emu_now.unrepeatable = true;
    cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
    if (bytes > limit || heap_bytes > limit - bytes) return NULL;
    const cudaError_t error =
        allocate(&p, (struct emu_allocation){.bytes = bytes,
                                             .pc = pc,
                                             .type = cudaMemoryTypeDevice,
                                             .call = call,
                                             .device = emu_device(),
                                             .heap = true});
    return error == cudaSuccess ? p : NULL;
}

bool emu_heap_free(void *p, const void *pc)
{
    const size_t count = count_up_to(p);
    if (count == 0 || live[count - 1].base != p || !live[count - 1].heap) return false;
    release_and_remember(count - 1, pc);
    return true;
}

/* ---- questions ---- */

const struct emu_allocation *emu_find_allocation(const void *p)
{
    size_t count = count_up_to(p);
    return count > 0 ? &live[count - 1] : NULL;
}

const struct emu_allocation *emu_allocation_behind(const void *p)
{
    size_t count = count_up_to(p);
    return count < live_count ? &live[count] : NULL;
}

const struct emu_allocation *emu_find_freed(const void *p, const void **freed_at)
{
    for (size_t i = freed_count; i > 0 && i + REMEMBERED > freed_count; i--) {
        const struct emu_allocation *a = &freed[(i - 1) % REMEMBERED].was;
        if ((size_t)((const char *)p - a->base) >= a->bytes) continue;
        *freed_at = freed[(i - 1) % REMEMBERED].pc;
        return a;
    }
    return NULL;
}

const struct emu_allocation *emu_allocation_of(const void *p)
{
    const struct emu_allocation *a = emu_find_allocation(p);
    return a && (size_t)((const char *)p - a->base) < a->bytes ? a : NULL;
}

bool emu_may_use(int device, const struct emu_allocation *a)
{
    if (a->type != cudaMemoryTypeDevice || (a->device == device && !a->mapped))
        return true;
    return a->pool ? a->pool->devices >> device & 1 : emu_reaches(device, a->device);
}

size_t emu_graph_bytes(int device)
{
    return graph_bytes[device];
}

size_t emu_device_bytes(int device)
{
    return device_bytes[device];
}

/* ---- leaks ---- */

static void report_leaks(void)
{
    for (size_t i = 0; i < live_count; i++) {
        const struct emu_allocation *a = &live[i];
        size_t bytes = 0, count = 0, first = i;
        for (size_t j = 0; j < live_count; j++) {
            if (live[j].pc != a->pc || live[j].call != a->call) continue;
            if (count == 0) first = j;
            bytes += live[j].bytes;
            count++;
        }
        if (first != i) continue; /* one line for each place in the source */
        struct emu_place place = emu_source_of(a->pc);
        fprintf(stderr, "%s memory leak: %zu bytes in %zu allocation%s never freed\n",
                emu_settings.leaks_are_faults ? "FAULT" : "warning:", bytes, count,
                count == 1 ? "" : "s");
        fprintf(stderr, "  %s at %s:%d: %s\n", a->call, place.file, place.line,
                place.text);
    }
}

static void at_exit(int status, void *unused)
{
    (void)unused;
    if (status != 0 || !emu_settings.check || live_count == 0) return;
    fflush(NULL);
    report_leaks();
    if (emu_settings.leaks_are_faults) _exit(1);
}

/* Registered before anything of the program runs, so called after all of it: destructors
 * of the program's global objects have freed what they hold by then. */
__attribute__((constructor(101))) static void watch_exit(void)
{
    on_exit(at_exit, NULL);
}
