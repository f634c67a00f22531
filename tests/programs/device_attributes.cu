// What a device is asked about itself: attributes and properties agree, and what an H200 was
// seen to answer is what an H200 answers here.
// EMULATE: h200:2
#include "check.h"

#include <string.h>

static int attribute(cudaDeviceAttr attr)
{
    int value = -12345;
    CHECK(cudaDeviceGetAttribute(&value, attr, 0));
    return value;
}

static void of_every_card()
{
    struct cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    EXPECT(attribute(cudaDevAttrMaxTexture1DWidth) == p.maxTexture1D);
    EXPECT(attribute(cudaDevAttrMaxTexture2DHeight) == p.maxTexture2D[1]);
    EXPECT(attribute(cudaDevAttrMaxTexture3DDepth) == p.maxTexture3D[2]);
    EXPECT(attribute(cudaDevAttrMaxTexture2DLinearPitch) == p.maxTexture2DLinear[2]);
    EXPECT(attribute(cudaDevAttrMaxTextureCubemapLayeredLayers) ==
           p.maxTextureCubemapLayered[1]);
    EXPECT(attribute(cudaDevAttrMaxSurface2DWidth) == p.maxSurface2D[0]);
    EXPECT(attribute(cudaDevAttrSurfaceAlignment) == (int)p.surfaceAlignment);
    EXPECT(attribute(cudaDevAttrMaxPersistingL2CacheSize) == p.persistingL2CacheMaxSize);
    EXPECT(attribute(cudaDevAttrMaxAccessPolicyWindowSize) ==
           p.accessPolicyMaxWindowSize);
    EXPECT(attribute(cudaDevAttrHostRegisterSupported) == p.hostRegisterSupported);
    EXPECT(attribute(cudaDevAttrClusterLaunch) == p.clusterLaunch);
    EXPECT(attribute(cudaDevAttrMultiGpuBoardGroupID) == p.multiGpuBoardGroupID);

    // No two devices are one.
    struct cudaDeviceProp other;
    int count;
    CHECK(cudaGetDeviceCount(&count));
    if (count > 1) {
        CHECK(cudaGetDeviceProperties(&other, 1));
        EXPECT(memcmp(&p.uuid, &other.uuid, sizeof p.uuid) != 0);
    }
}

static void of_an_h200()
{
    EXPECT(attribute(cudaDevAttrMaxTexture1DLinearWidth) == 268435456);
    EXPECT(attribute(cudaDevAttrMaxTexture2DLinearHeight) == 65000);
    EXPECT(attribute(cudaDevAttrMaxTexture3DDepthAlt) == 32768);
    EXPECT(attribute(cudaDevAttrMaxSurface1DWidth) == 32768);
    EXPECT(attribute(cudaDevAttrMaxSurface2DLayeredLayers) == 2048);
    EXPECT(attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio) == 2);
    EXPECT(attribute(cudaDevAttrMaxPersistingL2CacheSize) == 39321600);
    EXPECT(attribute(cudaDevAttrMaxAccessPolicyWindowSize) == 134217728);
    EXPECT(attribute(cudaDevAttrMemSyncDomainCount) == 4);
    EXPECT(attribute(cudaDevAttrClusterLaunch) == 1);
    EXPECT(attribute(cudaDevAttrNumaId) == -1);
}

int main()
{
    struct cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    of_every_card();
    if (strstr(p.name, "H200")) of_an_h200();
    int value, device;
    EXPECT(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)9999, 0) ==
           cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);

    enum cudaFuncCache config;
    CHECK(cudaDeviceGetCacheConfig(&config));
    EXPECT(config == cudaFuncCachePreferNone);
    CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    CHECK(cudaDeviceGetCacheConfig(&config));
    EXPECT(config == cudaFuncCachePreferL1);

    // The device that is made ready does not become the current one.
    unsigned int flags = 0;
    int count;
    CHECK(cudaGetDeviceCount(&count));
    EXPECT(cudaInitDevice(count, 0, 0) == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(cudaInitDevice(count - 1, 0, 0));
    CHECK(cudaInitDevice(0, cudaDeviceScheduleYield, cudaInitDeviceFlagsAreValid));
    CHECK(cudaGetDevice(&device));
    CHECK(cudaGetDeviceFlags(&flags));
    EXPECT(device == 0 && (flags & cudaDeviceScheduleMask) == cudaDeviceScheduleYield);

    cudaStream_t stream;
    CHECK(cudaSetDevice(count - 1));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamGetDevice(stream, &device));
    EXPECT(device == count - 1);
    CHECK(cudaStreamDestroy(stream));
    return pass();
}
