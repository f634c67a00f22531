// The guard lets one thread too many through.
// EXPECT: out of bounds: a read of 4 bytes in global memory
// THREAD (4,0,0) BLOCK (3,0,0)
#include "fault.h"

#ifdef FIXED
#define IN_RANGE(i, n) ((i) < (n))
#else
#define IN_RANGE(i, n) ((i) <= (n))
#endif

__global__ void add_one(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (IN_RANGE(i, n)) {
        float x = in[i]; // FAULT
        out[i] = x + 1.0f;
    }
}

int main(void)
{
    const int n = 100;
    float *in, *out;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&out, n * sizeof *out);
    cudaMemset(in, 0, n * sizeof *in);
    add_one<<<4, 32>>>(in, out, n);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
