// The accesses of the task, to be counted: given 1 ... 8.
#include <cuda_runtime.h>
#include <stdlib.h>

template <int CASE> __global__ void kernel(const float *x, float *out)
{
    __shared__ __align__(16) float s[34 * 32];
    const int lane = threadIdx.x;
    if (CASE > 4) {
        for (int i = lane; i < 34 * 32; i += 32)
            s[i] = 1.0f;
        __syncthreads();
    }
    float value = 0.0f;
    switch (CASE) {
    case 1: value = x[lane]; break;
    case 2: value = x[lane + 1]; break;
    case 3: value = x[3 * lane]; break;
    case 4: value = x[lane / 4 * 100]; break;
    case 5: value = s[2 * lane]; break;
    case 6: value = s[33 * lane]; break;
    case 7: value = s[lane / 8 * 32 + lane % 8]; break;
    case 8: {
        const float4 v = ((const float4 *)s)[lane];
        value = v.x + v.y + v.z + v.w;
        break;
    }
    }
    out[lane] = value;
}

typedef void (*kernel_pointer)(const float *, float *);

int main(int argc, char **argv)
{
    static const kernel_pointer kernels[] = {kernel<1>, kernel<2>, kernel<3>, kernel<4>,
                                             kernel<5>, kernel<6>, kernel<7>, kernel<8>};
    const int number = argc == 2 ? atoi(argv[1]) : 0;
    if (number < 1 || number > 8)
        return 2;
    float *x, *out;
    if (cudaMalloc((void **)&x, 1024 * sizeof *x) != cudaSuccess ||
        cudaMalloc((void **)&out, 32 * sizeof *out) != cudaSuccess)
        return 1;
    cudaMemset(x, 0, 1024 * sizeof *x);
    kernels[number - 1]<<<1, 32>>>(x, out);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(out);
    return error == cudaSuccess ? 0 : 1;
}
