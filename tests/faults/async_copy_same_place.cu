// Two copies into one place are under way: which of them comes last is open.
// EXPECT: asynchronous copy not waited for
// EXPECT: an earlier one may still be on its way
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"
#include <cuda_pipeline.h>

#ifdef FIXED
enum { STAGES = 2 };
#else
enum { STAGES = 1 };
#endif

__global__ void add(const float *in, float *out)
{
    __shared__ float stage[STAGES][32];
    const int t = threadIdx.x;
    float sum = 0.0f;
    __pipeline_memcpy_async(&stage[0][t], &in[t], sizeof(float));
    __pipeline_commit();
    for (int i = 0; i < 4; i++) {
        float *next = &stage[(i + 1) % STAGES][t];
        if (i < 3) __pipeline_memcpy_async(next, &in[t], sizeof(float)); // FAULT
        __pipeline_commit();
        __pipeline_wait_prior(1);
        sum += stage[i % STAGES][t];
    }
    out[t] = sum;
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, 32 * sizeof *in);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(in, 0, 32 * sizeof *in);
    add<<<1, 32>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
