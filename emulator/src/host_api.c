/* The rest of the cuda* calls: errors, the device, functions' attributes, streams,
 * events. All work is done by the time a call returns, so a stream is only a name and an
 * event only a moment. */
#include "emulator.h"

#include <nvtx3/nvToolsExt.h>

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- errors ---- */

static _Thread_local cudaError_t last_error = cudaSuccess;

void emu_set_last_error(cudaError_t error)
{
    if (error != cudaSuccess) last_error = error;
}

/* What a <<<>>> that failed leaves behind (emulator_launch.h). */
void emu_launch_failed(int error);
void emu_launch_failed(int error)
{
    emu_set_last_error((cudaError_t)error);
}

static cudaError_t set(cudaError_t error)
{
    emu_set_last_error(error);
    return error;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

static const char UNKNOWN_ERROR[] = "unrecognized error code";

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define EMU_ERROR(name, value, text)                                                     \
    case name: return #name;
#include "emulator_errors.h"
#undef EMU_ERROR
    }
    return UNKNOWN_ERROR;
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
#define EMU_ERROR(name, value, text)                                                     \
    case name: return text;
#include "emulator_errors.h"
#undef EMU_ERROR
    }
    return UNKNOWN_ERROR;
}

/* ---- the device ---- */

cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count) return set(cudaErrorInvalidValue);
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    if (!device) return set(cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return set(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    if (!prop) return set(cudaErrorInvalidValue);
    if (device != 0) return set(cudaErrorInvalidDevice);
    *prop = emu_gpu()->prop;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    if (!value) return set(cudaErrorInvalidValue);
    if (device != 0) return set(cudaErrorInvalidDevice);
    const struct cudaDeviceProp *p = &emu_gpu()->prop;
    switch (attr) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p->maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = p->maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *value = p->maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *value = p->maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *value = p->maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *value = p->maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = p->maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p->sharedMemPerBlock; break;
    case cudaDevAttrTotalConstantMemory: *value = (int)p->totalConstMem; break;
    case cudaDevAttrWarpSize: *value = p->warpSize; break;
    case cudaDevAttrMaxPitch: *value = (int)p->memPitch; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = p->regsPerBlock; break;
    case cudaDevAttrClockRate: *value = p->clockRate; break;
    case cudaDevAttrTextureAlignment: *value = (int)p->textureAlignment; break;
    case cudaDevAttrGpuOverlap: *value = p->deviceOverlap; break;
    case cudaDevAttrMultiProcessorCount: *value = p->multiProcessorCount; break;
    case cudaDevAttrKernelExecTimeout: *value = p->kernelExecTimeoutEnabled; break;
    case cudaDevAttrIntegrated: *value = p->integrated; break;
    case cudaDevAttrCanMapHostMemory: *value = p->canMapHostMemory; break;
    case cudaDevAttrComputeMode: *value = p->computeMode; break;
    case cudaDevAttrConcurrentKernels: *value = p->concurrentKernels; break;
    case cudaDevAttrEccEnabled: *value = p->ECCEnabled; break;
    case cudaDevAttrPciBusId: *value = p->pciBusID; break;
    case cudaDevAttrPciDeviceId: *value = p->pciDeviceID; break;
    case cudaDevAttrTccDriver: *value = p->tccDriver; break;
    case cudaDevAttrMemoryClockRate: *value = p->memoryClockRate; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = p->memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = p->l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = p->maxThreadsPerMultiProcessor;
        break;
    case cudaDevAttrAsyncEngineCount: *value = p->asyncEngineCount; break;
    case cudaDevAttrUnifiedAddressing: *value = p->unifiedAddressing; break;
    case cudaDevAttrPciDomainId: *value = p->pciDomainID; break;
    case cudaDevAttrTexturePitchAlignment: *value = (int)p->texturePitchAlignment; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p->major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p->minor; break;
    case cudaDevAttrStreamPrioritiesSupported:
        *value = p->streamPrioritiesSupported;
        break;
    case cudaDevAttrGlobalL1CacheSupported: *value = p->globalL1CacheSupported; break;
    case cudaDevAttrLocalL1CacheSupported: *value = p->localL1CacheSupported; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = (int)p->sharedMemPerMultiprocessor;
        break;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
        *value = p->regsPerMultiprocessor;
        break;
    case cudaDevAttrManagedMemory: *value = p->managedMemory; break;
    case cudaDevAttrIsMultiGpuBoard: *value = p->isMultiGpuBoard; break;
    case cudaDevAttrHostNativeAtomicSupported:
        *value = p->hostNativeAtomicSupported;
        break;
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
        *value = p->canUseHostPointerForRegisteredMem;
        break;
    case cudaDevAttrPageableMemoryAccess: *value = p->pageableMemoryAccess; break;
    case cudaDevAttrConcurrentManagedAccess: *value = p->concurrentManagedAccess; break;
    case cudaDevAttrComputePreemptionSupported:
        *value = p->computePreemptionSupported;
        break;
    case cudaDevAttrCooperativeLaunch: *value = p->cooperativeLaunch; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *value = (int)p->sharedMemPerBlockOptin;
        break;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
        *value = p->maxBlocksPerMultiProcessor;
        break;
    case cudaDevAttrReservedSharedMemoryPerBlock:
        *value = (int)p->reservedSharedMemPerBlock;
        break;
    case cudaDevAttrMemoryPoolsSupported: *value = p->memoryPoolsSupported; break;
    case cudaDevAttrClusterLaunch: *value = p->clusterLaunch; break;
    default: return set(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can) return set(cudaErrorInvalidValue);
    if (device != 0 || peer != 0) return set(cudaErrorInvalidDevice);
    *can = 0;
    return cudaSuccess;
}

/* There is one device, and it is not its own peer. */
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    (void)peer;
    return set(flags ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return set(peer == 0 ? cudaErrorPeerAccessNotEnabled : cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int device,
                                      int peer)
{
    (void)value, (void)attr, (void)device, (void)peer;
    return set(cudaErrorInvalidDevice);
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    return prop ? cudaGetDevice(device) : set(cudaErrorInvalidValue);
}

static void pci_bus_id(char *id, size_t bytes)
{
    const struct cudaDeviceProp *p = &emu_gpu()->prop;
    snprintf(id, bytes, "%04x:%02x:%02x.0", (unsigned)p->pciDomainID,
             (unsigned)p->pciBusID, (unsigned)p->pciDeviceID);
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int bytes, int device)
{
    if (!id || bytes < 1) return set(cudaErrorInvalidValue);
    if (device != 0) return set(cudaErrorInvalidDevice);
    pci_bus_id(id, (size_t)bytes);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    char own[32];
    if (!device || !id) return set(cudaErrorInvalidValue);
    pci_bus_id(own, sizeof own);
    *device = 0;
    return set(strcmp(id, own) == 0 ? cudaSuccess : cudaErrorInvalidValue);
}

static unsigned int device_flags;

cudaError_t cudaSetDeviceFlags(unsigned int flags)
{
    if (flags & ~(unsigned)cudaDeviceMask) return set(cudaErrorInvalidValue);
    device_flags = flags;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned int *flags)
{
    if (!flags) return set(cudaErrorInvalidValue);
    *flags = device_flags;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    if (emu_in_kernel())
        emu_fault(__builtin_return_address(0),
                  "cudaDeviceSynchronize in a kernel: since CUDA 12 a kernel cannot wait "
                  "for what it launches, which begins when it has ended");
    emu_check_synchronized();
    return cudaSuccess;
}

cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return cudaSuccess;
}

cudaError_t cudaDeviceReset(void)
{
    emu_free_everything();
    return cudaSuccess;
}

/* The limits are stored; only the heap's has an effect (memory.c). */
static size_t limits[] = {
    [cudaLimitStackSize] = 1024,
    [cudaLimitPrintfFifoSize] = 1 << 20,
    [cudaLimitMallocHeapSize] = 8 << 20,
    [cudaLimitDevRuntimeSyncDepth] = 2,
    [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64,
    [cudaLimitPersistingL2CacheSize] = 0,
};

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if ((size_t)limit >= sizeof limits / sizeof limits[0])
        return set(cudaErrorUnsupportedLimit);
    limits[limit] = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    if (!value) return set(cudaErrorInvalidValue);
    if ((size_t)limit >= sizeof limits / sizeof limits[0])
        return set(cudaErrorUnsupportedLimit);
    *value = limits[limit];
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    return set((unsigned)config <= cudaFuncCachePreferEqual ? cudaSuccess
                                                            : cudaErrorInvalidValue);
}

cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    return set((unsigned)config <= cudaSharedMemBankSizeEightByte
                   ? cudaSuccess
                   : cudaErrorInvalidValue);
}

