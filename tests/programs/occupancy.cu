// The device's properties, a kernel's, and what the occupancy calls make of the two.
#include "check.h"

#include <string.h>

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}

__global__ void __launch_bounds__(256, 2) shared_user(float *out)
{
    __shared__ float tile[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) tile[i] = out[i];
    __syncthreads();
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) out[i] = tile[2047 - i];
}

int main(void)
{
    int devices = 0, device = -1, value = 0;
    CHECK(cudaGetDeviceCount(&devices));
    EXPECT(devices >= 1);
    CHECK(cudaSetDevice(0));
    CHECK(cudaGetDevice(&device));
    EXPECT(device == 0);
    cudaDeviceProp prop;
    CHECK(cudaGetDeviceProperties(&prop, device));
    EXPECT(prop.name[0] != '\0');
    EXPECT(prop.warpSize == 32 && prop.maxThreadsPerBlock == 1024);
    EXPECT(prop.major >= 7 && prop.multiProcessorCount > 0);
    EXPECT(prop.sharedMemPerBlock == 48 * 1024 && prop.regsPerBlock == 65536);
    EXPECT(prop.totalGlobalMem > (1u << 30) && prop.l2CacheSize > 0);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, device));
    EXPECT(value == prop.multiProcessorCount);
    CHECK(
        cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    EXPECT((size_t)value == prop.sharedMemPerBlockOptin);

    int blocks = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, saxpy, 256, 0));
    EXPECT(blocks >= 1 && blocks * 256 <= prop.maxThreadsPerMultiProcessor);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shared_user, 256, 0));
    EXPECT(blocks >= 2);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, saxpy, 64, 48 * 1024));
    EXPECT(blocks == (int)(prop.sharedMemPerMultiprocessor / (49 * 1024)));

    size_t room = 0;
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, saxpy, 1, 64));
    EXPECT(room == prop.sharedMemPerBlock);
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, saxpy, 16, 64));
    EXPECT(room > 0 && 16 * room <= prop.sharedMemPerMultiprocessor);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, saxpy, 64, room));
    EXPECT(blocks == 16);
    EXPECT(cudaOccupancyAvailableDynamicSMemPerBlock(&room, saxpy, 3, 1024) ==
           cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    const char *name;
    CHECK(cudaFuncGetName(&name, saxpy));
    EXPECT(strstr(name, "saxpy"));

    int grid = 0, block = 0;
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, saxpy, 0, 0));
    EXPECT(block % 32 == 0 && block > 0 && block <= 1024 &&
           grid >= prop.multiProcessorCount);

    const int n = 3000;
    float *x, *y;
    CHECK(cudaMallocManaged(&x, n * sizeof *x));
    CHECK(cudaMallocManaged(&y, n * sizeof *y));
    for (int i = 0; i < n; i++) x[i] = y[i] = (float)i;
    saxpy<<<(n + block - 1) / block, block>>>(n, 2.0f, x, y);
    shared_user<<<1, 256>>>(y);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(y[i] == 3.0f * (i < 2048 ? 2047 - i : i));
    cudaFuncAttributes attributes;
    CHECK(cudaFuncGetAttributes(&attributes, shared_user));
    EXPECT(attributes.sharedSizeBytes == 2048 * sizeof(float));
    EXPECT(attributes.numRegs > 0 && attributes.numRegs <= 255);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return pass();
}
