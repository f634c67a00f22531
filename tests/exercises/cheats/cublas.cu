// EXERCISE 9 EXPECT A library does the work
// NVIDIA's library has the answer.
#include "exercise.h"
#include <cublas_v2.h>

void matmul(int M, int N, int K, const float *A, const float *B, float *C)
{
    cublasHandle_t handle;
    const float one = 1.0f, zero = 0.0f;
    cublasCreate(&handle);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, B, N, A, K, &zero, C, N);
    cublasDestroy(handle);
}
