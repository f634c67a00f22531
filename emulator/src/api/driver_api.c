/* The driver API's questions about devices, answered by the runtime API. */
#include <stdio.h>

#include "api/driver.h"
#include "base/device.h"

static bool initialised;

bool emu_driver_initialised(void)
{
    return initialised;
}

/* CUDA_SUCCESS, or why nothing can be said of the device. */
static CUresult known(const void *result, CUdevice device)
{
    if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
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

CUresult cuGetErrorName(CUresult error, const char **name)
{
    *name = cudaGetErrorName((cudaError_t)error);
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    *text = cudaGetErrorString((cudaError_t)error);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
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
    const struct cudaDeviceProp *const p = &emu_gpu()->prop;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH: *value = p->maxTexture1D; break;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH: *value = p->maxTexture2D[0]; break;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT: *value = p->maxTexture2D[1]; break;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH: *value = p->maxTexture3D[0]; break;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT: *value = p->maxTexture3D[1]; break;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH: *value = p->maxTexture3D[2]; break;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH:
        *value = p->maxTexture2DLayered[0];
        break;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT:
        *value = p->maxTexture2DLayered[1];
        break;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS:
        *value = p->maxTexture2DLayered[2];
        break;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH:
        *value = p->maxTexture1DLayered[0];
        break;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS:
        *value = p->maxTexture1DLayered[1];
        break;
    case CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT: *value = (int)p->surfaceAlignment; break;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED: *value = 0; break;
    default:
        return emu_result_of(
            cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device));
    }
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    const CUresult refused = known(uuid, device);
    if (refused == CUDA_SUCCESS)
        for (int i = 0; i < 16; i++)
            uuid->bytes[i] = (char)(i < 15 ? emu_gpu()->key[i % 2] : device);
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
    if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
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
