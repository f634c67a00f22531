/* Device memory: one reserved range of addresses; every allocation lies in it between
 * pages that nobody may touch.
 *
 * Pinned and managed memory lie there too, as kernels can use both, and the heap of
 * kernels. Addresses are handed out in rising order and a freed allocation becomes
 * inaccessible again; its addresses come back only when the range has been used up. */
#include "emulator.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nvtx3/nvToolsExt.h"

/* Of the functions that device_functions.h declares. */
unsigned __isGlobal(const void *p);

char *emu_memory_base;
size_t emu_memory_reserved;

static struct emu_allocation *live; /* sorted by address */
static size_t live_count, live_capacity;
/* Unused, so that index -1 of the first allocation is seen; less where there is little. */
enum { FIRST_GUARD = 1 << 20 };
static char *first_address;
static char *next_address;
static size_t device_bytes[EMU_MOST_DEVICES]; /* in use, device and managed */
static size_t heap_bytes;                     /* of them what kernels allocated */
static unsigned allocations_made;

/* ---- what fits ---- */

/* The number behind `name` in a file of "name value" lines, or the file's first number if
 * name is NULL. */
static bool read_number(const char *path, const char *name, size_t *value)
{
    FILE *file = fopen(path, "r");
    if (!file) return false;
    char line[256];
    bool found = false;
    size_t length = name ? strlen(name) : 0;
    while (!found && fgets(line, sizeof line, file))
        found = (!name || strncmp(line, name, length) == 0) &&
                sscanf(line + length, "%zu", value) == 1;
    fclose(file);
    return found;
}

/* What a control group (a container's limit) leaves: its limit, usage and statistics
 * files. */
static size_t left_in_group(const char *limit_path, const char *usage_path,
                            const char *stat_path)
{
    size_t limit, usage, reclaimable = 0;
    if (!read_number(limit_path, NULL, &limit) || !read_number(usage_path, NULL, &usage))
        return SIZE_MAX;
    read_number(stat_path, "inactive_file ", &reclaimable);
    usage -= reclaimable < usage ? reclaimable : usage;
    return limit > usage ? limit - usage : 0;
}

/* Bytes the machine can give without ending some process to get them. */
size_t emu_host_available(void)
{
    size_t kilobytes, least = SIZE_MAX;
    if (read_number("/proc/meminfo", "MemAvailable:", &kilobytes))
        least = kilobytes * 1024;
    size_t v2 =
        left_in_group("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current",
                      "/sys/fs/cgroup/memory.stat");
    size_t v1 = left_in_group("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                              "/sys/fs/cgroup/memory/memory.usage_in_bytes",
                              "/sys/fs/cgroup/memory/memory.stat");
    if (v2 < least) least = v2;
    if (v1 < least) least = v1;
    return least;
}

static bool fits(size_t bytes, enum cudaMemoryType type)
{
    enum { WORTH_ASKING = 1 << 20 };
    size_t spare = (size_t)64 << 20; /* for everything else the machine does */
    if (type != cudaMemoryTypeHost &&
        bytes > emu_gpu()->prop.totalGlobalMem - device_bytes[emu_device()])
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

/* The end of an allocation's pages and of the guard page behind them. */
static char *end_of(const struct emu_allocation *a)
{
    return a->base + whole_pages(a->bytes) + page_size();
}

/* The largest allocation for which there are addresses. */
static size_t room_left(void)
{
    const char *place = first_address;
    size_t most = (size_t)(emu_memory_base + emu_memory_reserved - next_address);
    for (size_t i = 0; i < live_count; i++) {
        if (place < live[i].base && (size_t)(live[i].base - place) > most)
            most = (size_t)(live[i].base - place);
        place = end_of(&live[i]);
    }
    return most > page_size() ? most - page_size() : 0;
}

/* How much room to leave behind an allocation that others do not need soon. The wider it
 * is, the further a wrong index may lead and still be known for this allocation's. */
static size_t room_behind(size_t bytes)
{
    const char *end = emu_memory_base + emu_memory_reserved;
    const size_t left = (size_t)(end - next_address) / 4096;
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
        if (place <= live[i].base && bytes <= (size_t)(live[i].base - place))
            return place;
        place = end_of(&live[i]);
    }
    return place < end && bytes <= (size_t)(end - place) ? place : NULL;
}

/* Fresh memory holds no useful value on a GPU; here it holds NaNs, so that reading it
 * shows. */
