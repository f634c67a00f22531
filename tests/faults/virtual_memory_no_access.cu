// There is memory behind the reserved addresses, and a second device was not given access.
// EMULATE: h200:2
// EXPECT: memory of another device: a write of byte 0 of
// EXPECT: which is on device 0, by a kernel on device 1 (cuMemSetAccess for device 1?)
// THREAD (0,0,0) BLOCK (0,0,0)
#include <cuda.h>

#include "fault.h"

__global__ void answer(int *out)
{
    *out = 42; // FAULT
}

int main()
{
    CUmemAllocationProp what = {};
    CUmemGenericAllocationHandle memory;
    CUmemAccessDesc access[2] = {};
    CUdeviceptr out;
    size_t bytes;
    cudaSetDevice(1);
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    for (int device = 0; device < 2; device++) {
        access[device].location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access[device].location.id = device;
        access[device].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    }
    cuMemGetAllocationGranularity(&bytes, &what, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    cuMemCreate(&memory, bytes, &what, 0);
    cuMemAddressReserve(&out, bytes, 0, 0, 0);
    cuMemMap(out, bytes, 0, memory, 0);
#ifdef FIXED
    cuMemSetAccess(out, bytes, access, 2);
#else
    cuMemSetAccess(out, bytes, access, 1);
#endif
    answer<<<1, 1>>>((int *)out);
    const int status = finish();
    cuMemUnmap(out, bytes);
    cuMemAddressFree(out, bytes);
    cuMemRelease(memory);
    return status;
}
