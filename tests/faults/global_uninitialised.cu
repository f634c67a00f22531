// One of the two inputs is never copied to the device.
// EXPECT: uninitialised global memory: byte 0 of
// EXPECT: a missing cudaMemcpy or cudaMemset?
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void add(const float *a, const float *b, float *c)
{
    const int i = threadIdx.x;
    c[i] = a[i] + b[i]; // FAULT
}

int main(void)
{
    float host[64] = {0.0f}, *a, *b, *c;
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&b, sizeof host);
    cudaMalloc(&c, sizeof host);
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
#ifdef FIXED
    cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice);
#endif
    add<<<1, 64>>>(a, b, c);
    int status = finish();
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    return status;
}
