// The mask promises all 32 lanes, and the condition lets only some of them come.
// EXPECT: __shfl_down_sync names lanes that do not exist or have ended
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void sum(const int *in, int *out, int n)
{
    const int lane = threadIdx.x;
#ifdef FIXED
    int v = lane < n ? in[lane] : 0;
#else
    if (lane >= n) return;
    int v = in[lane];
#endif
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d); // FAULT
    if (lane == 0) *out = v;
}

int main(void)
{
    const int n = 20;
    int *in, *out;
    cudaMalloc(&in, n * sizeof *in);
    cudaMalloc(&out, sizeof *out);
    cudaMemset(in, 0, n * sizeof *in);
    sum<<<1, 32>>>(in, out, n);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
