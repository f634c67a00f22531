// EXERCISE 35 EXPECT no stream or event that CUDA has created
// The same with a kernel.
#include "exercise.h"

__global__ void kernel()
{
}

void axpy_on_two(int, float, const float *, const float *, float *, float *)
{
    kernel<<<1, 1, 0, (cudaStream_t)0x4a000000>>>();
}
