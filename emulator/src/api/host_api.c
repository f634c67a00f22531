/* The rest of the cuda* calls: what asks about devices and versions. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/device.h"
#include "base/errors.h"
#include "base/now.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"
#include "memory/streams.h"
#include "watch/lens.h"

/* ---- the device ---- */

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
    if (!emu_is_device(device)) return set(cudaErrorInvalidDevice);
    emu_set_device(device);
    emu_runtime_is_used(true);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    if (!prop) return set(cudaErrorInvalidValue);
    if (!emu_is_device(device)) return set(cudaErrorInvalidDevice);
    *prop = emu_gpu()->prop;
    prop->pciBusID += device;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    if (!value) return set(cudaErrorInvalidValue);
    if (!emu_is_device(device)) return set(cudaErrorInvalidDevice);
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
    if (!emu_is_device(device)) return set(cudaErrorInvalidDevice);
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
    emu_runtime_is_used(true);
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
    EMU_ALONE;
    emu_host_waits_for_device(emu_device());
    emu_free_everything();
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
