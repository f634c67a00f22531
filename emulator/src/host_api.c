/* The rest of the cuda* calls: errors, devices, functions' attributes. */
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

static bool is_device(int device)
{
    return device >= 0 && device < emu_device_count();
}

cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count) return set(cudaErrorInvalidValue);
    *count = emu_device_count();
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    if (!device) return set(cudaErrorInvalidValue);
    *device = emu_device();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (!is_device(device)) return set(cudaErrorInvalidDevice);
    emu_set_device(device);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    if (!prop) return set(cudaErrorInvalidValue);
    if (!is_device(device)) return set(cudaErrorInvalidDevice);
    *prop = emu_gpu()->prop;
    prop->pciBusID += device;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    if (!value) return set(cudaErrorInvalidValue);
    if (!is_device(device)) return set(cudaErrorInvalidDevice);
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
    case cudaDevAttrPciBusId: *value = p->pciBusID + device; break;
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

/* Which device may use whose memory in kernels: [who][whose]. */
static bool peers[EMU_MOST_DEVICES][EMU_MOST_DEVICES];

bool emu_reaches(int device, int memory)
{
    return device == memory || peers[device][memory];
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!can) return set(cudaErrorInvalidValue);
    if (!is_device(device) || !is_device(peer)) return set(cudaErrorInvalidDevice);
    *can = device != peer && emu_gpu()->peers;
    return cudaSuccess;
}

/* Of the current device, to the memory of the other. */
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    if (flags) return set(cudaErrorInvalidValue);
    if (!is_device(peer) || peer == emu_device()) return set(cudaErrorInvalidDevice);
    if (!emu_gpu()->peers) return set(cudaErrorPeerAccessUnsupported);
    if (peers[emu_device()][peer]) return set(cudaErrorPeerAccessAlreadyEnabled);
    peers[emu_device()][peer] = true;
    return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    if (!is_device(peer)) return set(cudaErrorInvalidDevice);
    if (!peers[emu_device()][peer]) return set(cudaErrorPeerAccessNotEnabled);
    peers[emu_device()][peer] = false;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int device,
                                      int peer)
{
    if (!value) return set(cudaErrorInvalidValue);
    if (!is_device(device) || !is_device(peer) || device == peer)
        return set(cudaErrorInvalidDevice);
    *value = attr == cudaDevP2PAttrPerformanceRank ? 0 : emu_gpu()->peers;
    return cudaSuccess;
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    return prop ? cudaGetDevice(device) : set(cudaErrorInvalidValue);
}

static void pci_bus_id(char *id, size_t bytes, int device)
{
    const struct cudaDeviceProp *p = &emu_gpu()->prop;
    snprintf(id, bytes, "%04x:%02x:%02x.0", (unsigned)p->pciDomainID,
             (unsigned)(p->pciBusID + device), (unsigned)p->pciDeviceID);
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int bytes, int device)
{
    if (!id || bytes < 1) return set(cudaErrorInvalidValue);
    if (!is_device(device)) return set(cudaErrorInvalidDevice);
    pci_bus_id(id, (size_t)bytes, device);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    char own[32];
    if (!device || !id) return set(cudaErrorInvalidValue);
    for (*device = 0; *device < emu_device_count(); ++*device) {
        pci_bus_id(own, sizeof own, *device);
        if (strcmp(id, own) == 0) return cudaSuccess;
    }
    return set(cudaErrorInvalidValue);
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
    EMU_ALONE;
    emu_check_synchronized();
    emu_host_waits_for_device(emu_device());
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

/* Called before main() too, for __launch_bounds__: which GPU is emulated is not asked here,
 * and need not be, for these two are the same on all. */
static struct function *find_or_add_function(const void *kernel)
{
    enum { SHARED_UNASKED = 48 << 10, MOST_THREADS = 1024 };
    struct function *f = find_function(kernel);
    if (f) return f;
    struct function *grown = realloc(functions, (function_count + 1) * sizeof *functions);
    if (!grown) return NULL;
    functions = grown;
    f = &functions[function_count++];
    *f = (struct function){.kernel = kernel,
                           .dynamic_shared = SHARED_UNASKED,
                           .threads_at_most = MOST_THREADS};
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
