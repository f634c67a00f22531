/* The driver API's launches. A function here is a kernel that a program, or a module, has
 * registered, and its handle the address by which the runtime knows it. */
#include <stddef.h>
#include <string.h>

#include "api/driver.h"
#include "base/device.h"
#include "base/errors.h"
#include "base/functions.h"
#include "base/now.h"
#include "emulator_runtime.h"

static const void *address_of(CUfunction function)
{
    return (const void *)function;
}

static const struct emu_known_kernel *kernel_of(CUfunction function)
{
    return emu_find_kernel(address_of(function));
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol)
{
    if (!function) return set(cudaErrorInvalidValue);
    if (!emu_find_kernel(symbol)) return set(cudaErrorInvalidDeviceFunction);
    *function = (CUfunction)(uintptr_t)symbol;
    return cudaSuccess;
}

/* ---- launches ---- */

/* The buffer that `extra` names; or NULL. */
static char *buffer_in(void **extra)
{
    char *buffer = NULL;
    for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2)
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
    return buffer;
}

static CUresult launch(CUfunction function, const struct emu_launch *shape,
                       void **parameters, void **extra)
{
    static void *none[1];
    const CUresult refused = emu_driver_ready();
    if (refused != CUDA_SUCCESS) return refused;
    const struct emu_known_kernel *const k = kernel_of(function);
    if (!k) return CUDA_ERROR_INVALID_HANDLE;
    char *const buffer = buffer_in(extra);
    if (parameters && buffer) return CUDA_ERROR_INVALID_VALUE;
    if (!parameters && !buffer) parameters = none;
    const cudaError_t error =
        (cudaError_t)k->launch(k->function, k->name, shape, parameters, buffer);
    /* Too many threads: here the driver calls wrong what the runtime calls a wrong
     * configuration. */
    if (error == cudaErrorInvalidConfiguration) {
        (void)cudaGetLastError();
        return CUDA_ERROR_INVALID_VALUE;
    }
    return emu_result_of(error);
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared, CUstream stream,
                        void **parameters, void **extra)
{
    const struct emu_launch shape = {.grid = {grid_x, grid_y, grid_z},
                                     .block = {block_x, block_y, block_z},
                                     .dynamic_shared = shared,
                                     .stream = stream};
    return launch(function, &shape, parameters, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x,
                                   unsigned int grid_y, unsigned int grid_z,
                                   unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int shared,
                                   CUstream stream, void **parameters)
{
    const struct emu_launch shape = {.grid = {grid_x, grid_y, grid_z},
                                     .block = {block_x, block_y, block_z},
                                     .dynamic_shared = shared,
                                     .cooperative = true,
                                     .stream = stream};
    return launch(function, &shape, parameters, NULL);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **parameters, void **extra)
{
    if (!config || (config->numAttrs && !config->attrs)) return CUDA_ERROR_INVALID_VALUE;
    struct emu_launch shape = {
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .dynamic_shared = config->sharedMemBytes,
        .stream = config->hStream};
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttributeValue *value = &config->attrs[i].value;
        switch (config->attrs[i].id) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            shape.cooperative = value->cooperative != 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            shape.cluster[0] = value->clusterDim.x;
            shape.cluster[1] = value->clusterDim.y;
            shape.cluster[2] = value->clusterDim.z;
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
            shape.early = value->programmaticStreamSerializationAllowed != 0;
            break;
        default: break; /* what steers nothing here */
        }
    }
    return launch(function, &shape, parameters, extra);
}

/* ---- what is known of a function ---- */

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction f)
{
    struct cudaFuncAttributes all;
    if (!kernel_of(f)) return CUDA_ERROR_INVALID_HANDLE;
    const cudaError_t error = cudaFuncGetAttributes(&all, address_of(f));
    if (error != cudaSuccess) return emu_result_of(error);
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = all.maxThreadsPerBlock; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)all.sharedSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)all.constSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)all.localSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = all.numRegs; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = all.ptxVersion; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = all.binaryVersion; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = all.cacheModeCA; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = all.maxDynamicSharedSizeBytes;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = all.preferredShmemCarveout;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute attribute, int value)
{
    if (!kernel_of(f)) return CUDA_ERROR_INVALID_HANDLE;
    return emu_result_of(
        cudaFuncSetAttribute(address_of(f), (enum cudaFuncAttribute)attribute, value));
}

CUresult cuFuncSetCacheConfig(CUfunction f, CUfunc_cache config)
{
    if (!kernel_of(f)) return CUDA_ERROR_INVALID_HANDLE;
    return emu_result_of(
        cudaFuncSetCacheConfig(address_of(f), (enum cudaFuncCache)config));
}

CUresult cuFuncGetName(const char **name, CUfunction f)
{
    const struct emu_known_kernel *const k = kernel_of(f);
    if (!k) return CUDA_ERROR_INVALID_HANDLE;
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = k->name;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction f,
                                                              int block_size,
                                                              size_t shared,
                                                              unsigned int flags)
{
    if (!kernel_of(f)) return CUDA_ERROR_INVALID_HANDLE;
    return emu_result_of(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, address_of(f), block_size, shared, flags));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction f,
                                                     int block_size, size_t shared)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks, f, block_size, shared, cudaOccupancyDefault);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction f, int blocks,
                                                 int block_size)
{
    if (!kernel_of(f)) return CUDA_ERROR_INVALID_HANDLE;
    return emu_result_of(cudaOccupancyAvailableDynamicSMemPerBlock(bytes, address_of(f),
                                                                   blocks, block_size));
}

/* The largest block of those that fill most of a multiprocessor. */
CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction f,
                                          CUoccupancyB2DSize shared_of, size_t shared,
                                          int limit)
{
    enum { STEP = 32 };
    int most = 0, threads, blocks;
    const CUresult error =
        cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
    if (error != CUDA_SUCCESS) return error;
    if (!grid || !block) return CUDA_ERROR_INVALID_VALUE;
    if (limit > 0 && limit < threads) threads = limit;
    for (int size = (threads + STEP - 1) / STEP * STEP; size > 0; size -= STEP) {
        const int tried = size < threads ? size : threads;
        const CUresult refused = cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, f, tried, shared_of ? shared_of(tried) : shared);
        if (refused != CUDA_SUCCESS) return refused;
        if (blocks * tried <= most) continue;
        most = blocks * tried;
        *block = tried;
        *grid = blocks * emu_gpu()->prop.multiProcessorCount;
    }
    return most ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
