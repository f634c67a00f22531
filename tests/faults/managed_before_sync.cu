// The host reads managed memory while the kernel may still be writing it.
// EXPECT: host code touches byte 40 of data, the 4000 bytes
#include "fault.h"

__global__ void square(int *data, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= data[i];
}

int main(void)
{
    const int n = 1000;
    int *data;
    cudaMallocManaged(&data, n * sizeof *data);
    for (int i = 0; i < n; i++) data[i] = i;
    square<<<8, 128>>>(data, n);
#ifdef FIXED
    cudaDeviceSynchronize();
#endif
    const int got = data[10]; // FAULT
    const int status = got == 100 ? finish() : 5;
    cudaFree(data);
    return status;
}
