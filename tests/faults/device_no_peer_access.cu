// A kernel reads the memory of another device, which nobody has allowed it.
// EMULATE: h200:2
// EXPECT: memory of another device: a read of byte 0 of far, the 400 bytes
// EXPECT: which is on device 1, by a kernel on device 0
// EXPECT: cudaDeviceEnablePeerAccess(1, 0) while device 0 is current
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
    cudaSetDevice(1);
    cudaMalloc(&far, n * sizeof *far);
    cudaMemset(far, 0, n * sizeof *far);
    cudaDeviceSynchronize();
    cudaSetDevice(0);
    cudaMalloc(&near, n * sizeof *near);
#ifdef FIXED
    cudaDeviceEnablePeerAccess(1, 0);
#endif
    copy<<<1, n>>>(near, far);
    const int status = finish();
    cudaFree(near);
    cudaFree(far);
    return status;
}