static cudaError_t allocate(void **pointer, size_t bytes, enum cudaMemoryType type,
                            const char *call, const void *pc)
{
    EMU_ALONE;
    if (!pointer) return cudaErrorInvalidValue;
    *pointer = NULL;
    if (bytes == 0) return cudaSuccess;
    if (!emu_memory_base && !reserve()) return cudaErrorMemoryAllocation;
    if (bytes > emu_memory_reserved || !fits(bytes, type))
        return cudaErrorMemoryAllocation;

    size_t with_guard = whole_pages(bytes) + page_size();
    char *base = find_place(with_guard);
    if (!base) return cudaErrorMemoryAllocation;
    if (live_count == live_capacity) {
        size_t capacity = live_capacity ? 2 * live_capacity : 64;
        struct emu_allocation *grown = realloc(live, capacity * sizeof *live);
        if (!grown) return cudaErrorMemoryAllocation;
        live = grown;
        live_capacity = capacity;
    }
    if (mprotect(base, whole_pages(bytes), PROT_READ | PROT_WRITE) != 0)
        return cudaErrorMemoryAllocation;
    memset(base, 0xff, bytes);
    /* The host writes to pinned and managed memory unseen. */
    struct emu_shadow *shadow = emu_shadow_make(bytes, type != cudaMemoryTypeDevice);

    size_t at = count_up_to(base);
    memmove(live + at + 1, live + at, (live_count - at) * sizeof *live);
    live[at] = (struct emu_allocation){.base = base,
                                       .bytes = bytes,
                                       .pc = pc,
                                       .number = ++allocations_made,
                                       .type = type,
                                       .device = emu_device(),
                                       .call = call,
                                       .shadow = shadow};
    live_count++;
    if (base == next_address) {
        next_address += with_guard;
        next_address += room_behind(bytes);
    }
    if (type != cudaMemoryTypeHost) device_bytes[emu_device()] += bytes;
    *pointer = base;
    return cudaSuccess;
}

static struct {
    struct emu_allocation was;
    const void *pc;
} freed[1024]; /* the last ones, in a ring */
static size_t freed_count;

static void release(size_t at)
{
    struct emu_allocation *a = &live[at];
    if (a->type != cudaMemoryTypeHost) device_bytes[a->device] -= a->bytes;
    if (a->heap) heap_bytes -= a->bytes;
    emu_shadow_free(a->shadow);
    madvise(a->base, whole_pages(a->bytes), MADV_DONTNEED);
    mprotect(a->base, whole_pages(a->bytes), PROT_NONE);
    live_count--;
    memmove(a, a + 1, (live_count - at) * sizeof *live);
}

static cudaError_t deallocate(void *pointer, bool pinned, const void *pc)
{
    EMU_ALONE;
    if (!pointer) return cudaSuccess;
    size_t count = count_up_to(pointer);
    if (count == 0 || live[count - 1].base != pointer) return cudaErrorInvalidValue;
    if ((live[count - 1].type == cudaMemoryTypeHost) != pinned)
        return cudaErrorInvalidValue;
    if (live[count - 1].heap) return cudaErrorInvalidValue;
    const size_t place = freed_count++ % (sizeof freed / sizeof *freed);
    freed[place].was = live[count - 1];
    freed[place].pc = pc;
    release(count - 1);
    return cudaSuccess;
}

void emu_free_everything(void)
{
    EMU_ALONE;
    for (size_t i = live_count; i > 0; i--)
        if (live[i - 1].device == emu_device()) release(i - 1);
}

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
    const size_t size = sizeof freed / sizeof *freed;
    for (size_t i = freed_count; i > 0 && i + size > freed_count; i--) {
        const struct emu_allocation *a = &freed[(i - 1) % size].was;
        if ((size_t)((const char *)p - a->base) >= a->bytes) continue;
        *freed_at = freed[(i - 1) % size].pc;
        return a;
    }
    return NULL;
}

static const struct emu_allocation *allocation_of(const void *p)
{
    const struct emu_allocation *a = emu_find_allocation(p);
    return a && (size_t)((const char *)p - a->base) < a->bytes ? a : NULL;
}

bool emu_is_pinned(const void *p)
{
    const struct emu_allocation *a = allocation_of(p);
    return a && a->type == cudaMemoryTypeHost;
}

/* The linker makes such a pair for a section whose name is an identifier; without the
 * section they are NULL. */
#define SECTION_END __attribute__((weak, visibility("hidden")))
extern char __start_emu_device[] SECTION_END, __stop_emu_device[] SECTION_END;
extern char __start_emu_constant[] SECTION_END, __stop_emu_constant[] SECTION_END;
extern char __start_emu_managed[] SECTION_END, __stop_emu_managed[] SECTION_END;

bool emu_is_constant_variable(const void *p)
{
    return (const char *)p >= __start_emu_constant &&
           (const char *)p < __stop_emu_constant;
}

bool emu_is_managed_variable(const void *p)
{
    return (const char *)p >= __start_emu_managed && (const char *)p < __stop_emu_managed;
}

bool emu_is_device_variable(const void *p)
{
    return ((const char *)p >= __start_emu_device &&
            (const char *)p < __stop_emu_device) ||
           emu_is_constant_variable(p) || emu_is_managed_variable(p);
}

