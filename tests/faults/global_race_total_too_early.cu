// The atomics are right, and still the total is not there when the first block looks.
// EXPECT: data race in global memory
// THREAD (0,0,0) BLOCK (1,0,0)
#include "fault.h"

__global__ void average(const float *in, float *total, float *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(total, in[i]); // FAULT
#ifdef FIXED
    (void)out, (void)n;
#else
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = *total / n; // OTHER
#endif
}

__global__ void divide(const float *total, float *out, int n)
{
    out[threadIdx.x] = *total / n;
}

int main(void)
{
    const int n = 128;
    float *in, *total, *out, ones[n];
    for (int i = 0; i < n; i++) ones[i] = 1.0f;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&total, sizeof *total);
    cudaMalloc(&out, n / 32 * sizeof *out);
    cudaMemcpy(in, ones, sizeof ones, cudaMemcpyHostToDevice);
    cudaMemset(total, 0, sizeof *total);
    average<<<n / 32, 32>>>(in, total, out, n);
#ifdef FIXED
    divide<<<1, n / 32>>>(total, out, n);
#endif
    int status = finish();
    cudaFree(in);
    cudaFree(total);
    cudaFree(out);
    return status;
}
