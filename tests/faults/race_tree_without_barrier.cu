// A tree reduction whose loop has lost its barrier.
// EXPECT: data race in shared memory
#include "fault.h"

__global__ void reduce(const float *in, float *out)
{
    __shared__ float s[128];
    const int t = threadIdx.x;
    s[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d]; // FAULT
#ifdef FIXED
        __syncthreads();
#endif
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

int main(void)
{
    float *in, *out;
    cudaMalloc(&in, 256 * sizeof *in);
    cudaMalloc(&out, 2 * sizeof *out);
    cudaMemset(in, 0, 256 * sizeof *in);
    reduce<<<2, 128>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
