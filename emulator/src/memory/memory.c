/* The calls that allocate and free: device, pinned, managed and registered memory, pools;
 * and what may be asked about a pointer. */
#include "memory/memory.h"

#include <stdlib.h>

#include "base/device.h"
#include "base/errors.h"
#include "base/now.h"
#include "base/room.h"
#include "memory/allocations.h"
#include "memory/capture.h"
#include "memory/streams.h"
#include "memory/variables.h"

#define CALLER __builtin_return_address(0)

cudaError_t cudaMalloc(void **pointer, size_t bytes)
{
    emu_runtime_is_used(true);
    return set(emu_allocate(pointer, bytes, cudaMemoryTypeDevice, "cudaMalloc", CALLER));
}

/* ---- memory of graphs ---- */

static struct {
    uint64_t used_most, reserved, reserved_most;
} graph_memory[EMU_MOST_DEVICES];

/* Messages show the line that asked for it, and the variable there if it is this call. */
static cudaError_t run_allocation(void *data, cudaStream_t stream)
{
    (void)stream;
    const struct emu_graph_memory *const m = data;
    const cudaError_t error =
        emu_allocate_again(m->base, m->bytes, m->device, "cudaMallocAsync", m->pc);
    const uint64_t used = emu_graph_bytes(m->device);
    uint64_t *const most = &graph_memory[m->device].used_most,
                    *const reserved = &graph_memory[m->device].reserved,
                    *const reserved_most = &graph_memory[m->device].reserved_most;
    if (used > *most) *most = used;
    if (used > *reserved) *reserved = used;
    if (*reserved > *reserved_most) *reserved_most = *reserved;
    return error;
}

static cudaError_t run_free(void *data, cudaStream_t stream)
{
    (void)stream;
    const struct emu_graph_memory *const m = data;
    return emu_deallocate(m->base, false, m->pc);
}

/* A node that allocates: the address is one that nobody else gets. */
static cudaError_t put_off_allocation(void **pointer, size_t bytes, cudaStream_t stream,
                                      const void *pc)
{
    cudaError_t error =
        emu_allocate(pointer, bytes, cudaMemoryTypeDevice, "cudaMallocAsync", pc);
    if (error == cudaSuccess) error = emu_deallocate(*pointer, false, pc);
    const struct emu_graph_memory m = {*pointer, bytes, emu_device(), pc};
    if (error == cudaSuccess)
        emu_capture(stream, cudaGraphNodeTypeMemAlloc, run_allocation, &m, sizeof m);
    return error;
}

cudaError_t cudaDeviceGraphMemTrim(int device)
{
    EMU_ALONE;
    if (device < 0 || device >= emu_device_count()) return set(cudaErrorInvalidDevice);
    graph_memory[device].reserved = emu_graph_bytes(device);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device,
                                           enum cudaGraphMemAttributeType attribute,
                                           void *value)
{
    EMU_ALONE;
    if (device < 0 || device >= emu_device_count()) return set(cudaErrorInvalidDevice);
    if (!value) return set(cudaErrorInvalidValue);
    uint64_t *const v = value;
    switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent: *v = emu_graph_bytes(device); break;
    case cudaGraphMemAttrUsedMemHigh: *v = graph_memory[device].used_most; break;
    case cudaGraphMemAttrReservedMemCurrent: *v = graph_memory[device].reserved; break;
    case cudaGraphMemAttrReservedMemHigh: *v = graph_memory[device].reserved_most; break;
    default: return set(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device,
                                           enum cudaGraphMemAttributeType attribute,
                                           void *value)
{
    EMU_ALONE;
    if (device < 0 || device >= emu_device_count()) return set(cudaErrorInvalidDevice);
    /* Only the highest can be set, and only back. */
    if (!value || *(const uint64_t *)value != 0) return set(cudaErrorInvalidValue);
    if (attribute == cudaGraphMemAttrUsedMemHigh)
        graph_memory[device].used_most = emu_graph_bytes(device);
    else if (attribute == cudaGraphMemAttrReservedMemHigh)
        graph_memory[device].reserved_most = graph_memory[device].reserved;
    else
        return set(cudaErrorInvalidValue);
    return cudaSuccess;
}

/* ---- allocation ---- */

cudaError_t emu_allocate_async(void **pointer, size_t bytes, cudaStream_t stream,
                               const void *pc)
{
    cudaMemPool_t pool;
    if (emu_is_captured(stream) && pointer && bytes)
        return set(put_off_allocation(pointer, bytes, stream, pc));
    emu_no_launch_follows(stream);
    cudaDeviceGetMemPool(&pool, emu_device());
    return set(emu_allocate_from_pool(pointer, bytes, pool, "cudaMallocAsync", pc));
}

cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    return emu_allocate_async(pointer, bytes, stream, CALLER);
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    enum { PITCH_STEP = 512 };
    if (!pitch || width > SIZE_MAX / 2) return set(cudaErrorInvalidValue);
    *pitch = (width + PITCH_STEP - 1) / PITCH_STEP * PITCH_STEP;
    if (*pitch > 0 && height > SIZE_MAX / *pitch) return set(cudaErrorMemoryAllocation);
    return set(emu_allocate(pointer, *pitch * height, cudaMemoryTypeDevice,
                            "cudaMallocPitch", CALLER));
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags)
{
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
        return set(cudaErrorInvalidValue);
    if (bytes == 0) return set(cudaErrorInvalidValue);
    emu_runtime_is_used(true);
    return set(
        emu_allocate(pointer, bytes, cudaMemoryTypeManaged, "cudaMallocManaged", CALLER));
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes)
{
    return set(
        emu_allocate(pointer, bytes, cudaMemoryTypeHost, "cudaMallocHost", CALLER));
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    unsigned int known =
        cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (flags & ~known) return set(cudaErrorInvalidValue);
    return set(emu_allocate(pointer, bytes, cudaMemoryTypeHost, "cudaHostAlloc", CALLER));
}

