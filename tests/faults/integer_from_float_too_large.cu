// Numbers are scaled to bytes, and one is a little less than zero.
// EXPECT: integer overflow: a floating-point number does not fit
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void to_bytes(const float *in, unsigned char *out)
{
    const int i = threadIdx.x;
    const float scaled = 255.0f * in[i];
#ifdef FIXED
    out[i] = (unsigned char)fminf(fmaxf(scaled, 0.0f), 255.0f);
#else
    out[i] = (unsigned char)scaled; // FAULT
#endif
}

int main(void)
{
    const float numbers[] = {0.0f, -0.01f, 1.0f};
    float *in;
    unsigned char *out;
    cudaMalloc(&in, sizeof numbers);
    cudaMalloc(&out, 3);
    cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    to_bytes<<<1, 3>>>(in, out);
    int status = finish();
    cudaFree(in);
    cudaFree(out);
    return status;
}
