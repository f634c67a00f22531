// Memory goes with the context of the driver API that it was allocated in, and a kernel of
// another context still writes to it.
// EXPECT: use after free
// EXPECT: d_out
#include <cuda.h>

#include "fault.h"

__global__ void answer(int *out)
{
    *out = 42; // FAULT
}

int main()
{
    CUdevice device;
    CUcontext own, other;
    CUdeviceptr d_out;
    int value = 0;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuCtxCreate(&other, nullptr, 0, device);
    cuCtxCreate(&own, nullptr, 0, device);
    cuMemAlloc(&d_out, sizeof value);
#ifndef FIXED
    cuCtxDestroy(own); // OTHER
#endif
    answer<<<1, 1>>>((int *)d_out);
    const int status = finish();
    cuMemcpyDtoH(&value, d_out, sizeof value);
    cuMemFree(d_out);
#ifdef FIXED
    cuCtxDestroy(own);
#endif
    cuCtxDestroy(other);
    return value == 42 ? status : 4;
}
