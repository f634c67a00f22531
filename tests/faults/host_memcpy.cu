// memcpy where cudaMemcpy was meant.
// EXPECT: host code touches device memory
#include "fault.h"
#include <string.h>

__global__ void twice(float *x)
{
    x[threadIdx.x] *= 2.0f;
}

int main(void)
{
    float host[32], *x;
    for (int i = 0; i < 32; i++) host[i] = (float)i;
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    twice<<<1, 32>>>(x);
#ifdef FIXED
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
#else
    memcpy(host, x, sizeof host); // FAULT
#endif
    const int status = finish();
    cudaFree(x);
    return host[3] == 6.0f ? status : 4;
}
