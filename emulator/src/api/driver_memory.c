/* The driver API's memory, streams and events: the runtime's, under other names. A call
 * that allocates, frees or copies is itself what faults name, so those go past the
 * runtime's calls to what is behind them. */
#include <string.h>

#include "api/driver.h"
#include "base/device.h"
#include "base/errors.h"
#include "base/now.h"
#include "memory/allocations.h"
#include "memory/array.h"
#include "memory/copies.h"
#include "memory/memory.h"
#include "memory/streams.h"

#define CALLER __builtin_return_address(0)
#define POINTER(device_pointer) ((void *)(uintptr_t)(device_pointer))

/* ---- allocated and freed ---- */

static CUresult allocate(CUdeviceptr *pointer, size_t bytes, enum cudaMemoryType type,
                         const char *call, const void *pc)
{
    NEED_CONTEXT;
    EMU_ALONE;
    void *p = NULL;
    if (!pointer || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t error = emu_allocate(&p, bytes, type, call, pc);
    *pointer = (CUdeviceptr)(uintptr_t)p;
    if (error == cudaSuccess) emu_context_owns(*pointer);
    return (CUresult)error;
}

CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes)
{
    return allocate(pointer, bytes, cudaMemoryTypeDevice, "cuMemAlloc", CALLER);
}

CUresult cuMemAllocPitch(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height,
                         unsigned int element_bytes)
{
    enum { PITCH_STEP = 512 };
    if (!pitch || width > SIZE_MAX / 2 ||
        (element_bytes != 4 && element_bytes != 8 && element_bytes != 16))
        return CUDA_ERROR_INVALID_VALUE;
    *pitch = (width + PITCH_STEP - 1) / PITCH_STEP * PITCH_STEP;
    if (*pitch > 0 && height > SIZE_MAX / *pitch) return CUDA_ERROR_OUT_OF_MEMORY;
    return allocate(pointer, *pitch * height, cudaMemoryTypeDevice, "cuMemAllocPitch",
                    CALLER);
}

CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned int flags)
{
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(pointer, bytes, cudaMemoryTypeManaged, "cuMemAllocManaged", CALLER);
}

static CUresult allocate_on_host(void **pointer, size_t bytes, const char *call,
                                 const void *pc)
{
    CUdeviceptr p = 0;
    if (!pointer) return CUDA_ERROR_INVALID_VALUE;
    const CUresult error = allocate(&p, bytes, cudaMemoryTypeHost, call, pc);
    *pointer = POINTER(p);
    return error;
}

CUresult cuMemAllocHost(void **pointer, size_t bytes)
{
    return allocate_on_host(pointer, bytes, "cuMemAllocHost", CALLER);
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags)
{
    const unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                           CU_MEMHOSTALLOC_WRITECOMBINED;
    if (flags & ~known) return CUDA_ERROR_INVALID_VALUE;
    return allocate_on_host(pointer, bytes, "cuMemHostAlloc", CALLER);
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
    NEED_CONTEXT;
    void *p = NULL;
    if (!pointer) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t error = emu_allocate_async(&p, bytes, stream, CALLER);
    *pointer = (CUdeviceptr)(uintptr_t)p;
    return emu_result_of(error);
}

static CUresult deallocate(void *pointer, bool pinned, const void *pc)
{
    NEED_CONTEXT;
    EMU_ALONE;
    if (!pointer) return CUDA_ERROR_INVALID_VALUE;
    emu_host_waits_for_device(-1);
    return (CUresult)emu_deallocate(pointer, pinned, pc);
}

CUresult cuMemFree(CUdeviceptr pointer)
{
    return deallocate(POINTER(pointer), false, CALLER);
}

CUresult cuMemFreeHost(void *pointer)
{
    return deallocate(pointer, true, CALLER);
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream)
{
    NEED_CONTEXT;
    return emu_result_of(emu_free_async(POINTER(pointer), stream, CALLER));
}