char *emu_variable_section(const void *p, size_t *bytes)
{
    const bool managed = emu_is_managed_variable(p);
    char *const begin = managed ? __start_emu_managed : __start_emu_device;
    char *const end = managed ? __stop_emu_managed : __stop_emu_device;
    if ((const char *)p < begin || (const char *)p >= end) return NULL;
    *bytes = (size_t)(end - begin);
    return begin;
}

/* ---- names ---- */

struct nvtxResourceHandle {
    const char *pointer;
    unsigned allocation; /* its number */
    nvtxResourceHandle_t older;
    char name[];
};
static nvtxResourceHandle_t named; /* the newest */

nvtxResourceHandle_t nvtxDomainResourceCreate(nvtxDomainHandle_t domain,
                                              nvtxResourceAttributes_t *attributes)
{
    (void)domain;
    if (!attributes || attributes->messageType != NVTX_MESSAGE_TYPE_ASCII ||
        attributes->identifierType != NVTX_RESOURCE_TYPE_GENERIC_POINTER ||
        !attributes->message.ascii)
        return NULL;
    const struct emu_allocation *a = allocation_of(attributes->identifier.pValue);
    const size_t length = strlen(attributes->message.ascii) + 1;
    nvtxResourceHandle_t n = a ? malloc(sizeof *n + length) : NULL;
    if (!n) return NULL;
    n->pointer = attributes->identifier.pValue;
    n->allocation = a->number;
    n->older = named;
    memcpy(n->name, attributes->message.ascii, length);
    return named = n;
}

void nvtxDomainResourceDestroy(nvtxResourceHandle_t resource)
{
    nvtxResourceHandle_t *link = &named;
    while (*link && *link != resource) link = &(*link)->older;
    if (!*link) return;
    *link = resource->older;
    free(resource);
}

/* The name given to the allocation, or to the part of it where p is. */
static const char *given_name(const struct emu_allocation *a, const char *p)
{
    const struct nvtxResourceHandle *best = NULL;
    for (const struct nvtxResourceHandle *n = named; n; n = n->older)
        if (n->allocation == a->number && (n->pointer <= p || n->pointer == a->base) &&
            (!best || n->pointer > best->pointer))
            best = n;
    return best ? best->name : NULL;
}

/* The variable that the call puts the address into, as the source line shows it:
 * cudaMalloc((void **)&d_a, ...). Returns its length, 0 if the line does not show it, or
 * two. */
static int variable_in(const struct emu_place *place, const char *call, const char **name)
{
    const char *p = strstr(place->text, call);
    *name = "";
    if (!p) return 0;
    p += strlen(call);
    if (strstr(p, call)) return 0;
    while (*p == ' ') p++;
    if (*p++ != '(') return 0;
    while (*p == ' ') p++;
    if (*p == '(') { /* a cast */
        while (*p && *p != ')') p++;
        if (*p) p++;
    }
    while (*p == ' ') p++;
    if (*p == '&') p++;
    *name = p;
    while (isalnum((unsigned char)*p) || (*p && strchr("_.[]->", *p))) p++;
    return *p == ',' ? (int)(p - *name) : 0;
}

void emu_name_allocation(char *text, size_t size, const struct emu_allocation *a,
                         const void *p)
{
    const struct emu_place place = emu_source_of(a->pc);
    const char *name = given_name(a, p), *variable;
    const int length = variable_in(&place, a->call, &variable);
    if (name)
        snprintf(text, size, "%s (allocated at %s:%d)", name, place.file, place.line);
    else
        snprintf(text, size, "%.*s%sthe %zu bytes allocated at %s:%d", length, variable,
                 length ? ", " : "", a->bytes, place.file, place.line);
}

void emu_describe_global(char *text, size_t size, const void *p)
{
    const struct emu_allocation *a = allocation_of(p);
    char name[300];
    if (!a) {
        snprintf(text, size, "a __device__ variable");
        return;
    }
    emu_name_allocation(name, sizeof name, a, p);
    snprintf(text, size, "byte %zu of %s", (size_t)((const char *)p - a->base), name);
}

/* ---- which memory an address is in, asked by a kernel ---- */

