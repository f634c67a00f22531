// The host sets a __device__ variable by its name: a GPU's copy would never see that.
// EXPECT: host code touches a __device__ or __constant__ variable
// EXPECT: cudaMemcpyToSymbol
#include "fault.h"

__device__ int counter;

__global__ void count(void)
{
    atomicAdd(&counter, 1);
}

int main(void)
{
    const int start = 5;
    int total;
#ifdef FIXED
    cudaMemcpyToSymbol(counter, &start, sizeof start);
#else
    counter = start; // FAULT
#endif
    count<<<1, 32>>>();
    const int status = finish();
    cudaMemcpyFromSymbol(&total, counter, sizeof total);
    return total == 37 ? status : 4;
}
