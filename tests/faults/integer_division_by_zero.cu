// A mean over the numbers that were found, and in the second block there are none.
// EXPECT: integer division by zero: 12 / 0
// THREAD (0,0,0) BLOCK (1,0,0)
#include "fault.h"

__global__ void means(const unsigned *sums, const unsigned *counts, unsigned *out)
{
    const unsigned i = blockIdx.x;
#ifdef FIXED
    if (counts[i] == 0) return;
#endif
    out[i] = sums[i] / counts[i]; // FAULT
}

int main(void)
{
    const unsigned numbers[] = {12, 12, 4, 0};
    unsigned *in, *out;
    cudaMalloc(&in, sizeof numbers);
    cudaMalloc(&out, 2 * sizeof *out);
    cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    means<<<2, 1>>>(in, in + 2, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
