// A recursion that has lost its end.
// EXPECT: local memory overflow
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__device__ __noinline__ int depth(int n, volatile int *stop)
{
    volatile int local[16];
    local[n % 16] = n;
    if (n == *stop) return 0;
    return depth(n + 1, stop) + (local[n % 16] == n);
}

__global__ void run(int *stop, int *out)
{
    *out = depth(0, stop);
}

int main(void)
{
    int *stop, *out;
#ifdef FIXED
    const int end = 10;
#else
    const int end = -1;
#endif
    cudaMalloc(&stop, sizeof *stop);
    cudaMalloc(&out, sizeof *out);
    cudaMemcpy(stop, &end, sizeof end, cudaMemcpyHostToDevice);
    run<<<1, 1>>>(stop, out);
    int status = finish();
    cudaFree(stop);
    cudaFree(out);
    return status;
}
