// An atomic adds to what is there, and nothing is.
// EXPECT: uninitialised global memory
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void count(const int *in, int *odd)
{
    if (in[threadIdx.x] & 1) atomicAdd(odd, 1); // FAULT
}

int main(void)
{
    int host[64], *in, *odd;
    for (int i = 0; i < 64; i++) host[i] = i + 1;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&odd, sizeof *odd);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
#ifdef FIXED
    cudaMemset(odd, 0, sizeof *odd);
#endif
    count<<<1, 64>>>(in, odd);
    int status = finish();
    cudaFree(in);
    cudaFree(odd);
    return status;
}
