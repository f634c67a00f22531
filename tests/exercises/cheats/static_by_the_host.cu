// EXERCISE 13 EXPECT host code touches a static variable
// A kernel puts the numbers into a static variable that both sides know, and the host does
// the work.
#include "exercise.h"
__host__ __device__ float *kept()
{
    static float all[1 << 18];
    return all;
}
__global__ void keep(int n, const float *x)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) kept()[i] = x[i];
}
__global__ void store(float value, float *out) { *out = value; }
void sum(int n, const float *x, float *scratch, float *out)
{
    (void)scratch;
    keep<<<(n + 255) / 256, 256>>>(n, x);
    cudaDeviceSynchronize();
    float all = 0.0f;
    for (int i = 0; i < n; ++i) all += kept()[i];
    store<<<1, 1>>>(all, out);
}