enum { LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least) *least = LEAST_PRIORITY;
    if (greatest) *greatest = GREATEST_PRIORITY;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version) return set(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return cudaRuntimeGetVersion(version);
}

cudaError_t cudaProfilerStart(void)
{
    emu_lens_pause(false);
    return cudaSuccess;
}

cudaError_t cudaProfilerStop(void)
{
    emu_lens_pause(true);
    return cudaSuccess;
}

/* ---- NVTX ---- */

enum { MOST_RANGES = 16, RANGE_NAME = 200 };
static char ranges[MOST_RANGES][RANGE_NAME];
static int
    range_count; /* may be more than there is room for: the innermost have no name */

int nvtxRangePushA(const char *message)
{
    if (range_count < MOST_RANGES)
        snprintf(ranges[range_count], RANGE_NAME, "%s", message);
    return range_count++;
}

int nvtxRangePop(void)
{
    return range_count ? --range_count : -1;
}

const char *emu_range(void)
{
    if (!range_count) return NULL;
    return ranges[range_count < MOST_RANGES ? range_count - 1 : MOST_RANGES - 1];
}

/* ---- kernels ---- */

/* The kernels of which something is known: their limit was set, or they have run. */
struct function {
    const void *kernel;
    size_t dynamic_shared; /* the limit */
    size_t static_shared;  /* what the last launch declared */
    unsigned threads_at_most;
};
static struct function *functions;
static size_t function_count;

