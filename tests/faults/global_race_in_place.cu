// A stencil that writes where its neighbours read: whether a block sees the old value or
// the new one is chance.
// EXPECT: data race in global memory
// EXPECT: blocks run in any order: a sum takes atomicAdd(), and to hand
// THREAD (0,0,0) BLOCK (1,0,0)
#include "fault.h"

__global__ void smooth(const float *in, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = in[i];
    if (i + 1 < n) sum += in[i + 1]; // OTHER
    __syncthreads();
    out[i] = 0.5f * sum + 1.0f; // FAULT
}

int main(void)
{
    const int n = 128;
    float *in, *out;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&out, n * sizeof *out);
    cudaMemset(in, 0, n * sizeof *in);
#ifdef FIXED
    smooth<<<n / 32, 32>>>(in, out, n);
#else
    smooth<<<n / 32, 32>>>(in, in, n);
#endif
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
