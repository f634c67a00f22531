// One of two buffers is never given back.
// EXPECT: memory leak: 4000 bytes in 1 allocation never freed
#include "fault.h"

__global__ void copy(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}

int main(void)
{
    const int n = 1000;
    float *in, *out;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&out, n * sizeof *out); // FAULT
    cudaMemset(in, 0, n * sizeof *in);
    copy<<<8, 128>>>(in, out, n);
    int status = finish();
    cudaFree(in);
#ifdef FIXED
    cudaFree(out);
#endif
    return status;
}
