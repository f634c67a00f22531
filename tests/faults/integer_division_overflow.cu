// The least int has no counterpart above zero.
// EXPECT: integer overflow: -2147483648 / -1 does not fit 'int'
// THREAD (2,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void divide(const int *in, int by, int *out)
{
    const int i = threadIdx.x;
#ifdef FIXED
    out[i] = (int)((long long)in[i] % by);
#else
    out[i] = in[i] % by; // FAULT
#endif
}

int main(void)
{
    const int numbers[] = {7, -7, -2147483647 - 1};
    int *in, *out;
    cudaMalloc(&in, sizeof numbers);
    cudaMalloc(&out, sizeof numbers);
    cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    divide<<<1, 3>>>(in, -1, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
