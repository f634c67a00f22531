// EXERCISE 9 EXPECT `cudaMemcpy` is called, on line 8
// The processor does the work, on a copy.
#include "exercise.h"

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    static float a[10000], b[10000], c[10000];
    cudaMemcpy(a, A, sizeof(float) * M * K, cudaMemcpyDeviceToHost);
    cudaMemcpy(b, B, sizeof(float) * K * N, cudaMemcpyDeviceToHost);
    cudaMemcpy(C, c, sizeof(float) * M * N, cudaMemcpyHostToDevice);
}
