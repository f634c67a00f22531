// cudaMemset of a __device__ variable by its name's address, not by the one on the device.
// EXPECT: FAULT counter is a variable of device code
// EXPECT: cudaGetSymbolAddress
#include "fault.h"

__device__ int counter;

__global__ void count(void)
{
    atomicAdd(&counter, 1);
}

int main(void)
{
    int total;
#ifdef FIXED
    void *address;
    cudaGetSymbolAddress(&address, counter);
    cudaMemset(address, 0, sizeof(int));
#else
    cudaMemset(&counter, 0, sizeof(int)); // FAULT
#endif
    count<<<1, 32>>>();
    const int status = finish();
    cudaMemcpyFromSymbol(&total, counter, sizeof total);
    return total == 32 ? status : 4;
}