unsigned __isGlobal(const void *p)
{
    return allocation_of(p) || emu_is_device_variable(p);
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

/* ---- allocation calls ---- */

static cudaError_t set(cudaError_t error)
{
    emu_set_last_error(error);
    return error;
}

#define CALLER __builtin_return_address(0)

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    return set(allocate(pointer, bytes, cudaMemoryTypeDevice, "cudaMalloc", CALLER));
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return set(allocate(pointer, bytes, cudaMemoryTypeDevice, "cudaMallocAsync", CALLER));
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    enum { PITCH_STEP = 512 };
    if (!pitch || width > SIZE_MAX / 2) return set(cudaErrorInvalidValue);
    *pitch = (width + PITCH_STEP - 1) / PITCH_STEP * PITCH_STEP;
    if (*pitch > 0 && height > SIZE_MAX / *pitch) return set(cudaErrorMemoryAllocation);
    return set(allocate(pointer, *pitch * height, cudaMemoryTypeDevice, "cudaMallocPitch",
                        CALLER));
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags)
{
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
        return set(cudaErrorInvalidValue);
    if (bytes == 0) return set(cudaErrorInvalidValue);
    return set(
        allocate(pointer, bytes, cudaMemoryTypeManaged, "cudaMallocManaged", CALLER));
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return set(allocate(pointer, bytes, cudaMemoryTypeHost, "cudaMallocHost", CALLER));
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    unsigned int known =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (flags & ~known) return set(cudaErrorInvalidValue);
    return set(allocate(pointer, bytes, cudaMemoryTypeHost, "cudaHostAlloc", CALLER));
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags)
{
    if (!device || flags != 0 || (!emu_is_pinned(host) && !emu_is_registered(host)))
        return set(cudaErrorInvalidValue);
    *device = host;
    return set(cudaSuccess);
}

/* Ordinary memory that a kernel may use since it was registered. */
static struct registered {
    char *base;
    size_t bytes;
    unsigned int flags;
} *registered;
static size_t registered_count;

static struct registered *find_registered(const void *p)
{
    for (size_t i = 0; i < registered_count; i++)
        if ((size_t)((const char *)p - registered[i].base) < registered[i].bytes)
            return &registered[i];
    return NULL;
}

bool emu_is_registered(const void *p)
{
    return find_registered(p);
}

cudaError_t cudaHostRegister(void *host, size_t bytes, unsigned int flags)
{
    const unsigned int known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                               cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    EMU_ALONE;
    if (!host || bytes == 0 || (flags & ~known)) return set(cudaErrorInvalidValue);
    if (find_registered(host)) return set(cudaErrorHostMemoryAlreadyRegistered);
    registered = emu_resized(registered, "for a list of registered memory",
                             registered_count + 1, sizeof *registered);
    registered[registered_count++] = (struct registered){host, bytes, flags};
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *host)
{
    EMU_ALONE;
    struct registered *r = find_registered(host);
    if (!r || r->base != host) return set(cudaErrorHostMemoryNotRegistered);
    *r = registered[--registered_count];
    return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned int *flags, void *host)
{
    const struct registered *r = find_registered(host);
    if (!flags || (!r && !emu_is_pinned(host))) return set(cudaErrorInvalidValue);
    *flags = r ? r->flags : cudaHostAllocMapped;
    return cudaSuccess;
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pointer, struct cudaExtent extent)
{
    if (!pointer || (extent.depth > 0 && extent.height > SIZE_MAX / extent.depth))
        return set(cudaErrorInvalidValue);
    *pointer = (struct cudaPitchedPtr){NULL, 0, extent.width, extent.height};
    return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width,
                           extent.height * extent.depth);
}

/* ---- memory pools ---- */

struct CUmemPoolHandle_st {
    uint64_t attributes[cudaMemPoolAttrUsedMemHigh + 1];
};
static struct CUmemPoolHandle_st default_pools[EMU_MOST_DEVICES];
static cudaMemPool_t current_pools[EMU_MOST_DEVICES]; /* NULL: the default one */

