// Zero times what is there is not zero if a NaN is there.
// EXPECT: uninitialised global memory
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void scale_and_add(const float *in, float *out, float alpha, float beta)
{
    const int i = threadIdx.x;
#ifdef FIXED
    out[i] = alpha * in[i] + (beta == 0.0f ? 0.0f : beta * out[i]);
#else
    out[i] = alpha * in[i] + beta * out[i]; // FAULT
#endif
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, 64 * sizeof *in);
    cudaMalloc(&out, 64 * sizeof *out);
    cudaMemset(in, 0, 64 * sizeof *in);
    scale_and_add<<<1, 64>>>(in, out, 1.0f, 0.0f);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
