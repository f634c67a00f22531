// A pointer from malloc is handed to the kernel.
// EXPECT: host memory
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"
#include <stdlib.h>

__global__ void add(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1.0f; // FAULT
}

int main(void)
{
    const int n = 100;
    float *host = (float *)calloc(n, sizeof *host), *in, *out;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&out, n * sizeof *out);
    cudaMemcpy(in, host, n * sizeof *in, cudaMemcpyHostToDevice);
#ifdef FIXED
    add<<<1, 128>>>(in, out, n);
#else
    add<<<1, 128>>>(host, out, n);
#endif
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    free(host);
    return status;
}
