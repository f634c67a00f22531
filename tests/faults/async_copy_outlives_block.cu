// The copy that a round starts is for the next round, and after the last there is none:
// it is still on its way when the block's shared memory is another block's.
// EXPECT: asynchronous copy not waited for: the block has ended
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"
#include <cuda_pipeline.h>

const int ROUNDS = 4, WIDTH = 32;

__global__ void sum_rows(const float *in, float *out)
{
    __shared__ float stage[2][WIDTH];
    const int t = threadIdx.x;
    float sum = 0.0f;
    __pipeline_memcpy_async(&stage[0][t], &in[t], sizeof(float));
    __pipeline_commit();
    for (int i = 0; i < ROUNDS; i++) {
#ifdef FIXED
        if (i + 1 < ROUNDS)
#endif
            __pipeline_memcpy_async(&stage[(i + 1) % 2][t], // FAULT
                                    &in[(i + 1) % ROUNDS * WIDTH + t], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += stage[i % 2][WIDTH - 1 - t];
        __syncthreads();
    }
    out[t] = sum;
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, ROUNDS * WIDTH * sizeof *in);
    cudaMalloc(&out, WIDTH * sizeof *out);
    cudaMemset(in, 0, ROUNDS * WIDTH * sizeof *in);
    sum_rows<<<1, WIDTH>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
