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
    prop->uuid = emu_uuid(device);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    if (!value) return set(cudaErrorInvalidValue);
    if (!emu_is_device(device)) return set(cudaErrorInvalidDevice);
    const struct cudaDeviceProp *p = &emu_gpu()->prop;
    switch (attr) {
#define ATTRIBUTE(name, field)                                                           \
    case cudaDevAttr##name: *value = (int)p->field; break;
        ATTRIBUTE(MaxThreadsPerBlock, maxThreadsPerBlock)
        ATTRIBUTE(MaxBlockDimX, maxThreadsDim[0])
        ATTRIBUTE(MaxBlockDimY, maxThreadsDim[1])
        ATTRIBUTE(MaxBlockDimZ, maxThreadsDim[2])
        ATTRIBUTE(MaxGridDimX, maxGridSize[0])
        ATTRIBUTE(MaxGridDimY, maxGridSize[1])
        ATTRIBUTE(MaxGridDimZ, maxGridSize[2])
        ATTRIBUTE(MaxSharedMemoryPerBlock, sharedMemPerBlock)
        ATTRIBUTE(TotalConstantMemory, totalConstMem)
        ATTRIBUTE(WarpSize, warpSize)
        ATTRIBUTE(MaxPitch, memPitch)
        ATTRIBUTE(MaxRegistersPerBlock, regsPerBlock)
        ATTRIBUTE(ClockRate, clockRate)
        ATTRIBUTE(TextureAlignment, textureAlignment)
        ATTRIBUTE(GpuOverlap, deviceOverlap)
        ATTRIBUTE(MultiProcessorCount, multiProcessorCount)
        ATTRIBUTE(KernelExecTimeout, kernelExecTimeoutEnabled)
        ATTRIBUTE(Integrated, integrated)
        ATTRIBUTE(CanMapHostMemory, canMapHostMemory)
        ATTRIBUTE(ComputeMode, computeMode)
        ATTRIBUTE(ConcurrentKernels, concurrentKernels)
        ATTRIBUTE(EccEnabled, ECCEnabled)
        ATTRIBUTE(PciDeviceId, pciDeviceID)
        ATTRIBUTE(TccDriver, tccDriver)
        ATTRIBUTE(MemoryClockRate, memoryClockRate)
        ATTRIBUTE(GlobalMemoryBusWidth, memoryBusWidth)
        ATTRIBUTE(L2CacheSize, l2CacheSize)
        ATTRIBUTE(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor)
        ATTRIBUTE(AsyncEngineCount, asyncEngineCount)
        ATTRIBUTE(UnifiedAddressing, unifiedAddressing)
        ATTRIBUTE(PciDomainId, pciDomainID)
        ATTRIBUTE(TexturePitchAlignment, texturePitchAlignment)
        ATTRIBUTE(ComputeCapabilityMajor, major)
        ATTRIBUTE(ComputeCapabilityMinor, minor)
        ATTRIBUTE(StreamPrioritiesSupported, streamPrioritiesSupported)
        ATTRIBUTE(GlobalL1CacheSupported, globalL1CacheSupported)
        ATTRIBUTE(LocalL1CacheSupported, localL1CacheSupported)
        ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor)
        ATTRIBUTE(MaxRegistersPerMultiprocessor, regsPerMultiprocessor)
        ATTRIBUTE(ManagedMemory, managedMemory)
        ATTRIBUTE(IsMultiGpuBoard, isMultiGpuBoard)
        ATTRIBUTE(HostNativeAtomicSupported, hostNativeAtomicSupported)
        ATTRIBUTE(CanUseHostPointerForRegisteredMem, canUseHostPointerForRegisteredMem)
        ATTRIBUTE(PageableMemoryAccess, pageableMemoryAccess)
        ATTRIBUTE(ConcurrentManagedAccess, concurrentManagedAccess)
        ATTRIBUTE(ComputePreemptionSupported, computePreemptionSupported)
        ATTRIBUTE(CooperativeLaunch, cooperativeLaunch)
        ATTRIBUTE(MaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin)
        ATTRIBUTE(MaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor)
        ATTRIBUTE(ReservedSharedMemoryPerBlock, reservedSharedMemPerBlock)
        ATTRIBUTE(MemoryPoolsSupported, memoryPoolsSupported)
        ATTRIBUTE(ClusterLaunch, clusterLaunch)
        ATTRIBUTE(MaxTexture1DWidth, maxTexture1D)
        ATTRIBUTE(MaxTexture2DWidth, maxTexture2D[0])
        ATTRIBUTE(MaxTexture2DHeight, maxTexture2D[1])
        ATTRIBUTE(MaxTexture3DWidth, maxTexture3D[0])
        ATTRIBUTE(MaxTexture3DHeight, maxTexture3D[1])
        ATTRIBUTE(MaxTexture3DDepth, maxTexture3D[2])
        ATTRIBUTE(MaxTexture2DLayeredWidth, maxTexture2DLayered[0])
        ATTRIBUTE(MaxTexture2DLayeredHeight, maxTexture2DLayered[1])
        ATTRIBUTE(MaxTexture2DLayeredLayers, maxTexture2DLayered[2])
        ATTRIBUTE(SurfaceAlignment, surfaceAlignment)
        ATTRIBUTE(MaxTexture1DLayeredWidth, maxTexture1DLayered[0])
        ATTRIBUTE(MaxTexture1DLayeredLayers, maxTexture1DLayered[1])
        ATTRIBUTE(MaxTexture2DGatherWidth, maxTexture2DGather[0])
        ATTRIBUTE(MaxTexture2DGatherHeight, maxTexture2DGather[1])
        ATTRIBUTE(MaxTexture3DWidthAlt, maxTexture3DAlt[0])
        ATTRIBUTE(MaxTexture3DHeightAlt, maxTexture3DAlt[1])
        ATTRIBUTE(MaxTexture3DDepthAlt, maxTexture3DAlt[2])
        ATTRIBUTE(MaxTextureCubemapWidth, maxTextureCubemap)
        ATTRIBUTE(MaxTextureCubemapLayeredWidth, maxTextureCubemapLayered[0])
        ATTRIBUTE(MaxTextureCubemapLayeredLayers, maxTextureCubemapLayered[1])
        ATTRIBUTE(MaxSurface1DWidth, maxSurface1D)
        ATTRIBUTE(MaxSurface2DWidth, maxSurface2D[0])
        ATTRIBUTE(MaxSurface2DHeight, maxSurface2D[1])
        ATTRIBUTE(MaxSurface3DWidth, maxSurface3D[0])
        ATTRIBUTE(MaxSurface3DHeight, maxSurface3D[1])
        ATTRIBUTE(MaxSurface3DDepth, maxSurface3D[2])
        ATTRIBUTE(MaxSurface1DLayeredWidth, maxSurface1DLayered[0])
        ATTRIBUTE(MaxSurface1DLayeredLayers, maxSurface1DLayered[1])
        ATTRIBUTE(MaxSurface2DLayeredWidth, maxSurface2DLayered[0])
        ATTRIBUTE(MaxSurface2DLayeredHeight, maxSurface2DLayered[1])
        ATTRIBUTE(MaxSurface2DLayeredLayers, maxSurface2DLayered[2])
        ATTRIBUTE(MaxSurfaceCubemapWidth, maxSurfaceCubemap)
        ATTRIBUTE(MaxSurfaceCubemapLayeredWidth, maxSurfaceCubemapLayered[0])
        ATTRIBUTE(MaxSurfaceCubemapLayeredLayers, maxSurfaceCubemapLayered[1])
        ATTRIBUTE(MaxTexture2DLinearWidth, maxTexture2DLinear[0])
        ATTRIBUTE(MaxTexture2DLinearHeight, maxTexture2DLinear[1])
        ATTRIBUTE(MaxTexture2DLinearPitch, maxTexture2DLinear[2])
        ATTRIBUTE(MaxTexture2DMipmappedWidth, maxTexture2DMipmap[0])
        ATTRIBUTE(MaxTexture2DMipmappedHeight, maxTexture2DMipmap[1])
        ATTRIBUTE(MaxTexture1DMipmappedWidth, maxTexture1DMipmap)
        ATTRIBUTE(MultiGpuBoardGroupID, multiGpuBoardGroupID)
        ATTRIBUTE(HostRegisterSupported, hostRegisterSupported)
        ATTRIBUTE(HostRegisterReadOnlySupported, hostRegisterReadOnlySupported)
        ATTRIBUTE(PageableMemoryAccessUsesHostPageTables,
                  pageableMemoryAccessUsesHostPageTables)
        ATTRIBUTE(DirectManagedMemAccessFromHost, directManagedMemAccessFromHost)
        ATTRIBUTE(MaxPersistingL2CacheSize, persistingL2CacheMaxSize)
        ATTRIBUTE(MaxAccessPolicyWindowSize, accessPolicyMaxWindowSize)
        ATTRIBUTE(SparseCudaArraySupported, sparseCudaArraySupported)
        ATTRIBUTE(TimelineSemaphoreInteropSupported, timelineSemaphoreInteropSupported)
        ATTRIBUTE(GPUDirectRDMASupported, gpuDirectRDMASupported)
        ATTRIBUTE(GPUDirectRDMAFlushWritesOptions, gpuDirectRDMAFlushWritesOptions)
        ATTRIBUTE(GPUDirectRDMAWritesOrdering, gpuDirectRDMAWritesOrdering)
        ATTRIBUTE(MemoryPoolSupportedHandleTypes, memoryPoolSupportedHandleTypes)
        ATTRIBUTE(DeferredMappingCudaArraySupported, deferredMappingCudaArraySupported)
        ATTRIBUTE(IpcEventSupport, ipcEventSupported)
        ATTRIBUTE(NumaConfig, deviceNumaConfig)
        ATTRIBUTE(NumaId, deviceNumaId)
        ATTRIBUTE(MpsEnabled, mpsEnabled)
        ATTRIBUTE(HostNumaId, hostNumaId)
        ATTRIBUTE(HostNumaMultinodeIpcSupported, hostNumaMultinodeIpcSupported)
