// The driver API's questions about devices, and that they agree with the runtime API's.
// BUILD: -lcuda
#include <cuda.h>
#include <string.h>

#include "check.h"

int main()
{
    int count = 0, version = 0, runtime = 0;
    CUdevice device;
    EXPECT(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
    EXPECT(cuInit(0) == CUDA_SUCCESS);
    EXPECT(cuDriverGetVersion(&version) == CUDA_SUCCESS);
    CHECK(cudaDriverGetVersion(&runtime));
    EXPECT(version == runtime);
    EXPECT(cuDeviceGetCount(&count) == CUDA_SUCCESS && count >= 1);
    EXPECT(cuDeviceGet(&device, count) == CUDA_ERROR_INVALID_DEVICE);
    EXPECT(cuDeviceGet(&device, 0) == CUDA_SUCCESS);

    struct cudaDeviceProp prop;
    CHECK(cudaGetDeviceProperties(&prop, 0));
    char name[256];
    size_t bytes;
    EXPECT(cuDeviceGetName(name, sizeof name, device) == CUDA_SUCCESS);
    EXPECT(cuDeviceTotalMem(&bytes, device) == CUDA_SUCCESS);
    EXPECT(strcmp(name, prop.name) == 0 && bytes == prop.totalGlobalMem);
    const struct {
        CUdevice_attribute attribute;
        int want;
    } all[] = {{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, prop.multiProcessorCount},
               {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, prop.major},
               {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                (int)prop.sharedMemPerBlockOptin},
               {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, prop.maxTexture2D[1]}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int value = -1;
        EXPECT(cuDeviceGetAttribute(&value, all[i].attribute, device) == CUDA_SUCCESS);
        EXPECT(value == all[i].want);
    }
    const char *text;
    EXPECT(cuGetErrorName(CUDA_ERROR_INVALID_DEVICE, &text) == CUDA_SUCCESS);
    EXPECT(strcmp(text, "CUDA_ERROR_INVALID_DEVICE") == 0);
    EXPECT(cuGetErrorString(CUDA_ERROR_INVALID_DEVICE, &text) == CUDA_SUCCESS && text[0]);
    EXPECT(cuGetErrorName((CUresult)12345, &text) == CUDA_ERROR_INVALID_VALUE);
    return pass();
}