/* ---- what is known of it ---- */

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total)
{
    SAME_AS(cudaMemGetInfo(free_bytes, total));
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *device, void *host, unsigned int flags)
{
    NEED_CONTEXT;
    void *p = NULL;
    const cudaError_t error = cudaHostGetDevicePointer(&p, host, flags);
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = (CUdeviceptr)(uintptr_t)p;
    return emu_result_of(error);
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *host)
{
    SAME_AS(cudaHostGetFlags(flags, host));
}

CUresult cuMemHostRegister(void *host, size_t bytes, unsigned int flags)
{
    SAME_AS(cudaHostRegister(host, bytes, flags));
}

CUresult cuMemHostUnregister(void *host)
{
    SAME_AS(cudaHostUnregister(host));
}

CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer)
{
    NEED_CONTEXT;
    EMU_ALONE;
    const struct emu_allocation *const a = emu_allocation_of(POINTER(pointer));
    if (!a) return CUDA_ERROR_NOT_FOUND;
    if (base) *base = (CUdeviceptr)(uintptr_t)a->base;
    if (bytes) *bytes = a->bytes;
    return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute,
                               CUdeviceptr pointer)
{
    struct cudaPointerAttributes all;
    const cudaError_t error = cudaPointerGetAttributes(&all, POINTER(pointer));
    if (error != cudaSuccess) return emu_result_of(error);
    if (!value || all.type == cudaMemoryTypeUnregistered) return CUDA_ERROR_INVALID_VALUE;
    const struct emu_allocation *const a = emu_allocation_of(POINTER(pointer));
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: *(CUcontext *)value = emu_current_context(); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)value =
            all.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)value = (CUdeviceptr)(uintptr_t)all.devicePointer;
        break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!all.hostPointer) return CUDA_ERROR_INVALID_VALUE;
        *(void **)value = all.hostPointer;
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)value = all.type == cudaMemoryTypeManaged;
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *(int *)value = all.device; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        if (!a) return CUDA_ERROR_INVALID_VALUE;
        *(CUdeviceptr *)value = (CUdeviceptr)(uintptr_t)a->base;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        if (!a) return CUDA_ERROR_INVALID_VALUE;
        *(size_t *)value = a->bytes;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* ---- copied ---- */

static CUresult copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                     CUstream stream, enum emu_host waits, const void *pc)
{
    NEED_CONTEXT;
    return (CUresult)emu_copy(to, bytes, from, bytes, bytes, 1, kind, stream, waits, pc);
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy(POINTER(to), POINTER(from), bytes, cudaMemcpyDefault, 0, WAITS, CALLER);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return copy(POINTER(to), POINTER(from), bytes, cudaMemcpyDefault, stream, GOES_ON,
                CALLER);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    return copy(POINTER(to), from, bytes, cudaMemcpyHostToDevice, 0, WAITS, CALLER);
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    return copy(to, POINTER(from), bytes, cudaMemcpyDeviceToHost, 0, WAITS, CALLER);
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy(POINTER(to), POINTER(from), bytes, cudaMemcpyDeviceToDevice, 0, WAITS,
                CALLER);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                           CUstream stream)
{
    return copy(POINTER(to), from, bytes, cudaMemcpyHostToDevice, stream, GOES_ON,
                CALLER);
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    return copy(to, POINTER(from), bytes, cudaMemcpyDeviceToHost, stream, GOES_ON,
                CALLER);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                           CUstream stream)
{
    return copy(POINTER(to), POINTER(from), bytes, cudaMemcpyDeviceToDevice, stream,
                GOES_ON, CALLER);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, size_t bytes)
{
    if (!to_context || !from_context) return CUDA_ERROR_INVALID_CONTEXT;
    SAME_AS(cudaMemcpyPeer(POINTER(to), to_context->device, POINTER(from),
                           from_context->device, bytes));
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, size_t bytes, CUstream stream)
{
    if (!to_context || !from_context) return CUDA_ERROR_INVALID_CONTEXT;
    SAME_AS(cudaMemcpyPeerAsync(POINTER(to), to_context->device, POINTER(from),
                                from_context->device, bytes, stream));
}

