// One thread deletes an object that the others still read.
// EXPECT: use after free
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void share(int *out)
{
    __shared__ int *box;
    if (threadIdx.x == 0) box = new int(5);
    __syncthreads();
    out[threadIdx.x] = *box; // FAULT
#ifdef FIXED
    __syncthreads();
#endif
    if (threadIdx.x == 0) delete box; // OTHER
}

int main(void)
{
    int *out, first;
    cudaMalloc(&out, 32 * sizeof *out);
    share<<<1, 32>>>(out);
    const int status = finish();
    cudaMemcpy(&first, out, sizeof first, cudaMemcpyDeviceToHost);
    cudaFree(out);
    return first == 5 ? status : 4;
}
