// The copy counts elements where bytes are meant: a quarter of the array arrives.
// EXPECT: uninitialised global memory: byte 64 of
// THREAD (16,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void twice(const float *in, float *out)
{
    out[threadIdx.x] = 2.0f * in[threadIdx.x]; // FAULT
}

int main(void)
{
    const int n = 64;
    float host[n] = {0.0f}, *in, *out;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&out, sizeof host);
#ifdef FIXED
    cudaMemcpy(in, host, n * sizeof *in, cudaMemcpyHostToDevice);
#else
    cudaMemcpy(in, host, n, cudaMemcpyHostToDevice);
#endif
    twice<<<1, n>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