static bool is_device(int device)
{
    return device >= 0 && device < emu_device_count();
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    if (!pool) return set(cudaErrorInvalidValue);
    if (!is_device(device)) return set(cudaErrorInvalidDevice);
    *pool = &default_pools[device];
    return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    const cudaError_t error = cudaDeviceGetDefaultMemPool(pool, device);
    if (error == cudaSuccess && current_pools[device]) *pool = current_pools[device];
    return error;
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    if (!pool) return set(cudaErrorInvalidValue);
    if (!is_device(device)) return set(cudaErrorInvalidDevice);
    current_pools[device] = pool;
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
    if (!pool || !props || props->allocType != cudaMemAllocationTypePinned)
        return set(cudaErrorInvalidValue);
    *pool = calloc(1, sizeof **pool);
    return set(*pool ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    const size_t at = (size_t)((char *)pool - (char *)default_pools);
    if (!pool || at < sizeof default_pools) return set(cudaErrorInvalidValue);
    for (int d = 0; d < EMU_MOST_DEVICES; d++)
        if (current_pools[d] == pool) current_pools[d] = NULL;
    free(pool);
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr,
                                    void *value)
{
    if (!pool || !value || attr < 1 || attr > cudaMemPoolAttrUsedMemHigh)
        return set(cudaErrorInvalidValue);
    pool->attributes[attr] = attr < cudaMemPoolAttrReleaseThreshold
                                 ? (uint64_t)*(int *)value
                                 : *(uint64_t *)value;
    return cudaSuccess;
}

/* What is in use is not told apart by pools. */
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr,
                                    void *value)
{
    if (!pool || !value || attr < 1 || attr > cudaMemPoolAttrUsedMemHigh)
        return set(cudaErrorInvalidValue);
    if (attr < cudaMemPoolAttrReleaseThreshold)
        *(int *)value = (int)pool->attributes[attr];
    else
        *(uint64_t *)value = attr == cudaMemPoolAttrReleaseThreshold
                                 ? pool->attributes[attr]
                                 : device_bytes[emu_device()];
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool,
                                 const struct cudaMemAccessDesc *descriptions,
                                 size_t count)
{
    (void)count;
    return set(pool && descriptions ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep)
{
    (void)bytes_to_keep;
    return set(pool ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    if (emu_is_captured(stream)) return set(cudaErrorStreamCaptureUnsupported);
    if (!pool) return set(cudaErrorInvalidValue);
    return set(allocate(pointer, bytes, cudaMemoryTypeDevice, "cudaMallocFromPoolAsync",
                        CALLER));
}

cudaError_t cudaFree(void *pointer)
{
    emu_check_synchronized();
    emu_host_waits_for_device(-1);
    return set(deallocate(pointer, false, CALLER));
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    if (emu_is_captured(stream)) return set(cudaErrorStreamCaptureUnsupported);
    return set(deallocate(pointer, false, CALLER));
}

cudaError_t cudaFreeHost(void *pointer)
{
    emu_check_synchronized();
    return set(deallocate(pointer, true, CALLER));
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    if (!free_bytes || !total) return set(cudaErrorInvalidValue);
    *total = emu_gpu()->prop.totalGlobalMem;
    *free_bytes = *total - device_bytes[emu_device()];
    /* What the emulated card has left may be more than this machine has. */
    size_t available = emu_host_available();
    if (available < *free_bytes) *free_bytes = available;
    if (!emu_memory_base) reserve();
    available = room_left();
    if (available < *free_bytes) *free_bytes = available;
    return set(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                     const void *pointer)
{
    EMU_ALONE;
    if (!attributes) return set(cudaErrorInvalidValue);
    const struct emu_allocation *a = allocation_of(pointer);
    bool variable = emu_is_device_variable(pointer);
    *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered,
                                                 .device = cudaInvalidDeviceId};
    attributes->hostPointer = (void *)pointer;
    const bool host = emu_is_registered(pointer);
    if (!a && !variable && !host) return set(cudaSuccess);
    attributes->type = host                               ? cudaMemoryTypeHost
                       : emu_is_managed_variable(pointer) ? cudaMemoryTypeManaged
                       : variable                         ? cudaMemoryTypeDevice
                                                          : a->type;
    attributes->device = a ? a->device : emu_device();
    attributes->devicePointer = (void *)pointer;
    if (attributes->type == cudaMemoryTypeDevice) attributes->hostPointer = NULL;
    return set(cudaSuccess);
}

/* ---- the heap of kernels ---- */

static void *heap_allocate(size_t bytes, const char *call, const void *pc)
{
    void *p;
    size_t limit = 0;
    cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
    if (bytes > limit || heap_bytes > limit - bytes) return NULL;
    if (allocate(&p, bytes, cudaMemoryTypeDevice, call, pc) != cudaSuccess || !p)
        return NULL;
    live[count_up_to(p) - 1].heap = true;
    heap_bytes += bytes;
    return p;
}

static void heap_free(void *p, const char *call, const void *pc)
{
    if (!p) return;
    size_t count = count_up_to(p);
    if (count == 0 || live[count - 1].base != p || !live[count - 1].heap)
        emu_fault(pc,
                  "%s of %p, which malloc or new in a kernel did not give, or which is "
                  "freed already",
                  call, p);
    release(count - 1);
    emu_check_allocations_changed();
}

void *emu_device_malloc(size_t bytes)
{
    return emu_in_kernel() ? heap_allocate(bytes, "malloc", CALLER) : malloc(bytes);
}

void emu_device_free(void *p)
{
    if (emu_in_kernel())
        heap_free(p, "free", CALLER);
    else
        free(p);
}

/* C++'s operators new and delete, which the program uses instead of its library's. The
 * library's other forms call these, but for over-aligned types. Weak, since a program may
 * have its own. */
#define OPERATOR(name) __asm__(name) __attribute__((weak))
void *operator_new(size_t bytes) OPERATOR("_Znwm");
void *operator_new_array(size_t bytes) OPERATOR("_Znam");
void operator_delete(void *p) OPERATOR("_ZdlPv");
void operator_delete_array(void *p) OPERATOR("_ZdaPv");
void operator_delete_sized(void *p, size_t bytes) OPERATOR("_ZdlPvm");
void operator_delete_array_sized(void *p, size_t bytes) OPERATOR("_ZdaPvm");
void throw_bad_alloc(void) OPERATOR("_ZSt17__throw_bad_allocv"); /* the library's */

static void *allocate_object(size_t bytes, const void *pc)
{
    if (bytes == 0) bytes = 1;
    void *p = emu_in_kernel() ? heap_allocate(bytes, "new", pc) : malloc(bytes);
    if (p) return p;
    if (emu_in_kernel())
        emu_fault(
            pc,
            "new of %zu bytes: the heap of kernels is full (cudaDeviceSetLimit with "
            "cudaLimitMallocHeapSize makes it larger)",
            bytes);
    if (throw_bad_alloc) throw_bad_alloc();
    abort();
}

static void free_object(void *p, const void *pc)
{
    if (emu_in_kernel())
        heap_free(p, "delete", pc);
    else
        free(p);
}

void *operator_new(size_t bytes)
{
    return allocate_object(bytes, CALLER);
}
void *operator_new_array(size_t bytes)
{
    return allocate_object(bytes, CALLER);
}
void operator_delete(void *p)
{
    free_object(p, CALLER);
}
void operator_delete_array(void *p)
{
    free_object(p, CALLER);
}
void operator_delete_sized(void *p, size_t bytes)
{
    (void)bytes, free_object(p, CALLER);
}
void operator_delete_array_sized(void *p, size_t bytes)
{
    (void)bytes, free_object(p, CALLER);
}

/* ---- copies ---- */

enum side { HOST_SIDE = 1, DEVICE_SIDE = 2 };

/* Where [p, p + bytes) lies, as a set: ordinary memory is the host's, cudaMalloc's the
 * device's, pinned and managed memory both sides'. 0 if the range runs out of its
 * allocation. */
static unsigned sides(const void *p, size_t bytes)
{
    const char *first = p;
    if (!p) return 0;
    if (emu_memory_base && first >= emu_memory_base &&
        first < emu_memory_base + emu_memory_reserved) {
        const struct emu_allocation *a = allocation_of(p);
        if (!a || a->heap || bytes > a->bytes - (size_t)(first - a->base)) return 0;
        return a->type == cudaMemoryTypeDevice ? DEVICE_SIDE : HOST_SIDE | DEVICE_SIDE;
    }
    if (emu_is_device_variable(p)) {
        const bool managed = emu_is_managed_variable(p);
        const char *end = managed                       ? __stop_emu_managed
                          : emu_is_constant_variable(p) ? __stop_emu_constant
                                                        : __stop_emu_device;
        if (bytes > (size_t)(end - first)) return 0;
        return managed ? HOST_SIDE | DEVICE_SIDE : DEVICE_SIDE;
    }
    return emu_is_registered(p) ? HOST_SIDE | DEVICE_SIDE : HOST_SIDE;
}

bool emu_is_device_range(const void *p, size_t bytes)
{
    return bytes == 0 || (sides(p, bytes) & DEVICE_SIDE);
}

/* The bytes that `height` rows of `width` bytes span, one row every `pitch` bytes;
 * SIZE_MAX if beyond counting. */
static size_t span(size_t pitch, size_t width, size_t height)
{
    if (height > 1 && pitch > (SIZE_MAX - width) / (height - 1)) return SIZE_MAX;
    return pitch * (height - 1) + width;
}

/* Begins the work of a copy or a memset in the stream. */
#define BEGIN_WORK(stream)                                                               \
    do {                                                                                 \
        const cudaError_t refused = emu_work_begins(stream);                             \
        if (refused != cudaSuccess) return refused;                                      \
    } while (0)

/* Whether the call comes back before the copy is over: what a host can see of it. To and
 * from memory that is not pinned, what is asynchronous by name is not so. */
enum host { WAITS, GOES_ON };

struct copying {
    char *to;
    size_t to_pitch;
    const char *from;
    size_t from_pitch, width, height;
    enum cudaMemcpyKind kind;
    const void *pc;
};
static emu_deferred run_copy, run_copy_3d, run_fill;

static cudaError_t copy(char *to, size_t to_pitch, const char *from, size_t from_pitch,
                        size_t width, size_t height, enum cudaMemcpyKind kind,
                        cudaStream_t stream, enum host waits, const void *pc)
{
    EMU_ALONE;
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    const struct copying all = {to, to_pitch, from, from_pitch, width, height, kind, pc};
    if (emu_capture(stream, cudaGraphNodeTypeMemcpy, run_copy, &all, sizeof all))
        return cudaSuccess;
    if (waits == WAITS) emu_check_synchronized();
    BEGIN_WORK(stream);
    if (width == 0 || height == 0) return cudaSuccess;
    if (height > 1 && (width > to_pitch || width > from_pitch))
        return cudaErrorInvalidPitchValue;
    const unsigned to_sides = sides(to, span(to_pitch, width, height)),
                   from_sides = sides(from, span(from_pitch, width, height));
    unsigned to_side = to_sides, from_side = from_sides;
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind != cudaMemcpyDefault) {
        to_side &= to_device ? DEVICE_SIDE : HOST_SIDE;
        from_side &= from_device ? DEVICE_SIDE : HOST_SIDE;
    }
    if (!to_side || !from_side) return cudaErrorInvalidValue;
    const bool on_devices = to_sides == DEVICE_SIDE && from_sides == DEVICE_SIDE;
    if (waits == WAITS ? !on_devices : to_sides == HOST_SIDE) emu_host_waits_for_work();
    for (size_t row = 0; row < height; row++) {
        emu_work_touches(from + row * from_pitch, width, false, pc);
        emu_work_touches(to + row * to_pitch, width, true, pc);
        memmove(to + row * to_pitch, from + row * from_pitch, width);
        emu_check_host_copied(to + row * to_pitch, from + row * from_pitch, width);
    }
    if (waits == GOES_ON) emu_check_copy_pending(to);
    return cudaSuccess;
}

static cudaError_t run_copy(void *data, cudaStream_t stream)
{
    const struct copying *const c = data;
    return copy(c->to, c->to_pitch, c->from, c->from_pitch, c->width, c->height, c->kind,
                stream, GOES_ON, c->pc);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return set(copy(to, bytes, from, bytes, bytes, 1, kind, 0, WAITS, CALLER));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return set(copy(to, bytes, from, bytes, bytes, 1, kind, stream, GOES_ON, CALLER));
}

/* Devices copy to each other whether they are peers or not. */
static cudaError_t peer_copy(void *to, int to_device, const void *from, int from_device,
                             size_t bytes, cudaStream_t stream, const void *pc)
{
    if (!is_device(to_device) || !is_device(from_device)) return cudaErrorInvalidDevice;
    const struct emu_allocation *const a = allocation_of(to), *const b =
                                                                  allocation_of(from);
    if (bytes > 0 && (!a || !b || a->device != to_device || b->device != from_device))
        return cudaErrorInvalidValue;
    return copy(to, bytes, from, bytes, bytes, 1, cudaMemcpyDeviceToDevice, stream,
                GOES_ON, pc);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                           size_t bytes)
{
    return set(peer_copy(to, to_device, from, from_device, bytes, 0, CALLER));
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
                                int from_device, size_t bytes, cudaStream_t stream)
{
    return set(peer_copy(to, to_device, from, from_device, bytes, stream, CALLER));
}

struct copying_3d {
    struct cudaMemcpy3DParms what;
    const void *pc;
};

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *what, cudaStream_t stream,
                           enum host waits, const void *pc)
{
    if (!what) return cudaErrorInvalidValue;
    if (emu_is_captured(stream)) {
        EMU_ALONE;
        const struct copying_3d all = {*what, pc};
        emu_capture(stream, cudaGraphNodeTypeMemcpy, run_copy_3d, &all, sizeof all);
        return cudaSuccess;
    }
    struct cudaPitchedPtr to = what->dstPtr, from = what->srcPtr;
    const struct cudaPos *at = &what->dstPos, *of = &what->srcPos;
    /* Where an array takes part, widths count its elements. */
    size_t element = 1;
    if (what->dstArray)
        to.ptr = emu_array_place(what->dstArray, 0, 0, 0, &to.pitch, &to.ysize, &element);
    if (what->srcArray)
        from.ptr =
            emu_array_place(what->srcArray, 0, 0, 0, &from.pitch, &from.ysize, &element);
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < what->extent.depth && error == cudaSuccess; z++)
        error = copy((char *)to.ptr + ((at->z + z) * to.ysize + at->y) * to.pitch +
                         at->x * (what->dstArray ? element : 1),
                     to.pitch,
                     (char *)from.ptr + ((of->z + z) * from.ysize + of->y) * from.pitch +
                         of->x * (what->srcArray ? element : 1),
                     from.pitch, what->extent.width * element, what->extent.height,
                     what->kind, stream, waits, pc);
    return error;
}

