// Bytes: neighbours that share a word are no race, and one byte for two blocks is.
// EXPECT: data race in global memory, byte 63 of
// THREAD (0,0,0) BLOCK (2,0,0)
#include "fault.h"

__global__ void mark(unsigned char *seen)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef FIXED
    seen[i] = (unsigned char)(i + 1);
#else
    seen[i < 63 ? i : 63] = (unsigned char)(i + 1); // FAULT
#endif
}

int main(void)
{
    unsigned char *seen;
    cudaMalloc(&seen, 128);
    mark<<<4, 32>>>(seen);
    int status = finish();
    cudaFree(seen);
    return status;
}
