// A thread copies with memcpy what another writes, and no barrier is between.
// EXPECT: data race in shared memory
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"
#include <string.h>

__global__ void spread(const int4 *in, int4 *out)
{
    __shared__ int4 tile[32];
    const unsigned i = threadIdx.x;
    tile[i] = in[i]; // OTHER
#ifdef FIXED
    __syncthreads();
#endif
    memcpy(&out[i], &tile[i / 2], sizeof *out); // FAULT
}

int main(void)
{
    int4 *in, *out;
    cudaMalloc(&in, 32 * sizeof *in);
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMemset(in, 0, 32 * sizeof *in);
    spread<<<1, 32>>>(in, out);
    const int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