#undef ATTRIBUTE
    case cudaDevAttrPciBusId: *value = p->pciBusID + device; break;
    case cudaDevAttrMaxTexture1DLinearWidth: *value = 1 << 28; break;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: *value = emu_gpu()->doubles; break;
    case cudaDevAttrMemSyncDomainCount: *value = p->major >= 9 ? 4 : 1; break;
    /* What a GPU might have and the emulator has not: a program asks, and does without. */
    case cudaDevAttrCanFlushRemoteWrites:
    case cudaDevAttrHostNumaMemoryPoolsSupported:
    case cudaDevAttrHostMemoryPoolsSupported: *value = 0; break;
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

/* The device has no context to be made here, and the current one stays. */
cudaError_t cudaInitDevice(int device, unsigned int device_flags_wanted,
                           unsigned int flags)
{
    if (!emu_is_device(device)) return set(cudaErrorInvalidDevice);
    if (flags & ~(unsigned)cudaInitDeviceFlagsAreValid) return set(cudaErrorInvalidValue);
    return flags ? cudaSetDeviceFlags(device_flags_wanted) : cudaSuccess;
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
    return emu_tell_device_error();
}

cudaError_t cudaThreadSynchronize(void)
{
    return cudaDeviceSynchronize();
}

cudaError_t cudaThreadExit(void)
{
    return cudaDeviceReset();
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
    emu_device_is_reset();
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

/* A breakpoint, which ends a kernel that no debugger looks at. */
void __brkpt(void) __attribute__((noreturn));
void __brkpt(void)
{
    emu_trap(__builtin_return_address(0), "__brkpt()");
}

/* assert() ends here. On the host it does what the C library's does. */
void __assert_fail(const char *expression, const char *file, unsigned int line,
                   const char *function)
{
    if (emu_in_kernel()) emu_assertion_fails(__builtin_return_address(0), expression);
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
