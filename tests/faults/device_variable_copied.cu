// cudaMemcpy to a __constant__ variable's name, which is no address on the device.
// EXPECT: FAULT factors is a variable of device code
// EXPECT: cudaMemcpyToSymbol
#include "fault.h"

__constant__ float factors[4];

__global__ void scale(float *out)
{
    out[threadIdx.x] = 2 * factors[threadIdx.x];
}

int main(void)
{
    const float host[4] = {1, 2, 3, 4};
    float *out;
    cudaMalloc(&out, sizeof host);
#ifdef FIXED
    cudaMemcpyToSymbol(factors, host, sizeof host);
#else
    cudaMemcpy((void *)factors, host, sizeof host, cudaMemcpyHostToDevice); // FAULT
#endif
    scale<<<1, 4>>>(out);
    const int status = finish();
    cudaFree(out);
    return status;
}
