// Two stages, and the wait leaves one group outstanding too many.
// EXPECT: asynchronous copy not waited for
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"
#include <cuda_pipeline.h>

#ifdef FIXED
#define MAY_REMAIN 1
#else
#define MAY_REMAIN 2
#endif

__global__ void sum(const float *in, float *out, int tiles)
{
    __shared__ float tile[2][32];
    const int t = threadIdx.x;
    float total = 0.0f;
    __pipeline_memcpy_async(&tile[0][t], &in[t], sizeof(float));
    __pipeline_commit();
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles)
            __pipeline_memcpy_async(&tile[(i + 1) % 2][t], &in[(i + 1) * 32 + t],
                                    sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(MAY_REMAIN);
        __syncthreads();
        total += tile[i % 2][31 - t]; // FAULT
        __syncthreads();
    }
    out[t] = total;
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, 4 * 32 * sizeof *in);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(in, 0, 4 * 32 * sizeof *in);
    sum<<<1, 32>>>(in, out, 4);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