static cudaError_t run_copy_3d(void *data, cudaStream_t stream)
{
    const struct copying_3d *const c = data;
    return copy_3d(&c->what, stream, GOES_ON, c->pc);
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *what)
{
    return set(copy_3d(what, 0, WAITS, CALLER));
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *what, cudaStream_t stream)
{
    return set(copy_3d(what, stream, GOES_ON, CALLER));
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return set(
        copy(to, to_pitch, from, from_pitch, width, height, kind, 0, WAITS, CALLER));
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
                              size_t from_pitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return set(copy(to, to_pitch, from, from_pitch, width, height, kind, stream, GOES_ON,
                    CALLER));
}

cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
    if (!pointer) return set(cudaErrorInvalidValue);
    if (!emu_is_device_variable(symbol)) return set(cudaErrorInvalidSymbol);
    *pointer = (void *)symbol;
    return set(cudaSuccess);
}

static cudaError_t to_symbol(const void *symbol, const void *from, size_t bytes,
                             size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream,
                             enum host waits, const void *pc)
{
    if (!emu_is_device_variable(symbol)) return cudaErrorInvalidSymbol;
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    return copy((char *)symbol + offset, bytes, from, bytes, bytes, 1, kind, stream,
                waits, pc);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
                               size_t offset, enum cudaMemcpyKind kind)
{
    return set(to_symbol(symbol, from, bytes, offset, kind, 0, WAITS, CALLER));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                    size_t offset, enum cudaMemcpyKind kind,
                                    cudaStream_t stream)
{
    return set(to_symbol(symbol, from, bytes, offset, kind, stream, GOES_ON, CALLER));
}