static bool is_pinned(const void *p)
{
    const struct emu_allocation *a = emu_allocation_of(p);
    return a && a->type == cudaMemoryTypeHost;
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned int flags)
{
    if (!device || flags != 0 || (!is_pinned(host) && !emu_is_registered(host)))
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
    if (!flags || (!r && !is_pinned(host))) return set(cudaErrorInvalidValue);
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

static struct CUmemPoolHandle_st default_pools[EMU_MOST_DEVICES];
static cudaMemPool_t current_pools[EMU_MOST_DEVICES]; /* NULL: the default one */

static struct CUmemPoolHandle_st new_pool(int device)
{
    return (struct CUmemPoolHandle_st){
        .device = device,
        .users = 1,
        .attributes = {[cudaMemPoolReuseFollowEventDependencies] = 1,
                       [cudaMemPoolReuseAllowOpportunistic] = 1,
                       [cudaMemPoolReuseAllowInternalDependencies] = 1}};
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    if (!pool) return set(cudaErrorInvalidValue);
    if (!emu_is_device(device)) return set(cudaErrorInvalidDevice);
    EMU_ALONE;
    *pool = &default_pools[device];
    if (!(*pool)->users) **pool = new_pool(device);
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
    if (!emu_is_device(device)) return set(cudaErrorInvalidDevice);
    if (!pool || pool->device != device) return set(cudaErrorInvalidValue);
    current_pools[device] = pool;
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
    if (!pool || !props || props->allocType != cudaMemAllocationTypePinned ||
        props->location.type != cudaMemLocationTypeDevice ||
        !emu_is_device(props->location.id))
        return set(cudaErrorInvalidValue);
    *pool = malloc(sizeof **pool);
    if (!*pool) return set(cudaErrorMemoryAllocation);
    **pool = new_pool(props->location.id);
    return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    const size_t at = (size_t)((char *)pool - (char *)default_pools);
    if (!pool || at < sizeof default_pools) return set(cudaErrorInvalidValue);
    EMU_ALONE;
    for (int d = 0; d < EMU_MOST_DEVICES; d++)
        if (current_pools[d] == pool) current_pools[d] = NULL;
    emu_leave_pool(pool);
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr,
                                    void *value)
{
    if (!pool || !value || attr < 1 || attr > cudaMemPoolAttrUsedMemHigh)
        return set(cudaErrorInvalidValue);
    uint64_t *const of = pool->attributes;
    if (attr < cudaMemPoolAttrReleaseThreshold)
        of[attr] = (uint64_t)*(int *)value;
    else if (attr == cudaMemPoolAttrReleaseThreshold)
        of[attr] = *(uint64_t *)value;
    else if (*(uint64_t *)value != 0) /* of the counts only the highest can be set back */
        return set(cudaErrorInvalidValue);
    else if (attr == cudaMemPoolAttrUsedMemHigh)
        of[attr] = of[cudaMemPoolAttrUsedMemCurrent];
    else if (attr == cudaMemPoolAttrReservedMemHigh)
        of[attr] = of[cudaMemPoolAttrReservedMemCurrent];
    else
        return set(cudaErrorInvalidValue);
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr,
                                    void *value)
{
    if (!pool || !value || attr < 1 || attr > cudaMemPoolAttrUsedMemHigh)
        return set(cudaErrorInvalidValue);
    if (attr < cudaMemPoolAttrReleaseThreshold)
        *(int *)value = (int)pool->attributes[attr];
    else
        *(uint64_t *)value = pool->attributes[attr];
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool,
                                 const struct cudaMemAccessDesc *descriptions,
                                 size_t count)
{
    if (!pool || !descriptions) return set(cudaErrorInvalidValue);
    unsigned devices = pool->devices;
    for (const struct cudaMemAccessDesc *d = descriptions; d < descriptions + count;
         d++) {
        const int device = d->location.id;
        const bool own = device == pool->device;
        if (d->location.type != cudaMemLocationTypeDevice)
            return set(cudaErrorInvalidValue);
        if (!emu_is_device(device) || (!own && !emu_gpu()->peers))
            return set(cudaErrorInvalidDevice);
        const bool opens = d->flags != cudaMemAccessFlagsProtNone;
        if (own && !opens) return set(cudaErrorInvalidValue); /* it cannot be revoked */
        devices = (devices & ~(1u << device)) | (unsigned)opens << device;
    }
    pool->devices = devices;
    return cudaSuccess;
}

/* To read is to write, too, for what is checked here. */
cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                 struct cudaMemLocation *location)
{
    if (!flags || !pool || !location) return set(cudaErrorInvalidValue);
    const bool is_device = location->type == cudaMemLocationTypeDevice;
    if (!is_device && location->type != cudaMemLocationTypeHost)
        return set(cudaErrorInvalidValue);
    if (is_device && !emu_is_device(location->id)) return set(cudaErrorInvalidValue);
    const bool may =
        is_device && (location->id == pool->device || pool->devices >> location->id & 1);
    *flags = may ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes_to_keep)
{
    if (!pool) return set(cudaErrorInvalidValue);
    emu_trim_pool(pool, bytes_to_keep);
    return cudaSuccess;
}

