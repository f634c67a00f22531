/* Contexts of the driver API: which device each thread of the host works with. */
#include <stdlib.h>
#include <string.h>

#include "api/driver.h"
#include "base/device.h"
#include "base/errors.h"
#include "base/now.h"
#include "base/room.h"
#include "memory/allocations.h"
#include "memory/streams.h"

enum { MOST_CONTEXTS = 64 }; /* on one thread's stack */

static struct CUctx_st primary[EMU_MOST_DEVICES];
static unsigned long long last_id;
static _Thread_local CUcontext stack[MOST_CONTEXTS];
static _Thread_local int depth;

/* ---- which is current ---- */

static CUcontext primary_of(int device)
{
    if (!primary[device].id)
        primary[device] = (struct CUctx_st){
            .device = device, .primary = true, .id = ++last_id, .flags = 0};
    return &primary[device];
}

/* cudaSetDevice() puts a primary context in the place of the current one. */
CUcontext emu_current_context(void)
{
    if (depth == 0 && !emu_uses_runtime()) return NULL;
    if (depth == 0 || !stack[depth - 1] || stack[depth - 1]->device != emu_device()) {
        const CUcontext context = primary_of(emu_device());
        context->alive = true;
        if (depth == 0) return context;
        if (stack[depth - 1]) stack[depth - 1] = context;
    }
    return stack[depth - 1];
}