/* Where one side of a copy begins, and its pitch: 0 means that the rows lie one right
 * behind the other. NULL for an array that is none. */
static char *side_of(CUmemorytype type, const void *host, CUdeviceptr device,
                     CUarray array, size_t x, size_t y, size_t width, size_t *pitch)
{
    size_t rows, element;
    if (type == CU_MEMORYTYPE_ARRAY)
        return array ? emu_array_place(array, x, y, 0, pitch, &rows, &element) : NULL;
    if (*pitch == 0) *pitch = width;
    return (char *)(type == CU_MEMORYTYPE_HOST ? host : POINTER(device)) + y * *pitch + x;
}

static CUresult copy_2d(const CUDA_MEMCPY2D *what, CUstream stream, enum emu_host waits,
                        const void *pc)
{
    NEED_CONTEXT;
    if (!what) return CUDA_ERROR_INVALID_VALUE;
    const bool from_host = what->srcMemoryType == CU_MEMORYTYPE_HOST,
               to_host = what->dstMemoryType == CU_MEMORYTYPE_HOST,
               unified = what->srcMemoryType == CU_MEMORYTYPE_UNIFIED ||
                         what->dstMemoryType == CU_MEMORYTYPE_UNIFIED;
    const enum cudaMemcpyKind kind =
        unified     ? cudaMemcpyDefault
        : from_host ? (to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice)
                    : (to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice);
    size_t to_pitch = what->dstPitch, from_pitch = what->srcPitch;
    char *const to =
        side_of(what->dstMemoryType, what->dstHost, what->dstDevice, what->dstArray,
                what->dstXInBytes, what->dstY, what->WidthInBytes, &to_pitch);
    const char *const from =
        side_of(what->srcMemoryType, what->srcHost, what->srcDevice, what->srcArray,
                what->srcXInBytes, what->srcY, what->WidthInBytes, &from_pitch);
    if (!to || !from) return CUDA_ERROR_INVALID_VALUE;
    return (CUresult)emu_copy(to, to_pitch, from, from_pitch, what->WidthInBytes,
                              what->Height, kind, stream, waits, pc);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *what)
{
    return copy_2d(what, 0, WAITS, CALLER);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *what, CUstream stream)
{
    return copy_2d(what, stream, GOES_ON, CALLER);
}

/* ---- filled ---- */

static CUresult fill_rows(CUdeviceptr pointer, size_t pitch, unsigned value,
                          size_t element, size_t width, size_t height, CUstream stream,
                          enum emu_host waits, const void *pc)
{
    NEED_CONTEXT;
    if (width > SIZE_MAX / element) return CUDA_ERROR_INVALID_VALUE;
    return (CUresult)emu_fill(POINTER(pointer), pitch, value, element, width * element,
                              height, stream, waits, pc);
}

static CUresult fill(CUdeviceptr pointer, unsigned value, size_t element, size_t count,
                     CUstream stream, enum emu_host waits, const void *pc)
{
    return fill_rows(pointer, count * element, value, element, count, 1, stream, waits,
                     pc);
}

CUresult cuMemsetD8(CUdeviceptr pointer, unsigned char value, size_t count)
{
    return fill(pointer, value, 1, count, 0, WAITS, CALLER);
}

CUresult cuMemsetD16(CUdeviceptr pointer, unsigned short value, size_t count)
{
    return fill(pointer, value, 2, count, 0, WAITS, CALLER);
}

CUresult cuMemsetD32(CUdeviceptr pointer, unsigned int value, size_t count)
{
    return fill(pointer, value, 4, count, 0, WAITS, CALLER);
}

