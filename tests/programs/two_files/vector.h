/* What the two files share. */
#ifndef VECTOR_H
#define VECTOR_H

#define BLOCK 64

/* A launch hidden in a macro, as many helper headers have one. */
#define LAUNCH(kernel, n, ...) kernel<<<((n) + BLOCK - 1) / BLOCK, BLOCK>>>(__VA_ARGS__)

template <typename T> __global__ void fill(T *data, T value, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = value;
}

__global__ void square(float *data, int n);
float sum_on_device(const float *data, int n);

static __device__ __forceinline__ float half_of(float x)
{
    return 0.5f * x;
}

#endif
