// A kernel is handed a __device__ array's name by the host, whose address it is not.
// EXPECT: FAULT host memory: a write of 4 bytes where the host has squares
// EXPECT: cudaGetSymbolAddress
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__device__ int squares[32];

__global__ void square(int *out)
{
    const int i = threadIdx.x;
    out[i] = i * i; // FAULT
}

int main(void)
{
#ifdef FIXED
    void *address;
    cudaGetSymbolAddress(&address, squares);
    int *const out = (int *)address;
#else
    int *const out = squares;
#endif
    square<<<1, 32>>>(out);
    return finish();
}
