/* Shared memory: the arrays of the running launch, each with nobody's bytes behind it,
 * and the addresses that PTX knows them by. */
#include "block/shared.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/device.h"
#include "base/functions.h"
#include "base/now.h"
#include "base/room.h"
#include "emulator_runtime.h"

enum { MAX_ARRAYS = 256 };
enum { STATIC_OFFSET = 256 * 1024, ARRAY_GAP = 128, DEFAULT_SHARED = 48 * 1024 };
/* The alignment of dynamic shared memory while no declaration in a function was seen:
 * what one outside asks for, nobody says. */
enum { UNDECLARED = 1 << 30 };

/* Of the functions that device_functions.h declares. */
unsigned __isShared(const void *p);
size_t __cvta_generic_to_shared(const void *p);

__attribute__((constructor(101))) static void make_shared_memory(void)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *const place = emu_dynamic_shared;
    if ((uintptr_t)place == EMU_SHARED_PLACE &&
        mmap(place, EMU_SHARED_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0) != place)
        emu_no_memory("for shared memory, %d MB", EMU_SHARED_BYTES >> 20);
}

EMU_TABLE(struct emu_shared_extent, arrays, (MAX_ARRAYS * EMU_MAX_BLOCKS));
static unsigned array_count;
static size_t static_bytes; /* as the compiler would lay the arrays out, for the limit */
static size_t static_end;   /* as we do, with gaps */
static unsigned long long launch_number;

void emu_shared_launch_begins(void)
{
    const size_t dynamic = emu_now.launch->dynamic_shared;
    launch_number++;
    array_count = 0;
    static_bytes = 0;
    static_end = STATIC_OFFSET;
    for (unsigned rank = 0; dynamic && rank < emu_now.blocks; rank++)
        arrays[array_count++] = (struct emu_shared_extent){
            "dynamic shared memory", emu_dynamic_shared + rank * EMU_WINDOW_BYTES,
            dynamic, UNDECLARED};
}

void emu_shared_block_begins(void)
{
    for (unsigned i = 0; i < array_count; i++)
        memset(arrays[i].base, 0xff, arrays[i].bytes);
}

/* ---- the arrays ---- */

static size_t largest_power(size_t powers)
{
    return (size_t)1 << (63 - __builtin_clzll(powers));
}

void *emu_dynamic_array(size_t alignments)
{
    struct emu_shared_extent *array = &arrays[emu_current->rank];
    if (emu_now.launch->dynamic_shared) {
        if (array->alignment == UNDECLARED) array->alignment = 16;
        array->alignment = largest_power(alignments | array->alignment);
    }
    return emu_dynamic_shared + emu_current->rank * EMU_WINDOW_BYTES;
}

void *emu_shared_array(struct emu_shared_site *site, size_t bytes, size_t alignments,
                       const char *name)
{
    const size_t window = emu_current->rank * EMU_WINDOW_BYTES;
    if (site->launch == launch_number) return (char *)site->place + window;
    /* A kernel that was allowed more dynamic memory may fill up what a block can have on
     * this GPU. */
    const bool raised =
        emu_dynamic_shared_limit(emu_now.launch->address) > DEFAULT_SHARED;
    const size_t limit = raised ? emu_gpu()->prop.sharedMemPerBlockOptin : DEFAULT_SHARED;
    static_bytes = (static_bytes + 15) / 16 * 16 + bytes;
    if (static_bytes > DEFAULT_SHARED)
        emu_fault(__builtin_return_address(0),
                  "too much shared memory: the __shared__ arrays need %zu bytes, and a "
                  "kernel may declare "
                  "%d (ask for more with extern __shared__ and cudaFuncSetAttribute)",
                  static_bytes, DEFAULT_SHARED);
    if (static_bytes + emu_now.launch->dynamic_shared > limit)
        emu_fault(
            __builtin_return_address(0),
            "too much shared memory: %zu bytes static and %zu dynamic, the limit is %zu",
            static_bytes, emu_now.launch->dynamic_shared, limit);
    if (array_count + emu_now.blocks > MAX_ARRAYS * emu_now.blocks)
        emu_fault(__builtin_return_address(0),
                  "more than %d __shared__ arrays in one kernel", MAX_ARRAYS);
    const size_t alignment = largest_power(alignments);
    static_end = (static_end + alignment - 1) / alignment * alignment;
    if (alignment > EMU_WINDOW_BYTES || static_end + bytes > EMU_WINDOW_BYTES)
        emu_fault(__builtin_return_address(0),
                  "too much shared memory: an array aligned to %zu bytes", alignment);
    char *place = emu_dynamic_shared + static_end;
    for (unsigned rank = 0; rank < emu_now.blocks; rank++) {
        char *base = place + rank * EMU_WINDOW_BYTES;
        arrays[array_count++] = (struct emu_shared_extent){name, base, bytes, alignment};
        memset(base, 0xff, bytes);
    }
    /* The gap behind each array is nobody's, so that running past the end is seen. */
    static_end = (static_end + bytes + ARRAY_GAP + 127) / 128 * 128;
    site->launch = launch_number;
    site->place = place;
    return place + window;
}