static struct function *find_function(const void *kernel)
{
    for (size_t i = 0; i < function_count; i++)
        if (functions[i].kernel == kernel) return &functions[i];
    return NULL;
}

static struct function *find_or_add_function(const void *kernel)
{
    struct function *f = find_function(kernel);
    if (f) return f;
    struct function *grown = realloc(functions, (function_count + 1) * sizeof *functions);
    if (!grown) return NULL;
    functions = grown;
    f = &functions[function_count++];
    *f = (struct function){.kernel = kernel,
                           .dynamic_shared = emu_gpu()->prop.sharedMemPerBlock,
                           .threads_at_most =
                               (unsigned)emu_gpu()->prop.maxThreadsPerBlock};
    return f;
}

void emu_note_static_shared(const void *kernel, size_t bytes)
{
    struct function *f = kernel ? find_or_add_function(kernel) : NULL;
    if (f) f->static_shared = bytes;
}

void emu_note_launch_bounds(const void *kernel, unsigned threads_at_most)
{
    struct function *f = kernel ? find_or_add_function(kernel) : NULL;
    if (f && threads_at_most < f->threads_at_most) f->threads_at_most = threads_at_most;
}

size_t emu_dynamic_shared_limit(const void *kernel)
{
    const struct function *f = kernel ? find_function(kernel) : NULL;
    size_t limit = f ? f->dynamic_shared : emu_gpu()->prop.sharedMemPerBlock;
    for (size_t i = 0; !kernel && i < function_count; i++)
        if (functions[i].dynamic_shared > limit) limit = functions[i].dynamic_shared;
    return limit;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attr,
                                 int value)
{
    if (!kernel) return set(cudaErrorInvalidDeviceFunction);
    if (attr == cudaFuncAttributePreferredSharedMemoryCarveout)
        return set(value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue);
    if (attr != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return set(cudaErrorInvalidValue);
    if (value < 0 || (size_t)value > emu_gpu()->prop.sharedMemPerBlockOptin)
        return set(cudaErrorInvalidValue);
    EMU_ALONE;
    struct function *f = find_or_add_function(kernel);
    if (!f) return set(cudaErrorMemoryAllocation);
    f->dynamic_shared = (size_t)value;
    return cudaSuccess;
}

/* Only NVIDIA's compiler knows how many registers a thread takes; LENS_REGS tells, or it
 * is this many. */
static unsigned assumed_registers(void)
{
    enum { ASSUMED_REGISTERS = 32 };
    const long told = emu_settings.lens_registers;
    return told ? (unsigned)told : ASSUMED_REGISTERS;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
                                  const void *kernel)
{
    if (!attributes) return set(cudaErrorInvalidValue);
    if (!kernel) return set(cudaErrorInvalidDeviceFunction);
    const struct cudaDeviceProp *gpu = &emu_gpu()->prop;
    const struct function *f = find_function(kernel);
    *attributes = (struct cudaFuncAttributes){
        .sharedSizeBytes = f ? f->static_shared : 0,
        .maxThreadsPerBlock = f ? (int)f->threads_at_most : gpu->maxThreadsPerBlock,
        .numRegs = (int)assumed_registers(),
        .ptxVersion = 10 * gpu->major + gpu->minor,
        .binaryVersion = 10 * gpu->major + gpu->minor,
        .maxDynamicSharedSizeBytes = (int)emu_dynamic_shared_limit(kernel),
        .preferredShmemCarveout = -1,
    };
    return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config)
{
    if (!kernel) return set(cudaErrorInvalidDeviceFunction);
    return cudaDeviceSetCacheConfig(config);
}

cudaError_t cudaFuncSetSharedMemConfig(const void *kernel,
                                       enum cudaSharedMemConfig config)
{
    if (!kernel) return set(cudaErrorInvalidDeviceFunction);
    return cudaDeviceSetSharedMemConfig(config);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
                                                                   const void *kernel,
                                                                   int block_size,
                                                                   size_t dynamic_shared,
                                                                   unsigned int flags)
{
    if (!blocks || block_size <= 0 || flags > cudaOccupancyDisableCachingOverride)
        return set(cudaErrorInvalidValue);
    if (!kernel) return set(cudaErrorInvalidDeviceFunction);
    EMU_ALONE;
    *blocks = 0;
    /* How much shared memory a kernel declares is known here once it has run. */
    const struct function *f = find_function(kernel);
    const bool allowed = !f || (unsigned)block_size <= f->threads_at_most;
    if (allowed && dynamic_shared <= emu_dynamic_shared_limit(kernel)) {
        const size_t shared = dynamic_shared + (f ? f->static_shared : 0);
        *blocks =
            (int)emu_occupancy((unsigned)block_size, assumed_registers(), shared).blocks;
    }
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int block_size,
                                                          size_t dynamic_shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, kernel, block_size, dynamic_shared, cudaOccupancyDefault);
}

