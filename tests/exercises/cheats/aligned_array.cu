// EXERCISE 1 EXPECT an alignment of
// Asks the runtime for a shared array that would lie behind all shared memory, where the
// runtime's variables are: it would be filled with 0xff there.
#include "exercise.h"

__global__ void axpy_kernel(float a, const float *x, const float *y, float *out)
{
    static emu_shared_site site;
    emu_shared_array(&site, 64, (size_t)1 << 40, "x");
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a * x[i] + y[i];
}

void axpy(int n, float a, const float *x, const float *y, float *out)
{
    axpy_kernel<<<n / 256, 256>>>(a, x, y, out);
}
