// A pipeline of two stages is filled with three.
// EXPECT: asynchronous copy not waited for
// EXPECT: an earlier one may still be on its way
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"
#include <cuda/pipeline>

#ifdef FIXED
enum { AHEAD = 2 };
#else
enum { AHEAD = 3 };
#endif

__global__ void add(const float *in, float *out)
{
    __shared__ alignas(16) float stage[2][128];
    const auto bytes = cuda::aligned_size_t<16>(16);
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0, ahead = 0; i < 4; i++) {
        for (; ahead < i + AHEAD && ahead < 4; ahead++) {
            float *to = &stage[ahead % 2][4 * t];
            pipe.producer_acquire();
            cuda::memcpy_async(to, &in[4 * t], bytes, pipe); // FAULT
            pipe.producer_commit();
        }
        if (i < 3)
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        else
            cuda::pipeline_consumer_wait_prior<0>(pipe);
        sum += stage[i % 2][4 * t];
        pipe.consumer_release();
    }
    out[t] = sum;
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, 128 * sizeof *in);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(in, 0, 128 * sizeof *in);
    add<<<1, 32>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
