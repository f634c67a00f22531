// A kernel gets an array that lives in host memory because nobody called cudaMalloc.
// EXPECT: host memory: a read of 4 bytes in a variable of the host
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

enum { N = 64 };
static float in[N], out[N];

__global__ void twice(const float *from, float *to)
{
    to[threadIdx.x] = 2.0f * from[threadIdx.x]; // FAULT
}

int main(void)
{
    for (int i = 0; i < N; i++) in[i] = (float)i;
#ifdef FIXED
    float *from, *to;
    cudaMalloc(&from, sizeof in);
    cudaMalloc(&to, sizeof out);
    cudaMemcpy(from, in, sizeof in, cudaMemcpyHostToDevice);
    twice<<<1, N>>>(from, to);
    cudaMemcpy(out, to, sizeof out, cudaMemcpyDeviceToHost);
    cudaFree(from);
    cudaFree(to);
#else
    twice<<<1, N>>>(in, out);
#endif
    const int status = finish();
    return out[3] == 6.0f ? status : 4;
}