CUresult emu_driver_ready(void)
{
    if (!emu_driver_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    const CUcontext context = emu_current_context();
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    return context->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

static CUresult known(CUdevice device)
{
    if (!emu_driver_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    return emu_is_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/* Whatever runs on this thread from now on is the device's business. */
static void make_current(CUcontext context)
{
    if (context) emu_set_device(context->device);
}

static CUresult push(CUcontext context)
{
    if (depth == MOST_CONTEXTS) return CUDA_ERROR_OUT_OF_MEMORY;
    stack[depth++] = context;
    make_current(context);
    return CUDA_SUCCESS;
}

static void pop(void)
{
    if (depth > 0 && --depth > 0) make_current(stack[depth - 1]);
}

/* ---- made, destroyed, made current ---- */

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
    EMU_ALONE;
    const CUresult refused = known(device);
    if (refused != CUDA_SUCCESS) return refused;
    if (!context || (flags & ~(unsigned)CU_CTX_FLAGS_MASK))
        return CUDA_ERROR_INVALID_VALUE;
    const CUcontext made = emu_zeros("for a context", 1, sizeof *made);
    *made = (struct CUctx_st){
        .device = device, .flags = flags, .alive = true, .id = ++last_id};
    *context = made;
    return push(made);
}

CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *params, unsigned int flags,
                     CUdevice device)
{
    if (params && (params->numExecAffinityParams || params->cigParams))
        return CUDA_ERROR_NOT_SUPPORTED;
    return cuCtxCreate_v2(context, flags, device);
}

static struct owned {
    CUcontext context;
    CUdeviceptr pointer;
    unsigned number; /* of the allocation */
} *owned;
static size_t owned_count;

void emu_context_owns(CUdeviceptr pointer)
{
    const CUcontext context = emu_current_context();
    const struct emu_allocation *const a = emu_allocation_of((void *)(uintptr_t)pointer);
    if (!context || context->primary || !a) return;
    owned = emu_resized(owned, "for what contexts own", owned_count + 1, sizeof *owned);
    owned[owned_count++] = (struct owned){context, pointer, a->number};
}

static void free_owned(CUcontext context, const void *pc)
{
    size_t kept = 0;
    for (size_t i = 0; i < owned_count; i++) {
        void *const p = (void *)(uintptr_t)owned[i].pointer;
        const struct emu_allocation *const a = emu_allocation_of(p);
        const bool there = a && a->base == (char *)p && a->number == owned[i].number;
        if (there && owned[i].context == context)
            (void)emu_deallocate(p, a->type == cudaMemoryTypeHost, pc);
        else if (there)
            owned[kept++] = owned[i];
    }
    owned_count = kept;
}

/* The structure stays, so that a use of the context is found. */
CUresult cuCtxDestroy(CUcontext context)
{
    EMU_ALONE;
    if (!context || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    emu_host_waits_for_device(context->device);
    if (emu_current_context() == context) pop();
    context->alive = false;
    free_owned(context, __builtin_return_address(0));
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    return context->alive ? push(context) : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    const CUcontext current = emu_current_context();
    if (!current) return CUDA_ERROR_INVALID_CONTEXT;
    if (context) *context = current;
    if (depth == 0) emu_runtime_is_used(false);
    pop();
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    if (context && !context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (depth > 0)
        pop();
    else
        emu_runtime_is_used(false);
    return context ? push(context) : CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    if (!emu_driver_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = emu_current_context();
    return CUDA_SUCCESS;
}

/* ---- what is asked of it ---- */

CUresult cuCtxGetDevice(CUdevice *device)
{
    const CUresult refused = emu_driver_ready();
    if (refused != CUDA_SUCCESS) return refused;
    if (!device) return CUDA_ERROR_INVALID_VALUE;
    *device = emu_current_context()->device;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
    const CUresult refused = emu_driver_ready();
    if (refused != CUDA_SUCCESS) return refused;
    if (!flags) return CUDA_ERROR_INVALID_VALUE;
    *flags = emu_current_context()->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
    if (!context) context = emu_current_context();
    if (!context) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->alive) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (!id) return CUDA_ERROR_INVALID_VALUE;
    *id = context->id;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version)
{
    enum { SINCE_CUDA_3_2 = 3020 };
    unsigned long long id;
    const CUresult refused = cuCtxGetId(context, &id);
    if (refused != CUDA_SUCCESS) return refused;
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = SINCE_CUDA_3_2;
    return CUDA_SUCCESS;
}

#define WITH_CONTEXT(call)                                                               \
    do {                                                                                 \
        const CUresult refused = emu_driver_ready();                                     \
        return refused == CUDA_SUCCESS ? emu_result_of(call) : refused;                  \
    } while (0)

CUresult cuCtxSynchronize(void)
{
    EMU_ALONE;
    const CUresult refused = emu_driver_ready();
    if (refused != CUDA_SUCCESS) return refused;
    emu_host_waits_for_device(emu_device());
    return emu_result_of(emu_tell_device_error());
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    WITH_CONTEXT(cudaDeviceSetLimit((enum cudaLimit)limit, value));
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    WITH_CONTEXT(cudaDeviceGetLimit(value, (enum cudaLimit)limit));
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    WITH_CONTEXT(cudaDeviceGetCacheConfig((enum cudaFuncCache *)config));
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    WITH_CONTEXT(cudaDeviceSetCacheConfig((enum cudaFuncCache)config));
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    WITH_CONTEXT(cudaDeviceGetStreamPriorityRange(least, greatest));
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    if (!peer) return CUDA_ERROR_INVALID_CONTEXT;
    WITH_CONTEXT(cudaDeviceEnablePeerAccess(peer->device, flags));
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    if (!peer) return CUDA_ERROR_INVALID_CONTEXT;
    WITH_CONTEXT(cudaDeviceDisablePeerAccess(peer->device));
}

/* ---- primary contexts, which the runtime API works in ---- */

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    EMU_ALONE;
    const CUresult refused = known(device);
    if (refused != CUDA_SUCCESS) return refused;
    if (!context) return CUDA_ERROR_INVALID_VALUE;
    *context = primary_of(device);
    (*context)->users++;
    (*context)->alive = true;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    EMU_ALONE;
    const CUresult refused = known(device);
    if (refused != CUDA_SUCCESS) return refused;
    const CUcontext context = primary_of(device);
    if (context->users == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--context->users == 0 && !emu_uses_runtime()) context->alive = false;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    const CUresult refused = known(device);
    if (refused != CUDA_SUCCESS) return refused;
    const int before = emu_device();
    emu_set_device(device);
    const cudaError_t error = cudaDeviceReset();
    emu_set_device(before);
    return emu_result_of(error);
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    const CUresult refused = known(device);
    if (refused != CUDA_SUCCESS) return refused;
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK) return CUDA_ERROR_INVALID_VALUE;
    primary_of(device)->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    const CUresult refused = known(device);
    if (refused != CUDA_SUCCESS) return refused;
    if (!flags || !active) return CUDA_ERROR_INVALID_VALUE;
    const CUcontext context = primary_of(device);
    *flags = context->flags;
    *active = context->alive || emu_uses_runtime();
    return CUDA_SUCCESS;
}
