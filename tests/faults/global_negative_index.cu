// The left neighbour of the first element.
// EXPECT: out of bounds: a read of 8 bytes in global memory
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void blur(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef FIXED
    double left = i > 0 ? in[i - 1] : 0.0;
#else
    double left = in[i - 1]; // FAULT
#endif
    out[i] = 0.5 * (left + in[i]);
}

int main(void)
{
    const int n = 64;
    double *in, *out;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&out, n * sizeof *out);
    cudaMemset(in, 0, n * sizeof *in);
    blur<<<2, 32>>>(in, out, n);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
