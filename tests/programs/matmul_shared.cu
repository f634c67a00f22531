// The classic matrix product with 16 x 16 tiles in shared memory, any shape.
#include "check.h"

#define TILE 16

__global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
        As[ty][tx] = row < M && t * TILE + tx < K ? A[row * K + t * TILE + tx] : 0.0f;
        Bs[ty][tx] = col < N && t * TILE + ty < K ? B[(t * TILE + ty) * N + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}

static void run(int M, int N, int K)
{
    float *A, *B, *C;
    CHECK(cudaMallocManaged(&A, sizeof(float) * M * K));
    CHECK(cudaMallocManaged(&B, sizeof(float) * K * N));
    CHECK(cudaMallocManaged(&C, sizeof(float) * M * N));
    for (int i = 0; i < M * K; i++) A[i] = noise(i);
    for (int i = 0; i < K * N; i++) B[i] = noise(i + 77);
    dim3 threads(TILE, TILE), blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    matmul<<<blocks, threads>>>(A, B, C, M, N, K);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            double want = 0.0;
            for (int k = 0; k < K; k++) want += (double)A[i * K + k] * B[k * N + j];
            EXPECT(close_to(C[i * N + j], want, 1e-5));
        }
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));
}

int main(void)
{
    run(64, 64, 64);
    run(1, 1, 1);
    run(37, 61, 53);
    run(5, 100, 2);
    return pass();
}
