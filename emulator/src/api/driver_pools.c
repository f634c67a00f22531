/* The driver API's pools of memory, and hints about managed memory: the runtime's. */
#include "api/driver.h"
#include "memory/memory.h"

#define CALLER __builtin_return_address(0)

/* The two APIs lay these out alike. */
static struct cudaMemLocation location_of(CUmemLocation location)
{
    return (struct cudaMemLocation){(enum cudaMemLocationType)location.type, location.id};
}

/* ---- pools ---- */

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    if (!emu_driver_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    return emu_result_of(cudaDeviceGetDefaultMemPool(pool, device));
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    if (!emu_driver_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    return emu_result_of(cudaDeviceGetMemPool(pool, device));
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    if (!emu_driver_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    return emu_result_of(cudaDeviceSetMemPool(device, pool));
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *what)
{
    if (!what) return CUDA_ERROR_INVALID_VALUE;
    const struct cudaMemPoolProps same = {
        .allocType = (enum cudaMemAllocationType)what->allocType,
        .handleTypes = (enum cudaMemAllocationHandleType)what->handleTypes,
        .location = location_of(what->location),
        .win32SecurityAttributes = what->win32SecurityAttributes,
        .maxSize = what->maxSize};
    SAME_AS(cudaMemPoolCreate(pool, &same));
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    SAME_AS(cudaMemPoolDestroy(pool));
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes_to_keep)
{
    SAME_AS(cudaMemPoolTrimTo(pool, bytes_to_keep));
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                               void *value)
{
    SAME_AS(cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)attribute, value));
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute,
                               void *value)
{
    SAME_AS(cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)attribute, value));
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *descriptions,
                            size_t count)
{
    SAME_AS(cudaMemPoolSetAccess(pool, (const struct cudaMemAccessDesc *)descriptions,
                                 count));
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *flags, CUmemoryPool pool,
                            CUmemLocation *location)
{
    SAME_AS(cudaMemPoolGetAccess((enum cudaMemAccessFlags *)flags, pool,
                                 (struct cudaMemLocation *)location));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool,
                                 CUstream stream)
{
    NEED_CONTEXT;
    void *p = NULL;
    if (!pointer) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t error = emu_allocate_from_pool_async(
        &p, bytes, pool, stream, "cuMemAllocFromPoolAsync", CALLER);
    *pointer = (CUdeviceptr)(uintptr_t)p;
    return emu_result_of(error);
}

/* ---- hints ---- */

CUresult cuMemAdvise(CUdeviceptr pointer, size_t bytes, CUmem_advise advice,
                     CUmemLocation location)
{
    SAME_AS(cudaMemAdvise((const void *)(uintptr_t)pointer, bytes,
                          (enum cudaMemoryAdvise)advice, location_of(location)));
}

CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUmemLocation location,
                            unsigned int flags, CUstream stream)
{
    SAME_AS(cudaMemPrefetchAsync((const void *)(uintptr_t)pointer, bytes,
                                 location_of(location), flags, stream));
}

CUresult cuMemRangeGetAttribute(void *data, size_t data_bytes,
                                CUmem_range_attribute attribute, CUdeviceptr pointer,
                                size_t bytes)
{
    SAME_AS(cudaMemRangeGetAttribute(data, data_bytes,
                                     (enum cudaMemRangeAttribute)attribute,
                                     (const void *)(uintptr_t)pointer, bytes));
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr pointer, size_t bytes,
                                unsigned int flags)
{
    SAME_AS(cudaStreamAttachMemAsync(stream, (void *)(uintptr_t)pointer, bytes, flags));
}
