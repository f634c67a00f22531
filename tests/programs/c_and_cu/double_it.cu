#include "double_it.h"

__global__ static void kernel(int *data, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2;
}

void double_it(int *device, int n)
{
    kernel<<<(n + 127) / 128, 128>>>(device, n);
    cudaDeviceSynchronize();
}