cudaError_t emu_allocate_from_pool_async(void **pointer, size_t bytes, cudaMemPool_t pool,
                                         cudaStream_t stream, const char *call,
                                         const void *pc)
{
    if (emu_is_captured(stream)) return set(emu_capture_refuses(stream));
    if (!pool) return set(cudaErrorInvalidValue);
    emu_no_launch_follows(stream);
    return set(emu_allocate_from_pool(pointer, bytes, pool, call, pc));
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    return emu_allocate_from_pool_async(pointer, bytes, pool, stream,
                                        "cudaMallocFromPoolAsync", CALLER);
}

cudaError_t cudaFree(void *pointer)
{
    EMU_ALONE;
    emu_runtime_is_used(true);
    emu_host_waits_for_device(-1);
    return set(emu_deallocate(pointer, false, CALLER));
}

cudaError_t emu_free_async(void *pointer, cudaStream_t stream, const void *pc)
{
    const struct emu_graph_memory m = {.base = pointer, .pc = pc};
    if (emu_capture(stream, cudaGraphNodeTypeMemFree, run_free, &m, sizeof m))
        return set(emu_capture_state(stream));
    emu_no_launch_follows(stream);
    return set(emu_deallocate(pointer, false, pc));
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    return emu_free_async(pointer, stream, CALLER);
}

cudaError_t cudaFreeHost(void *pointer)
{
    EMU_ALONE;
    emu_host_waits_for_device(-1);
    return set(emu_deallocate(pointer, true, CALLER));
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    EMU_NEED_DEVICE;
    if (!free_bytes || !total) return set(cudaErrorInvalidValue);
    *total = emu_gpu()->prop.totalGlobalMem;
    *free_bytes = *total - emu_device_bytes(emu_device());
    /* What the emulated card has left may be more than this machine has. */
    size_t available = emu_host_available();
    if (available < *free_bytes) *free_bytes = available;
    available = emu_room_left();
    if (available < *free_bytes) *free_bytes = available;
    return set(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                     const void *pointer)
{
    EMU_ALONE;
    if (!attributes) return set(cudaErrorInvalidValue);
    const struct emu_allocation *a = emu_allocation_of(pointer);
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
