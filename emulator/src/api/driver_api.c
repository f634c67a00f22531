/* The driver API's questions about devices, answered by the runtime API. */
#include <stdio.h>

#include "api/driver.h"
#include "base/device.h"
#include "cudaProfiler.h"

static bool initialised;

bool emu_driver_initialised(void)
{
    return initialised || emu_uses_runtime();
}

/* CUDA_SUCCESS, or why nothing can be said of the device. */
static CUresult known(const void *result, CUdevice device)
{
    if (!emu_driver_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) return emu_result_of(error);
    if (device < 0 || device >= count) return CUDA_ERROR_INVALID_DEVICE;
    return result ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuInit(unsigned int flags)
{
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    initialised = true;
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
    return emu_result_of(cudaDriverGetVersion(version));
}

CUresult cuProfilerStart(void)
{
    if (!emu_driver_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    return emu_result_of(cudaProfilerStart());
}

CUresult cuProfilerStop(void)
{
    if (!emu_driver_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    return emu_result_of(cudaProfilerStop());
}

static const char *name_of(CUresult error)
{
#define NAME(error)                                                                      \
    case error: return #error
    switch (error) {
        NAME(CUDA_SUCCESS);
        NAME(CUDA_ERROR_INVALID_VALUE);
        NAME(CUDA_ERROR_OUT_OF_MEMORY);
        NAME(CUDA_ERROR_NOT_INITIALIZED);
        NAME(CUDA_ERROR_DEINITIALIZED);
        NAME(CUDA_ERROR_PROFILER_DISABLED);
        NAME(CUDA_ERROR_PROFILER_NOT_INITIALIZED);
        NAME(CUDA_ERROR_PROFILER_ALREADY_STARTED);
        NAME(CUDA_ERROR_PROFILER_ALREADY_STOPPED);
        NAME(CUDA_ERROR_STUB_LIBRARY);
        NAME(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
        NAME(CUDA_ERROR_DEVICE_UNAVAILABLE);
        NAME(CUDA_ERROR_NO_DEVICE);
        NAME(CUDA_ERROR_INVALID_DEVICE);
        NAME(CUDA_ERROR_DEVICE_NOT_LICENSED);
        NAME(CUDA_ERROR_INVALID_IMAGE);
        NAME(CUDA_ERROR_INVALID_CONTEXT);
        NAME(CUDA_ERROR_CONTEXT_ALREADY_CURRENT);
        NAME(CUDA_ERROR_MAP_FAILED);
        NAME(CUDA_ERROR_UNMAP_FAILED);
        NAME(CUDA_ERROR_ARRAY_IS_MAPPED);
        NAME(CUDA_ERROR_ALREADY_MAPPED);
        NAME(CUDA_ERROR_NO_BINARY_FOR_GPU);
        NAME(CUDA_ERROR_ALREADY_ACQUIRED);
        NAME(CUDA_ERROR_NOT_MAPPED);
        NAME(CUDA_ERROR_NOT_MAPPED_AS_ARRAY);
        NAME(CUDA_ERROR_NOT_MAPPED_AS_POINTER);
        NAME(CUDA_ERROR_ECC_UNCORRECTABLE);
        NAME(CUDA_ERROR_UNSUPPORTED_LIMIT);
        NAME(CUDA_ERROR_CONTEXT_ALREADY_IN_USE);
        NAME(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
        NAME(CUDA_ERROR_INVALID_PTX);
        NAME(CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
        NAME(CUDA_ERROR_NVLINK_UNCORRECTABLE);
        NAME(CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
        NAME(CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
        NAME(CUDA_ERROR_JIT_COMPILATION_DISABLED);
        NAME(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
        NAME(CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC);
        NAME(CUDA_ERROR_CONTAINED);
        NAME(CUDA_ERROR_INVALID_SOURCE);
        NAME(CUDA_ERROR_FILE_NOT_FOUND);
        NAME(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND);
        NAME(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
        NAME(CUDA_ERROR_OPERATING_SYSTEM);
        NAME(CUDA_ERROR_INVALID_HANDLE);
        NAME(CUDA_ERROR_ILLEGAL_STATE);
        NAME(CUDA_ERROR_LOSSY_QUERY);
        NAME(CUDA_ERROR_NOT_FOUND);
        NAME(CUDA_ERROR_NOT_READY);
        NAME(CUDA_ERROR_ILLEGAL_ADDRESS);
        NAME(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
        NAME(CUDA_ERROR_LAUNCH_TIMEOUT);
        NAME(CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING);
        NAME(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
        NAME(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
        NAME(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE);
        NAME(CUDA_ERROR_CONTEXT_IS_DESTROYED);
        NAME(CUDA_ERROR_ASSERT);
        NAME(CUDA_ERROR_TOO_MANY_PEERS);
        NAME(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        NAME(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
        NAME(CUDA_ERROR_HARDWARE_STACK_ERROR);
        NAME(CUDA_ERROR_ILLEGAL_INSTRUCTION);
        NAME(CUDA_ERROR_MISALIGNED_ADDRESS);
        NAME(CUDA_ERROR_INVALID_ADDRESS_SPACE);
        NAME(CUDA_ERROR_INVALID_PC);
        NAME(CUDA_ERROR_LAUNCH_FAILED);
        NAME(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
        NAME(CUDA_ERROR_TENSOR_MEMORY_LEAK);
        NAME(CUDA_ERROR_NOT_PERMITTED);
        NAME(CUDA_ERROR_NOT_SUPPORTED);
        NAME(CUDA_ERROR_SYSTEM_NOT_READY);
        NAME(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
        NAME(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
        NAME(CUDA_ERROR_MPS_CONNECTION_FAILED);
        NAME(CUDA_ERROR_MPS_RPC_FAILURE);
        NAME(CUDA_ERROR_MPS_SERVER_NOT_READY);
        NAME(CUDA_ERROR_MPS_MAX_CLIENTS_REACHED);
        NAME(CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED);
        NAME(CUDA_ERROR_MPS_CLIENT_TERMINATED);
        NAME(CUDA_ERROR_CDP_NOT_SUPPORTED);
        NAME(CUDA_ERROR_CDP_VERSION_MISMATCH);
        NAME(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        NAME(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        NAME(CUDA_ERROR_STREAM_CAPTURE_MERGE);
        NAME(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
        NAME(CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        NAME(CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
        NAME(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        NAME(CUDA_ERROR_CAPTURED_EVENT);
        NAME(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
        NAME(CUDA_ERROR_TIMEOUT);
        NAME(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
        NAME(CUDA_ERROR_EXTERNAL_DEVICE);
        NAME(CUDA_ERROR_INVALID_CLUSTER_SIZE);
        NAME(CUDA_ERROR_FUNCTION_NOT_LOADED);
        NAME(CUDA_ERROR_INVALID_RESOURCE_TYPE);
        NAME(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
        NAME(CUDA_ERROR_KEY_ROTATION);
        NAME(CUDA_ERROR_UNKNOWN);
    }
#undef NAME
    return NULL;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    *name = name_of(error);
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    *text = name_of(error) ? cudaGetErrorString((cudaError_t)error) : NULL;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetCount(int *count)
{
    if (!emu_driver_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    return emu_result_of(cudaGetDeviceCount(count));
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    const CUresult refused = known(device, ordinal);
    if (refused == CUDA_SUCCESS) *device = ordinal;
    return refused;
}

CUresult cuDeviceGetName(char *name, int bytes, CUdevice device)
{
    const CUresult refused = known(name, device);
    if (refused == CUDA_SUCCESS)
        snprintf(name, (size_t)bytes, "%s", emu_gpu()->prop.name);
    return refused;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    const CUresult refused = known(bytes, device);
    if (refused == CUDA_SUCCESS) *bytes = emu_gpu()->prop.totalGlobalMem;
    return refused;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    const CUresult refused = known(value, device);
    if (refused != CUDA_SUCCESS) return refused;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: *value = 1; break;
    default:
        return emu_result_of(
            cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device));
    }
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    const CUresult refused = known(uuid, device);
    if (refused == CUDA_SUCCESS) *uuid = emu_uuid(device);
    return refused;
}

CUresult cuDeviceGetPCIBusId(char *id, int bytes, CUdevice device)
{
    const CUresult refused = known(id, device);
    return refused != CUDA_SUCCESS
               ? refused
               : emu_result_of(cudaDeviceGetPCIBusId(id, bytes, device));
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
    if (!emu_driver_initialised()) return CUDA_ERROR_NOT_INITIALIZED;
    return emu_result_of(cudaDeviceGetByPCIBusId(device, id));
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    const CUresult refused = known(major && minor ? major : NULL, device);
    if (refused != CUDA_SUCCESS) return refused;
    *major = emu_gpu()->prop.major;
    *minor = emu_gpu()->prop.minor;
    return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    const CUresult refused = known(can, device);
    return refused != CUDA_SUCCESS
               ? refused
               : emu_result_of(cudaDeviceCanAccessPeer(can, device, peer));
}
