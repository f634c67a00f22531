// The driver API's pools of memory and its hints about managed memory, and how many blocks of
// a kernel fit.
// BUILD: -lcuda
#include <cuda.h>

#include "check.h"

#define DO(call) EXPECT((call) == CUDA_SUCCESS)

__global__ void add(int *x)
{
    x[threadIdx.x] += threadIdx.x;
}

static void pools(CUdevice device)
{
    enum { N = 256 };
    CUmemPoolProps what = {};
    what.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    what.location.id = device;
    CUmemoryPool pool, usual;
    DO(cuDeviceGetDefaultMemPool(&usual, device));
    DO(cuMemPoolCreate(&pool, &what));
    EXPECT(pool != usual);
    cuuint64_t keep = 1 << 20, used = 1;
    DO(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    keep = 0;
    DO(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
    EXPECT(keep == 1 << 20);
    CUmemAccess_flags access;
    DO(cuMemPoolGetAccess(&access, pool, &what.location));
    EXPECT(access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUmemLocation host = {CU_MEM_LOCATION_TYPE_HOST, 0};
    DO(cuMemPoolGetAccess(&access, pool, &host));
    EXPECT(access == CU_MEM_ACCESS_FLAGS_PROT_NONE);

    CUstream stream;
    CUdeviceptr p;
    int x[N];
    DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DO(cuMemAllocFromPoolAsync(&p, sizeof x, pool, stream));
    DO(cuMemsetD32Async(p, 5, N, stream));
    add<<<1, N, 0, stream>>>((int *)p);
    DO(cuMemcpyDtoHAsync(x, p, sizeof x, stream));
    DO(cuStreamSynchronize(stream));
    for (int i = 0; i < N; i++) EXPECT(x[i] == 5 + i);
    DO(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    EXPECT(used >= sizeof x);
    DO(cuMemFreeAsync(p, stream));
    DO(cuStreamSynchronize(stream));
    DO(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
    EXPECT(used == 0);
    DO(cuMemPoolTrimTo(pool, 0));

    // The pool that allocations take which name none.
    CUmemoryPool current;
    DO(cuDeviceSetMemPool(device, pool));
    DO(cuDeviceGetMemPool(&current, device));
    EXPECT(current == pool);
    DO(cuDeviceSetMemPool(device, usual));
    DO(cuMemPoolDestroy(pool));
    DO(cuStreamDestroy(stream));
}

static void hints(CUdevice device)
{
    const size_t bytes = 1 << 16;
    CUdeviceptr p;
    int read_mostly = 0, where = 7;
    DO(cuMemAllocManaged(&p, bytes, CU_MEM_ATTACH_GLOBAL));
    const CUmemLocation there = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    DO(cuMemAdvise(p, bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, there));
    DO(cuMemRangeGetAttribute(&read_mostly, sizeof read_mostly,
                              CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, bytes));
    EXPECT(read_mostly == 1);
    DO(cuMemPrefetchAsync(p, bytes, there, 0, nullptr));
    DO(cuMemRangeGetAttribute(&where, sizeof where,
                              CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, bytes));
    EXPECT(where == device);
    DO(cuCtxSynchronize());
    DO(cuMemFree(p));
}

static void occupancy()
{
    cudaFunction_t function;
    int blocks, same;
    size_t shared;
    CHECK(cudaGetFuncBySymbol(&function, (const void *)add));
    DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0));
    DO(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&same, function, 256, 0, 0));
    EXPECT(blocks > 1 && blocks == same);
    DO(cuOccupancyAvailableDynamicSMemPerBlock(&shared, function, blocks, 256));
    DO(cuOccupancyMaxActiveBlocksPerMultiprocessor(&same, function, 256, shared));
    EXPECT(same >= blocks);
}

int main()
{
    CUdevice device;
    CUcontext context;
    DO(cuInit(0));
    DO(cuDeviceGet(&device, 0));
    DO(cuDevicePrimaryCtxRetain(&context, device));
    DO(cuCtxSetCurrent(context));
    pools(device);
    hints(device);
    occupancy();
    DO(cuDevicePrimaryCtxRelease(device));
    return pass();
}
