/* The driver API's virtual memory: which memory stands behind which addresses? What lies in
 * a row and is open to the same devices is one allocation for everything else here
 * (allocations.h); before cuMemSetAccess it is none, and no kernel may go there. */
#define _GNU_SOURCE /* memfd_create */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "api/driver.h"
#include "base/device.h"
#include "base/now.h"
#include "base/room.h"
#include "memory/allocations.h"
#include "memory/streams.h"
#include "memory/values.h"

#define CALLER __builtin_return_address(0)
enum { GRANULARITY = 1 << 21 };

/* What a handle means: a file in memory, so that it can lie at several addresses, and move. */
struct piece {
    int file;
    size_t bytes;
    CUmemAllocationProp what;
    unsigned users; /* mappings, and the handle until it is released */
    bool filled;    /* it has been mapped before, and may hold something */
};
static struct mapping {
    char *place;
    size_t bytes;
    struct piece *piece;
    unsigned devices; /* that may use it, a bit each */
    const void *pc;
} *mappings; /* sorted by address */
static size_t mapping_count;
static struct piece **pieces; /* released ones are NULL */
static size_t piece_count;    /* a handle is an index, plus 1 */

static bool is_whole(size_t bytes)
{
    return bytes > 0 && bytes % GRANULARITY == 0;
}

static struct piece *piece_of(CUmemGenericAllocationHandle handle)
{
    return handle - 1 < piece_count ? pieces[handle - 1] : NULL;
}

static void leave(struct piece *piece)
{
    if (--piece->users > 0) return;
    emu_give_memory(piece->bytes, piece->what.location.id);
    close(piece->file);
    free(piece);
}

/* ---- memory ---- */

