// The kernels of the task, to be counted: given axpy | naive | tiled.
#include <cuda_runtime.h>
#include <string.h>

enum { N = 96, TILE = 32 };

__global__ void axpy(float a, const float *x, const float *y, float *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a * x[i] + y[i];
}

__global__ void naive(const float *A, const float *B, float *C)
{
    const int row = blockIdx.y * TILE + threadIdx.y,
              col = blockIdx.x * TILE + threadIdx.x;
    float acc = 0.0f;
    for (int k = 0; k < N; ++k)
        acc += A[row * N + k] * B[k * N + col];
    C[row * N + col] = acc;
}

__global__ void tiled(const float *A, const float *B, float *C)
{
    __shared__ float s[2][TILE][TILE];
    const int y = threadIdx.y, x = threadIdx.x;
    const float *from_A = A + (blockIdx.y * TILE + y) * N + x;
    const float *from_B = B + y * N + blockIdx.x * TILE + x;
    float acc = 0.0f;
    for (int k0 = 0; k0 < N; k0 += TILE, from_A += TILE, from_B += TILE * N) {
        s[0][y][x] = *from_A;
        s[1][y][x] = *from_B;
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            acc += s[0][y][k] * s[1][k][x];
        __syncthreads();
    }
    C[(blockIdx.y * TILE + y) * N + blockIdx.x * TILE + x] = acc;
}

int main(int argc, char **argv)
{
    float *x, *y, *out;
    if (argc != 2 || cudaMalloc((void **)&x, N * N * sizeof *x) != cudaSuccess ||
        cudaMalloc((void **)&y, N * N * sizeof *y) != cudaSuccess ||
        cudaMalloc((void **)&out, N * N * sizeof *out) != cudaSuccess)
        return 2;
    cudaMemset(x, 0, N * N * sizeof *x);
    cudaMemset(y, 0, N * N * sizeof *y);
    const dim3 blocks(N / TILE, N / TILE), threads(TILE, TILE);
    if (strcmp(argv[1], "axpy") == 0)
        axpy<<<N * N / 256, 256>>>(2.0f, x, y, out);
    else if (strcmp(argv[1], "naive") == 0)
        naive<<<blocks, threads>>>(x, y, out);
    else
        tiled<<<blocks, threads>>>(x, y, out);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(y);
    cudaFree(out);
    return error == cudaSuccess ? 0 : 1;
}