/* ---- streams and events ---- */

/* Streams and events are handed out as addresses, so a handle is tried against the list
 * of those that exist before it is followed. */
struct handle {
    struct handle *next;
};
struct CUstream_st {
    struct handle handle;
    unsigned int flags;
    int priority;
};
struct CUevent_st {
    struct handle handle;
    unsigned int flags;
    bool recorded;
    struct timespec when;
};
static struct handle *streams, *events;

static void *create(struct handle **list, size_t bytes)
{
    EMU_ALONE;
    struct handle *h = calloc(1, bytes);
    if (!h) return NULL;
    h->next = *list;
    *list = h;
    return h;
}

static struct handle **find(struct handle **list, const void *wanted)
{
    while (*list && (const void *)*list != wanted) list = &(*list)->next;
    return list;
}

static bool destroy(struct handle **list, void *handle)
{
    EMU_ALONE;
    struct handle **at = find(list, handle);
    if (!*at) return false;
    *at = (*at)->next;
    free(handle);
    return true;
}

static bool is_stream(cudaStream_t stream)
{
    EMU_ALONE;
    return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
           *find(&streams, stream);
}

static bool is_event(cudaEvent_t event)
{
    EMU_ALONE;
    return event && *find(&events, event);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags,
                                         int priority)
{
    if (!stream || flags > cudaStreamNonBlocking) return set(cudaErrorInvalidValue);
    *stream = create(&streams, sizeof **stream);
    if (!*stream) return set(cudaErrorMemoryAllocation);
    (*stream)->flags = flags;
    (*stream)->priority = priority > LEAST_PRIORITY      ? LEAST_PRIORITY
                          : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY
                                                         : priority;
    return cudaSuccess;
}

