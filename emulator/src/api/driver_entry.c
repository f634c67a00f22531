/* The driver API's functions by their names, as a program asks for them that is not linked
 * with -lcuda. Those on modules are missing: they would bring along all of the emulator. */
#include <string.h>

#include "base/errors.h"
#include "cuda.h"
#include "cudaProfiler.h"
#include "cuda_runtime_api.h"
#include "emulator_driver.h"

/* `since` is the version of CUDA whose form of the call the emulator has. */
static const struct entry {
    const char *name;
    unsigned since;
    void (*function)(void);
} entries[] = {
#define ENTRY(name, since) {#name, since, (void (*)(void))name}
    {"cuCtxCreate", 3020, (void (*)(void))cuCtxCreate_v2},
    {"cuCtxCreate", 11040, NULL}, /* a form that is missing */
    {"cuCtxCreate", 12050, (void (*)(void))cuCtxCreate_v4},
    {"cuMemAdvise", 8000, NULL},
    {"cuMemAdvise", 12020, (void (*)(void))cuMemAdvise_v2},
    {"cuMemPrefetchAsync", 8000, NULL},
    {"cuMemPrefetchAsync", 12020, (void (*)(void))cuMemPrefetchAsync_v2},
    ENTRY(cuArray3DCreate, 3020),
    ENTRY(cuArrayCreate, 3020),
    ENTRY(cuArrayDestroy, 2000),
    ENTRY(cuCtxDestroy, 4000),
    ENTRY(cuCtxDisablePeerAccess, 4000),
    ENTRY(cuCtxEnablePeerAccess, 4000),
    ENTRY(cuCtxGetApiVersion, 3020),
    ENTRY(cuCtxGetCacheConfig, 3020),
    ENTRY(cuCtxGetCurrent, 4000),
    ENTRY(cuCtxGetDevice, 2000),
    ENTRY(cuCtxGetFlags, 7000),
    ENTRY(cuCtxGetId, 12000),
    ENTRY(cuCtxGetLimit, 3010),
    ENTRY(cuCtxGetStreamPriorityRange, 5050),
    ENTRY(cuCtxPopCurrent, 4000),
    ENTRY(cuCtxPushCurrent, 4000),
    ENTRY(cuCtxSetCacheConfig, 3020),
    ENTRY(cuCtxSetCurrent, 4000),
    ENTRY(cuCtxSetLimit, 3010),
    ENTRY(cuCtxSynchronize, 2000),
    ENTRY(cuDeviceCanAccessPeer, 4000),
    ENTRY(cuDeviceComputeCapability, 2000),
    ENTRY(cuDeviceGet, 2000),
    ENTRY(cuDeviceGetAttribute, 2000),
    ENTRY(cuDeviceGetByPCIBusId, 4010),
    ENTRY(cuDeviceGetCount, 2000),
    ENTRY(cuDeviceGetDefaultMemPool, 11020),
    ENTRY(cuDeviceGetMemPool, 11020),
    ENTRY(cuDeviceGetName, 2000),
    ENTRY(cuDeviceGetPCIBusId, 4010),
    ENTRY(cuDeviceGetUuid, 11040),
    ENTRY(cuDevicePrimaryCtxGetState, 7000),
    ENTRY(cuDevicePrimaryCtxRelease, 11000),
    ENTRY(cuDevicePrimaryCtxReset, 11000),
    ENTRY(cuDevicePrimaryCtxRetain, 7000),
    ENTRY(cuDevicePrimaryCtxSetFlags, 11000),
    ENTRY(cuDeviceSetMemPool, 11020),
    ENTRY(cuDeviceTotalMem, 3020),
    ENTRY(cuDriverGetVersion, 2020),
    ENTRY(cuEventCreate, 2000),
    ENTRY(cuEventDestroy, 4000),
    ENTRY(cuEventElapsedTime, 12080),
    ENTRY(cuEventQuery, 2000),
    ENTRY(cuEventRecord, 2000),
    ENTRY(cuEventSynchronize, 2000),
    ENTRY(cuFuncGetAttribute, 2020),
    ENTRY(cuFuncGetName, 12030),
    ENTRY(cuFuncSetAttribute, 9000),
    ENTRY(cuFuncSetCacheConfig, 3000),
    ENTRY(cuGetErrorName, 6000),
    ENTRY(cuGetErrorString, 6000),
    ENTRY(cuInit, 2000),
    ENTRY(cuLaunchCooperativeKernel, 9000),
    ENTRY(cuLaunchHostFunc, 10000),
    ENTRY(cuLaunchKernel, 4000),
    ENTRY(cuLaunchKernelEx, 11060),
    ENTRY(cuMemAddressFree, 10020),
    ENTRY(cuMemAddressReserve, 10020),
    ENTRY(cuMemAlloc, 3020),
    ENTRY(cuMemAllocAsync, 11020),
    ENTRY(cuMemAllocFromPoolAsync, 11020),
    ENTRY(cuMemAllocHost, 3020),
    ENTRY(cuMemAllocManaged, 6000),
    ENTRY(cuMemAllocPitch, 3020),
    ENTRY(cuMemCreate, 10020),
    ENTRY(cuMemFree, 3020),
    ENTRY(cuMemFreeAsync, 11020),
    ENTRY(cuMemFreeHost, 2000),
    ENTRY(cuMemGetAccess, 10020),
    ENTRY(cuMemGetAddressRange, 3020),
    ENTRY(cuMemGetAllocationGranularity, 10020),
    ENTRY(cuMemGetAllocationPropertiesFromHandle, 10020),
    ENTRY(cuMemGetInfo, 3020),
    ENTRY(cuMemHostAlloc, 2020),
    ENTRY(cuMemHostGetDevicePointer, 3020),
    ENTRY(cuMemHostGetFlags, 2030),
    ENTRY(cuMemHostRegister, 6050),
    ENTRY(cuMemHostUnregister, 4000),
    ENTRY(cuMemMap, 10020),
    ENTRY(cuMemPoolCreate, 11020),
    ENTRY(cuMemPoolDestroy, 11020),
    ENTRY(cuMemPoolGetAccess, 11020),
    ENTRY(cuMemPoolGetAttribute, 11020),
    ENTRY(cuMemPoolSetAccess, 11020),
    ENTRY(cuMemPoolSetAttribute, 11020),
    ENTRY(cuMemPoolTrimTo, 11020),
    ENTRY(cuMemRangeGetAttribute, 8000),
    ENTRY(cuMemRelease, 10020),
    ENTRY(cuMemRetainAllocationHandle, 11000),
    ENTRY(cuMemSetAccess, 10020),
    ENTRY(cuMemUnmap, 10020),
    ENTRY(cuMemcpy, 4000),
    ENTRY(cuMemcpy2D, 3020),
    ENTRY(cuMemcpy2DAsync, 3020),
    ENTRY(cuMemcpyAsync, 4000),
    ENTRY(cuMemcpyDtoD, 3020),
    ENTRY(cuMemcpyDtoDAsync, 3020),
    ENTRY(cuMemcpyDtoH, 3020),
    ENTRY(cuMemcpyDtoHAsync, 3020),
    ENTRY(cuMemcpyHtoD, 3020),
    ENTRY(cuMemcpyHtoDAsync, 3020),
    ENTRY(cuMemcpyPeer, 4000),
    ENTRY(cuMemcpyPeerAsync, 4000),
    ENTRY(cuMemsetD16, 3020),
    ENTRY(cuMemsetD16Async, 3020),
    ENTRY(cuMemsetD2D16, 3020),
    ENTRY(cuMemsetD2D16Async, 3020),
    ENTRY(cuMemsetD2D32, 3020),
    ENTRY(cuMemsetD2D32Async, 3020),
    ENTRY(cuMemsetD2D8, 3020),
    ENTRY(cuMemsetD2D8Async, 3020),
    ENTRY(cuMemsetD32, 3020),
    ENTRY(cuMemsetD32Async, 3020),
    ENTRY(cuMemsetD8, 3020),
    ENTRY(cuMemsetD8Async, 3020),
    ENTRY(cuOccupancyAvailableDynamicSMemPerBlock, 11000),
    ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050),
    ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000),
    ENTRY(cuOccupancyMaxPotentialBlockSize, 6050),
    ENTRY(cuPointerGetAttribute, 4000),
    ENTRY(cuProfilerStart, 4000),
    ENTRY(cuProfilerStop, 4000),
    ENTRY(cuStreamAddCallback, 5000),
    ENTRY(cuStreamAttachMemAsync, 6000),
    ENTRY(cuStreamCreate, 2000),
    ENTRY(cuStreamCreateWithPriority, 5050),
    ENTRY(cuStreamDestroy, 4000),
    ENTRY(cuStreamGetFlags, 5050),
    ENTRY(cuStreamGetPriority, 5050),
    ENTRY(cuStreamQuery, 2000),
    ENTRY(cuStreamSynchronize, 2000),
    ENTRY(cuStreamWaitEvent, 3020),
    ENTRY(cuSurfObjectCreate, 5000),
    ENTRY(cuSurfObjectDestroy, 5000),
    ENTRY(cuTensorMapEncodeTiled, 12000),
    ENTRY(cuTexObjectCreate, 5000),
    ENTRY(cuTexObjectDestroy, 5000),
#undef ENTRY
};

/* The newest form that the version has. A name that no version has is another answer than
 * one that came later. */
cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                             unsigned version, unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found)
{
    if (!symbol || !function || version > CUDART_VERSION ||
        flags > cudaEnablePerThreadDefaultStream)
        return set(cudaErrorInvalidValue);
    if (flags == cudaEnablePerThreadDefaultStream) return set(cudaErrorNotSupported);
    enum cudaDriverEntryPointQueryResult how = cudaDriverEntryPointSymbolNotFound;
    *function = NULL;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        const struct entry *const e = &entries[i];
        if (strcmp(e->name, symbol) != 0) continue;
        if (e->since <= version) {
            *function = (void *)(uintptr_t)e->function;
            how = e->function ? cudaDriverEntryPointSuccess
                              : cudaDriverEntryPointSymbolNotFound;
        } else if (how != cudaDriverEntryPointSuccess) {
            how = cudaDriverEntryPointVersionNotSufficent;
        }
    }
    if (found) *found = how;
    return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function,
                                    unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *found)
{
    return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags,
                                            found);
}
