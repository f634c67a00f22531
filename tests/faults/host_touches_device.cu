// The host reads a result without copying it.
// EXPECT: host code touches device memory
#include "fault.h"

__global__ void answer(int *out)
{
    *out = 42;
}

int main(void)
{
    int *out, value = 0;
    cudaMalloc(&out, sizeof *out);
    answer<<<1, 1>>>(out);
    int status = finish();
#ifdef FIXED
    cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
#else
    value = *out; // FAULT
#endif
    cudaFree(out);
    return value == 42 ? status : 4;
}
