// A negative index again, but another array lies in front: it must not get the blame.
// EXPECT: out of bounds: a read of 4 bytes in global memory, 4 bytes before the start of
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void shift(const float *first, const float *second, float *out)
{
    const int i = threadIdx.x;
#ifdef FIXED
    const float left = i > 0 ? second[i - 1] : 0.0f;
#else
    const float left = second[i - 1]; // FAULT
#endif
    out[i] = first[i] + left;
}

int main(void)
{
    float *first, *second, *out;
    cudaMalloc(&first, 32 * sizeof *first);
    cudaMalloc(&second, 32 * sizeof *second); // OTHER
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(first, 0, 32 * sizeof *first);
    cudaMemset(second, 0, 32 * sizeof *second);
    shift<<<1, 32>>>(first, second, out);
    int status = finish();
    cudaFree(first);
    cudaFree(second);
    cudaFree(out);
    return status;
}