static cudaError_t from_symbol(void *to, const void *symbol, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind, cudaStream_t stream,
                               enum host waits, const void *pc)
{
    if (!emu_is_device_variable(symbol)) return cudaErrorInvalidSymbol;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return cudaErrorInvalidMemcpyDirection;
    return copy(to, bytes, (const char *)symbol + offset, bytes, bytes, 1, kind, stream,
                waits, pc);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
                                 size_t offset, enum cudaMemcpyKind kind)
{
    return set(from_symbol(to, symbol, bytes, offset, kind, 0, WAITS, CALLER));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
                                      size_t offset, enum cudaMemcpyKind kind,
                                      cudaStream_t stream)
{
    return set(from_symbol(to, symbol, bytes, offset, kind, stream, GOES_ON, CALLER));
}

struct filling {
    void *pointer;
    size_t pitch, width, height;
    int value;
    const void *pc;
};

static cudaError_t fill(void *pointer, size_t pitch, int value, size_t width,
                        size_t height, cudaStream_t stream, const void *pc)
{
    EMU_ALONE;
    const struct filling all = {pointer, pitch, width, height, value, pc};
    if (emu_capture(stream, cudaGraphNodeTypeMemset, run_fill, &all, sizeof all))
        return cudaSuccess;
    BEGIN_WORK(stream);
    if (width == 0 || height == 0) return cudaSuccess;
    if (height > 1 && width > pitch) return cudaErrorInvalidPitchValue;
    if (!(sides(pointer, span(pitch, width, height)) & DEVICE_SIDE))
        return cudaErrorInvalidValue;
    for (size_t row = 0; row < height; row++) {
        emu_work_touches((char *)pointer + row * pitch, width, true, pc);
        memset((char *)pointer + row * pitch, value, width);
        emu_check_host_wrote((char *)pointer + row * pitch, width);
    }
    return cudaSuccess;
}

