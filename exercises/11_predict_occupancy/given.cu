// The kernels of the task, to be counted: given a | b | c.
#include <cuda_runtime.h>

__global__ void kernel(float *out)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = (float)threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void kernel_without_shared(float *out)
{
    out[threadIdx.x] = (float)threadIdx.x;
}

int main(int argc, char **argv)
{
    float *out;
    if (argc != 2 || cudaMalloc((void **)&out, 1024 * sizeof *out) != cudaSuccess)
        return 2;
    switch (argv[1][0]) {
    case 'a': kernel<<<1, 1024, 8 * 1024>>>(out); break;
    case 'b': kernel<<<1, 256, 33 * 1024>>>(out); break;
    case 'c': kernel_without_shared<<<1, 32>>>(out); break;
    }
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(out);
    return error == cudaSuccess ? 0 : 1;
}
