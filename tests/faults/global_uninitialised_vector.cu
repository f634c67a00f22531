// Four at once, of which the last was never written.
// EXPECT: uninitialised global memory: byte 252 of
// THREAD (15,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void fill(float *out, int n)
{
    if ((int)threadIdx.x < n) out[threadIdx.x] = 1.0f;
}

__global__ void sum(const float4 *in, float *out)
{
    const float4 v = in[threadIdx.x]; // FAULT
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, 64 * sizeof *in);
    cudaMalloc(&out, 16 * sizeof *out);
#ifdef FIXED
    fill<<<1, 64>>>(in, 64);
#else
    fill<<<1, 64>>>(in, 63);
#endif
    sum<<<1, 16>>>((const float4 *)in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
