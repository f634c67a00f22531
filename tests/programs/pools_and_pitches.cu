// Memory by other calls: of three dimensions, from a pool, registered after it was made.
#include "check.h"

__global__ void add(cudaPitchedPtr p, cudaExtent extent, int value)
{
    const int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
    if (x < (int)(extent.width / sizeof(int)) && y < (int)extent.height)
        ((int *)((char *)p.ptr + (z * p.ysize + y) * p.pitch))[x] += value;
}

__global__ void twice(int *data)
{
    data[threadIdx.x] *= 2;
}

static unsigned long long count(cudaMemPool_t pool, cudaMemPoolAttr which)
{
    unsigned long long value = 0;
    CHECK(cudaMemPoolGetAttribute(pool, which, &value));
    return value;
}

// What a pool says of itself counts its own allocations, and the most there have been.
static void counts(cudaMemPool_t pool)
{
    const size_t bytes = 1 << 20;
    unsigned long long zero = 0, all = ~0ull, one = 1;
    void *a, *b, *other;
    int reuse = 0;
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
    EXPECT(reuse == 1);
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
    CHECK(cudaMalloc(&other, bytes));
    EXPECT(count(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
    CHECK(cudaMallocFromPoolAsync(&a, bytes, pool, 0));
    CHECK(cudaMallocFromPoolAsync(&b, bytes, pool, 0));
    EXPECT(count(pool, cudaMemPoolAttrUsedMemCurrent) == 2 * bytes);
    CHECK(cudaFreeAsync(a, 0));
    CHECK(cudaStreamSynchronize(0));
    EXPECT(count(pool, cudaMemPoolAttrUsedMemCurrent) == bytes);
    EXPECT(count(pool, cudaMemPoolAttrUsedMemHigh) == 2 * bytes);
    EXPECT(count(pool, cudaMemPoolAttrReservedMemCurrent) >= 2 * bytes);
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
    EXPECT(count(pool, cudaMemPoolAttrUsedMemHigh) == bytes);
    CHECK(cudaFreeAsync(b, 0));
    CHECK(cudaStreamSynchronize(0));
    CHECK(cudaMemPoolTrimTo(pool, 0));
    EXPECT(count(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
    EXPECT(count(pool, cudaMemPoolAttrReservedMemHigh) >= 2 * bytes);
    EXPECT(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &one) ==
           cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaFree(other));
}

int main()
{
    enum { X = 5, Y = 4, Z = 3 };
    int volume[Z][Y][X], back[Z][Y][X];
    for (int i = 0; i < X * Y * Z; i++) volume[i / X / Y][i / X % Y][i % X] = i;
    const cudaExtent extent = make_cudaExtent(X * sizeof(int), Y, Z);
    cudaPitchedPtr pitched;
    CHECK(cudaMalloc3D(&pitched, extent));
    EXPECT(pitched.pitch >= X * sizeof(int) && pitched.ysize == Y);
    CHECK(cudaMemset3D(pitched, 0, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(volume, X * sizeof(int), X * sizeof(int), Y);
    copy.dstPtr = pitched;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    add<<<Z, dim3(8, 8)>>>(pitched, extent, 100);
    copy.srcPtr = pitched;
    copy.dstPtr = make_cudaPitchedPtr(back, X * sizeof(int), X * sizeof(int), Y);
    copy.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&copy));
    for (int i = 0; i < X * Y * Z; i++)
        EXPECT(back[i / X / Y][i / X % Y][i % X] == i + 100);
    CHECK(cudaFree(pitched.ptr));

    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t pool, standard;
    CHECK(cudaMemPoolCreate(&pool, &props));
    CHECK(cudaDeviceGetDefaultMemPool(&standard, 0));
    unsigned long long keep = 1 << 20, kept = 0;
    CHECK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &keep));
    CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &kept));
    EXPECT(kept == keep);
    int *data;
    CHECK(cudaMallocFromPoolAsync(&data, 32 * sizeof *data, pool, 0));
    CHECK(cudaMemcpy(data, volume, 32 * sizeof *data, cudaMemcpyHostToDevice));
    twice<<<1, 32>>>(data);
    CHECK(cudaMemcpy(back, data, 32 * sizeof *data, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) EXPECT(back[0][0][i] == 2 * i);
    CHECK(cudaFreeAsync(data, 0));
    counts(pool);
    CHECK(cudaMemPoolDestroy(pool));

    int *host = (int *)malloc(32 * sizeof *host), *device;
    for (int i = 0; i < 32; i++) host[i] = i;
    CHECK(cudaHostRegister(host, 32 * sizeof *host, cudaHostRegisterMapped));
    CHECK(cudaHostGetDevicePointer(&device, host, 0));
    twice<<<1, 32>>>(device);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) EXPECT(host[i] == 2 * i);
    CHECK(cudaHostUnregister(host));
    EXPECT(cudaHostUnregister(host) == cudaErrorHostMemoryNotRegistered);
    EXPECT(cudaGetLastError() == cudaErrorHostMemoryNotRegistered);
    free(host);
    return pass();
}
