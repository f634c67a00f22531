// A kernel reads memory of another device's pool, which nobody has opened: that the devices
// are peers says nothing about pools.
// EMULATE: h200:2
// EXPECT: memory of another device: a read of byte 0 of far, the 400 bytes
// EXPECT: which is on device 1, by a kernel on device 0 (cudaMemPoolSetAccess for device 0?)
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void copy(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x]; // FAULT
}

int main(void)
{
    const int n = 100;
    int *near, *far;
    cudaMemPool_t pool;
    cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 0},
                                cudaMemAccessFlagsProtReadWrite};
    cudaDeviceGetDefaultMemPool(&pool, 1);
    cudaMemPoolSetAccess(pool, &access, 1);
#ifndef FIXED
    access.flags = cudaMemAccessFlagsProtNone;
    cudaMemPoolSetAccess(pool, &access, 1);
#endif
    cudaSetDevice(1);
    cudaMallocAsync(&far, n * sizeof *far, 0);
    cudaMemset(far, 0, n * sizeof *far);
    cudaDeviceSynchronize();
    cudaSetDevice(0);
    cudaMalloc(&near, n * sizeof *near);
    cudaDeviceEnablePeerAccess(1, 0);
    copy<<<1, n>>>(near, far);
    const int status = finish();
    cudaFree(near);
    cudaFree(far);
    return status;
}
