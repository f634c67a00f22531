// Threads of one block, in different warps, that store different values to one word.
// EXPECT: data race in global memory, byte 0 of
// EXPECT: a missing __syncthreads(), or one index for two threads?
// THREAD (32,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void largest_of_each(const int *in, int *out)
{
    const int t = threadIdx.x;
#ifdef FIXED
    atomicMax(&out[t % 32], in[t]);
#else
    if (in[t] > 0) out[t % 32] = in[t]; // FAULT
#endif
}

int main(void)
{
    int *in, *out, values[64];
    for (int i = 0; i < 64; i++) values[i] = i + 1;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, 32 * sizeof *out);
    largest_of_each<<<1, 64>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
