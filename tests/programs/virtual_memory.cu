// Memory and addresses had apart: rows of pieces, a buffer that grows and moves, one piece at
// two addresses, and what becomes of it when it is unmapped.
// BUILD: -lcuda
// EMULATE: h200:2
#include <cuda.h>

#include "check.h"

#define DO(call) EXPECT((call) == CUDA_SUCCESS)

__global__ void fill(int *x, size_t first, size_t count)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < count) x[first + i] = (int)(first + i);
}

__global__ void add_one(int *x, size_t count)
{
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < count) x[i]++;
}

static CUmemAllocationProp on_device(int device)
{
    CUmemAllocationProp what = {};
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    what.location.id = device;
    return what;
}

static CUmemAccessDesc may_use(int device)
{
    CUmemAccessDesc access = {};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = device;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return access;
}

static size_t step; // the granularity

static CUmemGenericAllocationHandle piece(size_t bytes, int device)
{
    CUmemGenericAllocationHandle handle = 0;
    const CUmemAllocationProp what = on_device(device);
    DO(cuMemCreate(&handle, bytes, &what, 0));
    return handle;
}

// A buffer that gets a second piece behind the first, and then a third, for which it has to
// move: what it holds stays.
static void grows()
{
    const size_t in_step = step / sizeof(int);
    const CUmemAccessDesc access = may_use(0);
    CUmemGenericAllocationHandle pieces[3];
    CUdeviceptr at, moved;
    for (auto &p : pieces) p = piece(step, 0);
    DO(cuMemAddressReserve(&at, 2 * step, 0, 0, 0));
    DO(cuMemMap(at, step, 0, pieces[0], 0));
    DO(cuMemSetAccess(at, step, &access, 1));
    fill<<<8, 32>>>((int *)at, in_step - 256, 256);
    DO(cuMemMap(at + step, step, 0, pieces[1], 0));
    DO(cuMemSetAccess(at + step, step, &access, 1));
    fill<<<8, 32>>>((int *)at, in_step, 256);
    int h[512];
    EXPECT(cudaMemcpy(h, (int *)at + in_step - 256, sizeof h, cudaMemcpyDefault) ==
           cudaSuccess);
    for (int i = 0; i < 512; i++) EXPECT(h[i] == (int)in_step - 256 + i);
    unsigned long long flags;
    DO(cuMemGetAccess(&flags, &access.location, at));
    EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

    DO(cuMemUnmap(at, 2 * step));
    EXPECT(cudaMemset((void *)at, 0, 4) != cudaSuccess);
    DO(cuMemAddressFree(at, 2 * step));
    DO(cuMemAddressReserve(&moved, 3 * step, 0, 0, 0));
    for (int i = 0; i < 3; i++) {
        DO(cuMemMap(moved + i * step, step, 0, pieces[i], 0));
        DO(cuMemRelease(pieces[i]));
    }
    DO(cuMemSetAccess(moved, 3 * step, &access, 1));
    add_one<<<16, 32>>>((int *)moved + in_step - 256, 512);
    EXPECT(cudaMemcpy(h, (int *)moved + in_step - 256, sizeof h, cudaMemcpyDefault) ==
           cudaSuccess);
    for (int i = 0; i < 512; i++) EXPECT(h[i] == (int)in_step - 255 + i);
    // A part of what lies in a row; then what is left at its two ends.
    DO(cuMemUnmap(moved + step, step));
    EXPECT(cudaMemset((void *)moved, 0, 2 * step) != cudaSuccess);
    EXPECT(cudaMemset((void *)moved, 0, step) == cudaSuccess);
    EXPECT(cudaMemset((void *)(moved + 2 * step), 0, step) == cudaSuccess);
    EXPECT(cuMemAddressFree(moved, 3 * step) == CUDA_ERROR_INVALID_VALUE);
    DO(cuMemUnmap(moved, step));
    DO(cuMemUnmap(moved + 2 * step, step));
    DO(cuMemAddressFree(moved, 3 * step));
}

// A ring: behind its end the same memory begins again.
static void ring()
{
    const size_t in_step = step / sizeof(int);
    const CUmemAccessDesc access = may_use(0);
    CUdeviceptr at;
    const CUmemGenericAllocationHandle handle = piece(step, 0);
    DO(cuMemAddressReserve(&at, 2 * step, 0, 0, 0));
    DO(cuMemMap(at, step, 0, handle, 0));
    DO(cuMemMap(at + step, step, 0, handle, 0));
    DO(cuMemSetAccess(at, 2 * step, &access, 1));
    fill<<<8, 32>>>((int *)at, in_step - 128, 256);
    int h[128];
    EXPECT(cudaMemcpy(h, (int *)at, sizeof h, cudaMemcpyDefault) == cudaSuccess);
    for (int i = 0; i < 128; i++) EXPECT(h[i] == (int)in_step + i);
    DO(cuMemUnmap(at, 2 * step));
    DO(cuMemAddressFree(at, 2 * step));
    DO(cuMemRelease(handle));
}

// A row of pieces that lie on two devices, and which both may use.
static void two_devices()
{
    const CUmemAccessDesc access[] = {may_use(0), may_use(1)};
    CUdeviceptr at;
    DO(cuMemAddressReserve(&at, 2 * step, step, 0, 0));
    for (int d = 0; d < 2; d++) {
        const CUmemGenericAllocationHandle handle = piece(step, d);
        DO(cuMemMap(at + d * step, step, 0, handle, 0));
        DO(cuMemRelease(handle));
    }
    DO(cuMemSetAccess(at, 2 * step, access, 2));
    for (int d = 0; d < 2; d++) {
        EXPECT(cudaSetDevice(d) == cudaSuccess);
        fill<<<8, 32>>>((int *)at, step / sizeof(int) - 128, 256);
        EXPECT(cudaDeviceSynchronize() == cudaSuccess);
    }
    EXPECT(cudaSetDevice(0) == cudaSuccess);
    DO(cuMemUnmap(at, 2 * step));
    DO(cuMemAddressFree(at, 2 * step));
}

static void refused()
{
    CUmemAllocationProp what = on_device(0);
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    size_t before, after, total;
    EXPECT(cuMemCreate(&handle, 100, &what, 0) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemCreate(&handle, (size_t)1 << 50, &what, 0) == CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(cuMemAddressReserve(&at, 100, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE);
    DO(cuMemGetInfo(&before, &total));
    handle = piece(step, 0);
    DO(cuMemAddressReserve(&at, step, 0, 0, 0));
    EXPECT(cuMemUnmap(at, step) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemMap(at + step, step, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE);
    DO(cuMemMap(at, step, 0, handle, 0));
    EXPECT(cuMemMap(at, step, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFree(at) != CUDA_SUCCESS);
    DO(cuMemGetAllocationPropertiesFromHandle(&what, handle));
    EXPECT(what.location.id == 0);
    DO(cuMemRelease(handle));
    EXPECT(cuMemRelease(handle) == CUDA_ERROR_INVALID_VALUE);
    DO(cuMemRetainAllocationHandle(&handle, (void *)at));
    DO(cuMemUnmap(at, step));
    DO(cuMemRelease(handle));
    DO(cuMemAddressFree(at, step));
    DO(cuMemGetInfo(&after, &total));
}

int main()
{
    int supported;
    EXPECT(cudaSetDevice(0) == cudaSuccess);
    DO(cuDeviceGetAttribute(&supported,
                            CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    EXPECT(supported == 1);
    const CUmemAllocationProp what = on_device(0);
    DO(cuMemGetAllocationGranularity(&step, &what, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    grows();
    ring();
    two_devices();
    refused();
    return pass();
}