static cudaError_t run_fill(void *data, cudaStream_t stream)
{
    const struct filling *const f = data;
    return fill(f->pointer, f->pitch, f->value, f->width, f->height, stream, f->pc);
}

cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width,
                         size_t height)
{
    return set(fill(pointer, pitch, value, width, height, 0, CALLER));
}

cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width,
                              size_t height, cudaStream_t stream)
{
    return set(fill(pointer, pitch, value, width, height, stream, CALLER));
}

cudaError_t cudaMemset(void *pointer, int value, size_t bytes)
{
    return set(fill(pointer, bytes, value, bytes, 1, 0, CALLER));
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream)
{
    return set(fill(pointer, bytes, value, bytes, 1, stream, CALLER));
}

static cudaError_t fill_3d(struct cudaPitchedPtr pointer, int value,
                           struct cudaExtent extent, cudaStream_t stream, const void *pc)
{
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < extent.depth && error == cudaSuccess; z++)
        error = fill((char *)pointer.ptr + z * pointer.ysize * pointer.pitch,
                     pointer.pitch, value, extent.width, extent.height, stream, pc);
    return error;
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr pointer, int value,
                         struct cudaExtent extent)
{
    return set(fill_3d(pointer, value, extent, 0, CALLER));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr pointer, int value,
                              struct cudaExtent extent, cudaStream_t stream)
{
    return set(fill_3d(pointer, value, extent, stream, CALLER));
}

static cudaError_t managed_hint(const void *pointer, size_t bytes)
{
    EMU_ALONE;
    const struct emu_allocation *a = allocation_of(pointer);
    bool inside = a && a->type == cudaMemoryTypeManaged &&
                  bytes <= a->bytes - (size_t)((const char *)pointer - a->base);
    return set(bytes > 0 && inside ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes,
                                 struct cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream)
{
    (void)location;
    (void)stream;
    return flags == 0 ? managed_hint(pointer, bytes) : set(cudaErrorInvalidValue);
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
                                     unsigned int flags)
{
    (void)stream;
    (void)flags;
    const struct emu_allocation *a = allocation_of(pointer);
    if (bytes == 0 && a) bytes = a->bytes;
    return emu_is_managed_variable(pointer) ? set(cudaSuccess)
                                            : managed_hint(pointer, bytes);
}

cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    (void)advice;
    (void)location;
    return managed_hint(pointer, bytes);
}
