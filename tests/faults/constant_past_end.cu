// The stencil's coefficients are read one too far.
// EXPECT: out of bounds: right before it end the __device__ and __constant__ variables
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

const int RADIUS = 2, TAPS = 2 * RADIUS + 1;
__constant__ float taps[TAPS];

__global__ void sum_taps(int count, float *out)
{
    float sum = 0.0f;
#ifdef FIXED
    for (int i = 0; i < count; i++) sum += taps[i];
#else
    for (int i = 0; i <= count; i++) sum += taps[i]; // FAULT
#endif
    *out = sum;
}

int main(void)
{
    const float host[] = {1.0f, 2.0f, 3.0f, 2.0f, 1.0f};
    float *out;
    cudaMemcpyToSymbol(taps, host, sizeof host);
    cudaMalloc(&out, sizeof *out);
    sum_taps<<<1, 1>>>(TAPS, out);
    int status = finish();
    cudaFree(out);
    return status;
}
