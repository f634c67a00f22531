// A texture is read after the memory that it shows has been freed.
// EXPECT: use after free: the memory of a texture or surface, values
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void copy(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x); // FAULT
}

int main(void)
{
    const int N = 32;
    float *values, *out;
    cudaMalloc(&values, N * sizeof *values);
    cudaMalloc(&out, N * sizeof *out);
    cudaMemset(values, 0, N * sizeof *values);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = values;
    resource.res.linear.desc = cudaCreateChannelDesc<float>();
    resource.res.linear.sizeInBytes = N * sizeof *values;
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &how, NULL);
#ifndef FIXED
    cudaFree(values);
#endif
    copy<<<1, N>>>(texture, out);
    const int status = finish();
    cudaDestroyTextureObject(texture);
#ifdef FIXED
    cudaFree(values);
#endif
    cudaFree(out);
    return status;
}
