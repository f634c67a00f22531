// cuBLAS: single, double and GemmEx, both transpositions, column-major with leading
// dimensions.
// BUILD: -lcublas
#include "check.h"
#include <cublas_v2.h>

#define CHECK_BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

enum { M = 23, N = 17, K = 31, LDC = M + 2 };

// The definition: op(A) is M x K, op(B) is K x N, element (row, column) of X at row +
// column * ld.
template <typename T>
static double want(const T *A, int lda, bool ta, const T *B, int ldb, bool tb, int row,
                   int column)
{
    double sum = 0.0;
    for (int k = 0; k < K; k++)
        sum += (double)(ta ? A[k + row * lda] : A[row + k * lda]) *
               (double)(tb ? B[column + k * ldb] : B[k + column * ldb]);
    return sum;
}

int main(void)
{
    float *A, *B, *C;
    double *DA, *DB, *DC;
    CHECK(cudaMallocManaged(&A, M * K * sizeof *A));
    CHECK(cudaMallocManaged(&B, K * N * sizeof *B));
    CHECK(cudaMallocManaged(&C, LDC * N * sizeof *C));
    CHECK(cudaMallocManaged(&DA, M * K * sizeof *DA));
    CHECK(cudaMallocManaged(&DB, K * N * sizeof *DB));
    CHECK(cudaMallocManaged(&DC, LDC * N * sizeof *DC));
    for (int i = 0; i < M * K; i++) DA[i] = A[i] = noise(i);
    for (int i = 0; i < K * N; i++) DB[i] = B[i] = noise(i + 5000);

    cublasHandle_t handle;
    CHECK_BLAS(cublasCreate(&handle));
    const float alpha = 1.5f, beta = -0.5f;
    const double dalpha = 2.0, dbeta = 0.0;
    for (int t = 0; t < 4; t++) {
        const bool ta = t & 1, tb = t & 2;
        const int lda = ta ? K : M, ldb = tb ? N : K;
        const cublasOperation_t op_a = ta ? CUBLAS_OP_T : CUBLAS_OP_N;
        const cublasOperation_t op_b = tb ? CUBLAS_OP_T : CUBLAS_OP_N;
        for (int i = 0; i < LDC * N; i++) {
            C[i] = 1.0f;
            DC[i] = NAN;
        }
        CHECK_BLAS(cublasSgemm(handle, op_a, op_b, M, N, K, &alpha, A, lda, B, ldb, &beta,
                               C, LDC));
        CHECK_BLAS(cublasDgemm(handle, op_a, op_b, M, N, K, &dalpha, DA, lda, DB, ldb,
                               &dbeta, DC, LDC));
        CHECK(cudaDeviceSynchronize());
        for (int j = 0; j < N; j++)
            for (int i = 0; i < LDC; i++) {
                if (i >= M) {
                    EXPECT(C[i + j * LDC] == 1.0f && isnan(DC[i + j * LDC]));
                    continue;
                }
                const double w = want(A, lda, ta, B, ldb, tb, i, j);
                EXPECT(close_to(C[i + j * LDC], 1.5 * w - 0.5, 1e-4));
                EXPECT(close_to(DC[i + j * LDC],
                                2.0 * want(DA, lda, ta, DB, ldb, tb, i, j), 1e-12));
            }
    }

    CHECK_BLAS(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
    CHECK_BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, A,
                            CUDA_R_32F, M, B, CUDA_R_32F, K, &beta, C, CUDA_R_32F, LDC,
                            CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    CHECK(cudaDeviceSynchronize());
    EXPECT(C[M] == 1.0f);
    CHECK_BLAS(cublasDestroy(handle));
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));
    CHECK(cudaFree(DA));
    CHECK(cudaFree(DB));
    CHECK(cudaFree(DC));
    return pass();
}
