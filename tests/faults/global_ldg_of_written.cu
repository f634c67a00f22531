// __ldg of what another thread of the kernel has written: it may be read from a cache that does
// not know of it, whatever barrier lies between.
// EXPECT: __ldg of byte 4 of words
// EXPECT: which this launch has written
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void shift(int *words, int *out)
{
    const int i = threadIdx.x;
    words[i] = i;
    __syncthreads();
#ifdef FIXED
    out[i] = words[(i + 1) % blockDim.x];
#else
    out[i] = __ldg(&words[(i + 1) % blockDim.x]); // FAULT
#endif
}

__global__ void twice(const int *words, int *out)
{
    out[threadIdx.x] = 2 * __ldg(words + threadIdx.x);
}

int main(void)
{
    int *words;
    cudaMalloc(&words, 64 * sizeof *words);
    shift<<<1, 32>>>(words, words + 32);
    // What an earlier launch has written may be read so.
    twice<<<1, 32>>>(words + 32, words);
    twice<<<1, 32>>>(words, words + 32);
    const int status = finish();
    cudaFree(words);
    return status;
}
