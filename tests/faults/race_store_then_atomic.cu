// One thread sets a sum to zero and adds to it itself before the others do: nothing says
// that they add only afterwards. Its own atomic must not hide its store.
// EXPECT: data race in shared memory
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void sum(const int *in, int *out)
{
    __shared__ int total;
    if (threadIdx.x == 0) total = 0; // OTHER
#ifdef FIXED
    __syncthreads();
#endif
    atomicAdd(&total, in[threadIdx.x]); // FAULT
    __syncthreads();
    if (threadIdx.x == 0) *out = total;
}

int main(void)
{
    int *in, *out;
    cudaMalloc(&in, 64 * sizeof *in);
    cudaMalloc(&out, sizeof *out);
    cudaMemset(in, 0, 64 * sizeof *in);
    sum<<<1, 64>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