static bool is_made(cudaStream_t stream)
{
    return stream && *find(&streams, stream);
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags)
{
    if (!is_stream(stream)) return set(cudaErrorInvalidResourceHandle);
    if (!flags) return set(cudaErrorInvalidValue);
    *flags = is_made(stream) ? stream->flags : cudaStreamDefault;
    return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    if (!is_stream(stream)) return set(cudaErrorInvalidResourceHandle);
    if (!priority) return set(cudaErrorInvalidValue);
    *priority = is_made(stream) ? stream->priority : LEAST_PRIORITY;
    return cudaSuccess;
}

/* They steer a cache and a scheduler that are not emulated. */
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attr,
                                   const cudaStreamAttrValue *value)
{
    (void)attr;
    if (!is_stream(stream)) return set(cudaErrorInvalidResourceHandle);
    return set(value ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    return cudaStreamCreateWithPriority(stream, flags, LEAST_PRIORITY);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    return set(destroy(&streams, stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    emu_check_synchronized();
    return set(is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return cudaStreamSynchronize(stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned int flags)
{
    if (flags != cudaEventWaitDefault) return set(cudaErrorInvalidValue);
    return set(is_stream(stream) && is_event(event) ? cudaSuccess
                                                    : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void *user_data, unsigned int flags)
{
    if (!callback || flags != 0) return set(cudaErrorInvalidValue);
    if (!is_stream(stream)) return set(cudaErrorInvalidResourceHandle);
    emu_check_synchronized();
    callback(stream, cudaSuccess, user_data);
    return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                               void *user_data)
{
    if (!function) return set(cudaErrorInvalidValue);
    if (!is_stream(stream)) return set(cudaErrorInvalidResourceHandle);
    emu_check_synchronized();
    function(user_data);
    return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    unsigned int known =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!event || (flags & ~known)) return set(cudaErrorInvalidValue);
    *event = create(&events, sizeof **event);
    if (!*event) return set(cudaErrorMemoryAllocation);
    (*event)->flags = flags;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                     unsigned int flags)
{
    if (flags != cudaEventRecordDefault) return set(cudaErrorInvalidValue);
    if (!is_event(event) || !is_stream(stream))
        return set(cudaErrorInvalidResourceHandle);
    clock_gettime(CLOCK_MONOTONIC, &event->when);
    event->recorded = true;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    emu_check_synchronized();
    return set(is_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return cudaEventSynchronize(event);
}

/* Time of this machine between the two calls, which says nothing about a GPU. */
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    if (!milliseconds) return set(cudaErrorInvalidValue);
    if (!is_event(start) || !is_event(end)) return set(cudaErrorInvalidResourceHandle);
    if ((start->flags | end->flags) & cudaEventDisableTiming)
        return set(cudaErrorInvalidResourceHandle);
    if (!start->recorded || !end->recorded) return set(cudaErrorInvalidResourceHandle);
    double seconds = (double)(end->when.tv_sec - start->when.tv_sec);
    double nanoseconds = (double)(end->when.tv_nsec - start->when.tv_nsec);
    *milliseconds = (float)(seconds * 1e3 + nanoseconds * 1e-6);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return set(destroy(&events, event) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

/* ---- what a kernel calls by names that are not ours ---- */

void __trap(void) __attribute__((noreturn));
void __trap(void)
{
    emu_trap(__builtin_return_address(0), "__trap()");
}

/* assert() ends here. On the host it does what the C library's does. */
void __assert_fail(const char *expression, const char *file, unsigned int line,
                   const char *function)
{
    if (emu_in_kernel()) {
        char what[512];
        snprintf(what, sizeof what, "assertion `%s' failed", expression);
        emu_trap(__builtin_return_address(0), what);
    }
    fflush(stdout);
    fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line,
            function ? function : "?", expression);
    abort();
}

/* In a kernel, clock() counts as clock64() does. */
clock_t clock(void)
{
    if (emu_in_kernel()) return (clock_t)emu_clock();
    struct timespec used;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return (clock_t)-1;
    return (clock_t)(used.tv_sec * CLOCKS_PER_SEC +
                     used.tv_nsec / (1000000000 / CLOCKS_PER_SEC));
}
