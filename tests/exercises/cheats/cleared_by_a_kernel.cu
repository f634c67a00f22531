// EXERCISE 1 EXPECT cudaMemset, which is for the host
// The results are written where the lens does not look, by a function of the host's.
#include "exercise.h"

__global__ void kernel(int n, float *out)
{
    if (threadIdx.x == 0)
        cudaMemset(out, 0, n * sizeof(float));
}

void axpy(int n, float a, const float *x, const float *y, float *out)
{
    (void)a, (void)x, (void)y;
    kernel<<<1, 32>>>(n, out);
}