size_t emu_static_shared(void)
{
    return static_bytes;
}

size_t emu_shared_in_use(void)
{
    return static_bytes + emu_now.launch->dynamic_shared;
}

const struct emu_shared_extent *emu_find_shared(const void *p)
{
    const struct emu_shared_extent *nearest = NULL;
    for (unsigned i = 0; i < array_count; i++)
        if (arrays[i].base <= (const char *)p &&
            (!nearest || arrays[i].base > nearest->base))
            nearest = &arrays[i];
    return nearest;
}

size_t emu_declared_alignment(const void *p)
{
    const struct emu_shared_extent *array = emu_is_shared(p) ? emu_find_shared(p) : NULL;
    return array ? array->alignment : 1;
}

void emu_describe_shared(char *text, size_t size, const char *p)
{
    const struct emu_shared_extent *array = emu_find_shared(p);
    if (array)
        snprintf(text, size, "byte %td of %s", p - array->base, array->name);
    else
        snprintf(text, size, "shared memory");
}

size_t emu_shared_end(void)
{
    return static_end;
}

size_t emu_shared_parts(unsigned rank, size_t end, char *part[2], size_t bytes[2])
{
    part[0] = emu_dynamic_shared + rank * EMU_WINDOW_BYTES;
    bytes[0] = (emu_now.launch->dynamic_shared + 3) / 4 * 4;
    part[1] = part[0] + STATIC_OFFSET;
    bytes[1] = (end - STATIC_OFFSET + 3) / 4 * 4;
    return bytes[0] + bytes[1];
}

/* ---- addresses ---- */

/* PTX's addresses in shared memory: dynamic memory from 0 on, then the static arrays. The
 * descriptors of wgmma have room for 18 bits. */
static size_t static_address(void)
{
    return (emu_now.launch->dynamic_shared + 1023) / 1024 * 1024;
}

/* The block of a cluster stands in the bits above. */
enum { RANK_SHIFT = 24 };

uint32_t emu_shared_address(const void *p, const void *pc)
{
    const size_t whole = (size_t)((const char *)p - emu_dynamic_shared),
                 offset = whole % EMU_WINDOW_BYTES, rank = whole / EMU_WINDOW_BYTES;
    if (whole >= EMU_SHARED_BYTES) emu_fault(pc, "%p is not in shared memory", p);
    return (uint32_t)(rank << RANK_SHIFT) +
           (uint32_t)(offset < STATIC_OFFSET ? offset
                                             : offset - STATIC_OFFSET + static_address());
}

char *emu_shared_place(uint64_t address, size_t bytes, const void *pc)
{
    const size_t static_from = static_address();
    const uint64_t rank = address >> RANK_SHIFT,
                   within = address & ((1u << RANK_SHIFT) - 1);
    const bool is_static = static_end > STATIC_OFFSET && within >= static_from;
    const uint64_t offset = is_static ? within - static_from + STATIC_OFFSET : within;
    if (rank >= emu_now.blocks || offset + bytes > EMU_WINDOW_BYTES)
        emu_fault(pc,
                  "out of bounds: 0x%llx is no address in shared memory (PTX wants what "
                  "__cvta_generic_to_shared() gives, not a pointer)",
                  (unsigned long long)address);
    return emu_dynamic_shared + rank * EMU_WINDOW_BYTES + offset;
}

uint32_t emu_shared_address_in(uint32_t address, unsigned rank, const void *pc)
{
    if (rank >= emu_now.blocks)
        emu_fault(pc, "block %u of a cluster of %u", rank, emu_now.blocks);
    return rank << RANK_SHIFT | (address & ((1u << RANK_SHIFT) - 1));
}

char *emu_shared_place_in(const void *p, unsigned rank, const void *pc)
{
    const size_t whole = (size_t)((const char *)p - emu_dynamic_shared);
    if (whole >= EMU_SHARED_BYTES) emu_fault(pc, "%p is not in shared memory", p);
    if (rank >= emu_now.blocks)
        emu_fault(pc, "block %u of a cluster of %u", rank, emu_now.blocks);
    return emu_dynamic_shared + rank * EMU_WINDOW_BYTES + whole % EMU_WINDOW_BYTES;
}

/* Within lines of 128 bytes, pieces of 16 bytes change places by the number of their
 * line: of 128 bytes all eight of a line, of 64 and 32 those of each half and quarter. */
uintptr_t emu_swizzled(uintptr_t address, enum emu_swizzle swizzle)
{
    static const unsigned masks[] = {0, 1, 3, 7};
    return address ^ ((address >> 7 & masks[swizzle]) << 4);
}

size_t __cvta_generic_to_shared(const void *p)
{
    return emu_shared_address(p, __builtin_return_address(0));
}

unsigned __isShared(const void *p)
{
    return emu_is_shared(p);
}