CUresult cuMemsetD8Async(CUdeviceptr pointer, unsigned char value, size_t count,
                         CUstream stream)
{
    return fill(pointer, value, 1, count, stream, GOES_ON, CALLER);
}

CUresult cuMemsetD16Async(CUdeviceptr pointer, unsigned short value, size_t count,
                          CUstream stream)
{
    return fill(pointer, value, 2, count, stream, GOES_ON, CALLER);
}

CUresult cuMemsetD32Async(CUdeviceptr pointer, unsigned int value, size_t count,
                          CUstream stream)
{
    return fill(pointer, value, 4, count, stream, GOES_ON, CALLER);
}

CUresult cuMemsetD2D8(CUdeviceptr pointer, size_t pitch, unsigned char value,
                      size_t width, size_t height)
{
    return fill_rows(pointer, pitch, value, 1, width, height, 0, WAITS, CALLER);
}

CUresult cuMemsetD2D8Async(CUdeviceptr pointer, size_t pitch, unsigned char value,
                           size_t width, size_t height, CUstream stream)
{
    return fill_rows(pointer, pitch, value, 1, width, height, stream, GOES_ON, CALLER);
}

CUresult cuMemsetD2D16(CUdeviceptr pointer, size_t pitch, unsigned short value,
                       size_t width, size_t height)
{
    return fill_rows(pointer, pitch, value, 2, width, height, 0, WAITS, CALLER);
}

CUresult cuMemsetD2D16Async(CUdeviceptr pointer, size_t pitch, unsigned short value,
                            size_t width, size_t height, CUstream stream)
{
    return fill_rows(pointer, pitch, value, 2, width, height, stream, GOES_ON, CALLER);
}

CUresult cuMemsetD2D32(CUdeviceptr pointer, size_t pitch, unsigned int value,
                       size_t width, size_t height)
{
    return fill_rows(pointer, pitch, value, 4, width, height, 0, WAITS, CALLER);
}

CUresult cuMemsetD2D32Async(CUdeviceptr pointer, size_t pitch, unsigned int value,
                            size_t width, size_t height, CUstream stream)
{
    return fill_rows(pointer, pitch, value, 4, width, height, stream, GOES_ON, CALLER);
}

/* ---- streams and events ---- */

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    SAME_AS(cudaStreamCreateWithFlags(stream, flags));
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority)
{
    SAME_AS(cudaStreamCreateWithPriority(stream, flags, priority));
}

CUresult cuStreamDestroy(CUstream stream)
{
    SAME_AS(cudaStreamDestroy(stream));
}

CUresult cuStreamSynchronize(CUstream stream)
{
    SAME_AS(cudaStreamSynchronize(stream));
}

CUresult cuStreamQuery(CUstream stream)
{
    SAME_AS(cudaStreamQuery(stream));
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
    SAME_AS(cudaStreamWaitEvent(stream, event, flags));
}

CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags)
{
    SAME_AS(cudaStreamGetFlags(stream, flags));
}

CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
    SAME_AS(cudaStreamGetPriority(stream, priority));
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data,
                             unsigned int flags)
{
    /* The two enumerations of errors are one kind of integer with the same values. */
    union {
        CUstreamCallback driver;
        cudaStreamCallback_t runtime;
    } same = {.driver = callback};
    SAME_AS(cudaStreamAddCallback(stream, same.runtime, data, flags));
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    SAME_AS(cudaLaunchHostFunc(stream, function, data));
}

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    SAME_AS(cudaEventCreateWithFlags(event, flags));
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    SAME_AS(cudaEventRecord(event, stream));
}

CUresult cuEventSynchronize(CUevent event)
{
    SAME_AS(cudaEventSynchronize(event));
}

CUresult cuEventQuery(CUevent event)
{
    SAME_AS(cudaEventQuery(event));
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    SAME_AS(cudaEventElapsedTime(milliseconds, start, end));
}

CUresult cuEventDestroy(CUevent event)
{
    SAME_AS(cudaEventDestroy(event));
}
