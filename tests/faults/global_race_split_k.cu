// Each block has a part of the sum, and all add to one word: half of the additions can be
// lost.
// EXPECT: data race in global memory
// EXPECT: thread (3,0,0) of block (0,0,0) wrote it
// THREAD (3,0,0) BLOCK (1,0,0)
#include "fault.h"

const int PARTS = 4, ROWS = 8, DEPTH = 16;

__global__ void sum_rows(const float *in, float *out)
{
    const int row = threadIdx.x, first = blockIdx.x * (DEPTH / PARTS);
    float sum = 0.0f;
    for (int k = first; k < first + DEPTH / PARTS; k++) sum += in[row * DEPTH + k];
    if (row < 3) return;
#ifdef FIXED
    atomicAdd(&out[row], sum);
#else
    out[row] += sum; // FAULT
#endif
}

int main(void)
{
    float *in, *out, ones[ROWS * DEPTH];
    for (int i = 0; i < ROWS * DEPTH; i++) ones[i] = 1.0f;
    cudaMalloc(&in, sizeof ones);
    cudaMalloc(&out, ROWS * sizeof *out);
    cudaMemcpy(in, ones, sizeof ones, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, ROWS * sizeof *out);
    sum_rows<<<PARTS, ROWS>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