static CUresult check_what(const CUmemAllocationProp *what)
{
    const CUresult refused = emu_driver_ready();
    if (refused != CUDA_SUCCESS) return refused;
    if (!what || what->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        what->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_ERROR_INVALID_VALUE;
    if (what->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return CUDA_ERROR_NOT_SUPPORTED;
    return emu_is_device(what->location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *what,
                                       CUmemAllocationGranularity_flags option)
{
    const CUresult error = check_what(what);
    if (error != CUDA_SUCCESS) return error;
    if (!bytes || (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return CUDA_ERROR_INVALID_VALUE;
    *bytes = GRANULARITY;
    return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                     const CUmemAllocationProp *what, unsigned long long flags)
{
    EMU_ALONE;
    const CUresult error = check_what(what);
    if (error != CUDA_SUCCESS) return error;
    if (!handle || flags || !is_whole(bytes)) return CUDA_ERROR_INVALID_VALUE;
    if (!emu_take_memory(bytes, what->location.id)) return CUDA_ERROR_OUT_OF_MEMORY;
    const int file = memfd_create("memory", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0) {
        if (file >= 0) close(file);
        emu_give_memory(bytes, what->location.id);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    struct piece *const piece =
        emu_zeros("for memory without addresses", 1, sizeof *piece);
    *piece = (struct piece){.file = file, .bytes = bytes, .what = *what, .users = 1};
    piece->what.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_NONE;
    pieces =
        emu_resized(pieces, "for a list of handles", piece_count + 1, sizeof *pieces);
    pieces[piece_count++] = piece;
    *handle = piece_count;
    return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    EMU_ALONE;
    struct piece *const piece = piece_of(handle);
    if (!piece) return CUDA_ERROR_INVALID_VALUE;
    pieces[handle - 1] = NULL;
    leave(piece);
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *what,
                                                CUmemGenericAllocationHandle handle)
{
    EMU_ALONE;
    const struct piece *const piece = piece_of(handle);
    if (!what || !piece) return CUDA_ERROR_INVALID_VALUE;
    *what = piece->what;
    return CUDA_SUCCESS;
}

/* ---- addresses ---- */

CUresult cuMemAddressReserve(CUdeviceptr *pointer, size_t bytes, size_t alignment,
                             CUdeviceptr wanted, unsigned long long flags)
{
    EMU_ALONE;
    (void)wanted; /* a hint */
    const CUresult refused = emu_driver_ready();
    if (refused != CUDA_SUCCESS) return refused;
    if (!pointer || flags || !is_whole(bytes) || (alignment & (alignment - 1)))
        return CUDA_ERROR_INVALID_VALUE;
    char *const place =
        emu_reserve_addresses(bytes, alignment > GRANULARITY ? alignment : GRANULARITY);
    if (!place) return CUDA_ERROR_OUT_OF_MEMORY;
    *pointer = (CUdeviceptr)(uintptr_t)place;
    return CUDA_SUCCESS;
}

/* The first mapping that ends behind `place`. */
static size_t mapping_behind(const char *place)
{
    size_t i = 0;
    while (i < mapping_count && mappings[i].place + mappings[i].bytes <= place) i++;
    return i;
}

static bool is_mapped(const char *place, size_t bytes)
{
    const size_t i = mapping_behind(place);
    return i < mapping_count && mappings[i].place < place + bytes;
}

CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes)
{
    EMU_ALONE;
    char *const place = (char *)(uintptr_t)pointer;
    return !is_mapped(place, bytes) && emu_release_addresses(place, bytes)
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

/* ---- the one behind the other ---- */

/* Everything else gets to see what has become of the mapping at i, and of those in a row
 * with it. */
static cudaError_t show(size_t i)
{
    size_t first = i, end = i + 1;
    const unsigned devices = mappings[i].devices;
    while (first > 0 && mappings[first - 1].devices == devices &&
           mappings[first - 1].place + mappings[first - 1].bytes == mappings[first].place)
        first--;
    while (end < mapping_count && mappings[end].devices == devices &&
           mappings[end].place == mappings[end - 1].place + mappings[end - 1].bytes)
        end++;
    const struct mapping *const last = &mappings[end - 1];
    const size_t bytes = (size_t)(last->place + last->bytes - mappings[first].place);
    const struct emu_allocation *const seen = emu_allocation_of(last->place);
    if (seen && seen->base == mappings[first].place && seen->bytes == bytes &&
        seen->pool->devices == devices)
        return cudaSuccess;
    if (devices == 0) {
        emu_deallocate_mapped(mappings[first].place, bytes);
        return cudaSuccess;
    }
    cudaMemPool_t pool = emu_zeros("for access to memory", 1, sizeof *pool);
    pool->device = mappings[first].piece->what.location.id;
    pool->devices = devices;
    const cudaError_t error =
        emu_join_mapped(mappings[first].place, bytes, pool, mappings[first].pc);
    for (size_t k = first; k < end; k++)
        if (mappings[k].piece->filled)
            emu_check_host_wrote(mappings[k].place, mappings[k].bytes);
    return error;
}

CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    EMU_ALONE;
    char *const place = (char *)(uintptr_t)pointer;
    struct piece *const piece = piece_of(handle);
    if (!piece || flags || offset || bytes != piece->bytes || pointer % GRANULARITY ||
        !emu_are_reserved(place, bytes) || is_mapped(place, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, piece->file,
             0) != place)
        return CUDA_ERROR_MAP_FAILED;
    if (piece->users == 1 && !piece->filled)
        memset(place, 0xff, bytes); /* what was never written is a NaN or -1 */
    else
        piece->filled = true;
    mprotect(place, bytes, PROT_NONE);
    mappings =
        emu_resized(mappings, "for what is mapped", mapping_count + 1, sizeof *mappings);
    const size_t i = mapping_behind(place);
    memmove(mappings + i + 1, mappings + i, (mapping_count++ - i) * sizeof *mappings);
    mappings[i] = (struct mapping){place, bytes, piece, 0, CALLER};
    piece->users++;
    /* What one address of it holds, the other does. */
    for (size_t k = 0; k < mapping_count && piece->filled; k++)
        if (mappings[k].piece == piece) emu_check_host_wrote(mappings[k].place, bytes);
    return CUDA_SUCCESS;
}

/* Whether from `place` on mappings lie in a row, and end with those bytes; and which. */
static bool in_a_row(const char *place, size_t bytes, size_t *first, size_t *end)
{
    const char *p = place;
    for (*end = *first = mapping_behind(place); *end < mapping_count; ++*end) {
        if (mappings[*end].place != p || p >= place + bytes) break;
        p += mappings[*end].bytes;
    }
    return bytes > 0 && p == place + bytes;
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes)
{
    EMU_ALONE;
    char *const place = (char *)(uintptr_t)pointer;
    size_t first, end;
    if (!in_a_row(place, bytes, &first, &end)) return CUDA_ERROR_INVALID_VALUE;
    emu_host_waits_for_device(-1);
    const cudaError_t error = emu_part_mapped(place),
                      behind = emu_part_mapped(place + bytes);
    emu_deallocate_mapped(place, bytes);
    mmap(place, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
         -1, 0);
    for (size_t i = first; i < end; i++) {
        mappings[i].piece->filled = true;
        leave(mappings[i].piece);
    }
    memmove(mappings + first, mappings + end, (mapping_count - end) * sizeof *mappings);
    mapping_count -= end - first;
    return (CUresult)(error != cudaSuccess ? error : behind);
}

CUresult cuMemSetAccess(CUdeviceptr pointer, size_t bytes,
                        const CUmemAccessDesc *descriptions, size_t count)
{
    EMU_ALONE;
    char *const place = (char *)(uintptr_t)pointer;
    size_t first, end;
    if (!descriptions || !count || !in_a_row(place, bytes, &first, &end))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t k = 0; k < count; k++) {
        const CUmemLocation *const at = &descriptions[k].location;
        if (at->type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
        if (!emu_is_device(at->id)) return CUDA_ERROR_INVALID_DEVICE;
        /* That a kernel may read and not write is not emulated. */
        if (descriptions[k].flags == CU_MEM_ACCESS_FLAGS_PROT_READ)
            return CUDA_ERROR_NOT_SUPPORTED;
    }
    emu_host_waits_for_device(-1);
    for (size_t i = first; i < end; i++)
        for (size_t k = 0; k < count; k++) {
            const unsigned bit = 1u << descriptions[k].location.id;
            const bool opens = descriptions[k].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
            mappings[i].devices = (mappings[i].devices & ~bit) | (opens ? bit : 0);
        }
    cudaError_t error = emu_part_mapped(place);
    if (error == cudaSuccess) error = emu_part_mapped(place + bytes);
    for (size_t i = first; i < end && error == cudaSuccess; i++) error = show(i);
    return (CUresult)error;
}

static const struct mapping *mapping_at(const char *place)
{
    const size_t i = mapping_behind(place);
    return i < mapping_count && mappings[i].place <= place ? &mappings[i] : NULL;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location,
                        CUdeviceptr pointer)
{
    EMU_ALONE;
    const struct mapping *const m = mapping_at((const char *)(uintptr_t)pointer);
    if (!flags || !location || location->type != CU_MEM_LOCATION_TYPE_DEVICE || !m ||
        !emu_is_device(location->id))
        return CUDA_ERROR_INVALID_VALUE;
    *flags = m->devices >> location->id & 1 ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                            : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return CUDA_SUCCESS;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    EMU_ALONE;
    const struct mapping *const m = mapping_at(address);
    if (!handle || !m) return CUDA_ERROR_INVALID_VALUE;
    m->piece->users++;
    pieces =
        emu_resized(pieces, "for a list of handles", piece_count + 1, sizeof *pieces);
    pieces[piece_count++] = m->piece;
    *handle = piece_count;
    return CUDA_SUCCESS;
}
