// A sum over the last warp's lanes that relies on their marching in step: volatile makes
// them store and load, but orders nothing.
// EXPECT: a missing __syncwarp()?
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"

__device__ void add_up(volatile float *s, int lane)
{
    for (int half = 16; half > 0; half /= 2) {
#ifdef FIXED
        const float other = s[lane + half];
        __syncwarp();
        s[lane] += other;
        __syncwarp();
#else
        s[lane] += s[lane + half]; // FAULT
#endif
    }
}

__global__ void sum(const float *in, float *out)
{
    __shared__ float s[64];
    const int i = threadIdx.x;
    s[i] = in[i];
    __syncthreads();
    if (i < 32) add_up(s, i);
    if (i == 0) *out = s[0];
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, 64 * sizeof *in);
    cudaMalloc(&out, sizeof *out);
    cudaMemset(in, 0, 64 * sizeof *in);
    for (int i = 0; i < 64; i++) {
        const float x = i;
        cudaMemcpy(in + i, &x, sizeof x, cudaMemcpyHostToDevice);
    }
    sum<<<1, 64>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
