// Of cuBLAS what copies, exchanges, adds up and transposes.
// BUILD: -lcublas
#include "check.h"

#include <cublas_v2.h>

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

int main(void)
{
    enum { M = 3, N = 4, LD = 5 };
    const float one = 1.0f, zero = 0.0f, half = 0.5f;
    float *A, *B, *x, *y;
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    CHECK(cudaMallocManaged(&A, LD * N * sizeof *A));
    CHECK(cudaMallocManaged(&B, N * LD * sizeof *B));
    CHECK(cudaMallocManaged(&x, N * sizeof *x));
    CHECK(cudaMallocManaged(&y, 2 * N * sizeof *y));
    for (int i = 0; i < LD * N; i++) A[i] = (float)i;
    for (int i = 0; i < N; i++) x[i] = (float)(i + 1);

    BLAS(cublasScopy(handle, N, x, 1, y, 2));
    BLAS(cublasSswap(handle, N, x, 1, y, -2)); // y is walked through backwards
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) EXPECT(x[i] == N - i && y[2 * i] == N - i);

    BLAS(cublasSger(handle, M, N, &half, x, 1, y, 2, A, LD));
    CHECK(cudaDeviceSynchronize());
    for (int j = 0; j < N; j++)
        for (int i = 0; i < LD; i++)
            EXPECT(A[i + j * LD] == i + j * LD + (i < M ? 0.5f * (N - i) * (N - j) : 0));

    // Transposed into B, whose columns are as long as A's rows.
    BLAS(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, N, M, &one, A, LD, &zero, B, N, B,
                     N));
    CHECK(cudaDeviceSynchronize());
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) EXPECT(B[j + i * N] == A[i + j * LD]);
    // And twice itself, in place.
    BLAS(cublasSgeam(handle, CUBLAS_OP_N, CUBLAS_OP_T, N, M, &one, B, N, &one, A, LD, B,
                     N));
    CHECK(cudaDeviceSynchronize());
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) EXPECT(B[j + i * N] == 2 * A[i + j * LD]);
    EXPECT(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, M, M, &one, A, LD, &zero, A, LD,
                       A, LD) == CUBLAS_STATUS_INVALID_VALUE);

    BLAS(cublasDestroy(handle));
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    return pass();
}
