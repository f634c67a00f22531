// Of cuBLAS numbers of 8 and 16 bits, batches, copies in a stream, and cuBLASXt, whose
// matrices lie on the host.
// BUILD: -lcublas
#include "check.h"

#include <cublasXt.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

enum { M = 8, N = 4, K = 12, BATCH = 2 };

static void check_bytes(cublasHandle_t handle)
{
    signed char *A, *B;
    int *C;
    const int alpha = 2, beta = -1;
    CHECK(cudaMallocManaged(&A, M * K));
    CHECK(cudaMallocManaged(&B, K * N));
    CHECK(cudaMallocManaged(&C, M * N * sizeof *C));
    for (int i = 0; i < M * K; i++) A[i] = (signed char)(37 * i);
    for (int i = 0; i < K * N; i++) B[i] = (signed char)(91 * i);
    for (int i = 0; i < M * N; i++) C[i] = i;
    BLAS(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, M, N, K, &alpha, A, CUDA_R_8I, K,
                      B, CUDA_R_8I, K, &beta, C, CUDA_R_32I, M, CUBLAS_COMPUTE_32I,
                      CUBLAS_GEMM_ALGO0));
    CHECK(cudaDeviceSynchronize());
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            int sum = 0;
            for (int k = 0; k < K; k++) sum += A[k + i * K] * B[k + j * K];
            EXPECT(C[i + j * M] == 2 * sum - (i + j * M));
        }
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));
}

static void check_halves(cublasHandle_t handle)
{
    __half *x, *y;
    float sum = 0, norm = 0;
    const float three = 3;
    const __half one = __float2half(1.0f), zero = __float2half(0.0f);
    CHECK(cudaMallocManaged(&x, M * K * sizeof *x));
    CHECK(cudaMallocManaged(&y, M * K * sizeof *y));
    for (int i = 0; i < M; i++) x[i] = y[i] = __float2half((float)(i - 2));
    BLAS(cublasAxpyEx(handle, M, &three, CUDA_R_32F, x, CUDA_R_16F, 1, y, CUDA_R_16F, 1,
                      CUDA_R_32F));
    BLAS(cublasScalEx(handle, M, &three, CUDA_R_32F, x, CUDA_R_16F, 1, CUDA_R_32F));
    CHECK(cudaDeviceSynchronize());
    EXPECT(__half2float(y[5]) == 12 && __half2float(x[5]) == 9);
    float *z;
    CHECK(cudaMallocManaged(&z, M * sizeof *z));
    for (int i = 0; i < M; i++) z[i] = (float)(i - 3);
    BLAS(cublasDotEx(handle, M, z, CUDA_R_32F, 1, z, CUDA_R_32F, 1, &sum, CUDA_R_32F,
                     CUDA_R_32F));
    BLAS(cublasNrm2Ex(handle, M, z, CUDA_R_32F, 1, &norm, CUDA_R_32F, CUDA_R_32F));
    EXPECT(sum == 9 + 4 + 1 + 0 + 1 + 4 + 9 + 16);
    EXPECT(close_to(norm * norm, sum, 1e-6));
    int where = 0;
    BLAS(cublasIsamin(handle, M, z, 1, &where));
    EXPECT(where == 4);

    /* Two products side by side: of matrices at a distance, and of a list of them. */
    __half **lists;
    CHECK(cudaMallocManaged(&lists, 3 * BATCH * sizeof *lists));
    for (int i = 0; i < M * K; i++) x[i] = __float2half((float)(i % 5));
    for (int i = 0; i < BATCH; i++) {
        lists[i] = x + i * 4;
        lists[BATCH + i] = x + 8 + i * 4;
        lists[2 * BATCH + i] = y + 8 + i * 4;
    }
    BLAS(cublasHgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, x, 2,
                                   4, x + 8, 2, 4, &zero, y, 2, 4, BATCH));
    BLAS(cublasHgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, lists, 2,
                            lists + BATCH, 2, &zero, lists + 2 * BATCH, 2, BATCH));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4 * BATCH; i++)
        EXPECT(__half2float(y[i]) == __half2float(y[i + 8]));
    EXPECT(__half2float(y[0]) == 0 * 3 + 2 * 4);
    const float first = 1, none = 0;
    BLAS(cublasGemmBatchedEx(
        handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &first, (void **)lists, CUDA_R_16F, 2,
        (void **)(lists + BATCH), CUDA_R_16F, 2, &none, (void **)(lists + 2 * BATCH),
        CUDA_R_16F, 2, BATCH, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4 * BATCH; i++)
        EXPECT(__half2float(y[i]) == __half2float(y[i + 8]));
    CHECK(cudaFree(lists));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFree(z));
}

/* Matrices to the device, rows of them times vectors, and back, all in one stream. */
static void check_stream(cublasHandle_t handle)
{
    float *host, *A, *x, *y;
    cudaStream_t stream;
    const float one = 1, zero = 0;
    CHECK(cudaStreamCreate(&stream));
    BLAS(cublasSetStream(handle, stream));
    CHECK(cudaMallocHost(&host, BATCH * M * N * sizeof *host));
    CHECK(cudaMalloc(&A, BATCH * M * N * sizeof *A));
    CHECK(cudaMalloc(&x, BATCH * N * sizeof *x));
    CHECK(cudaMalloc(&y, BATCH * M * sizeof *y));
    for (int i = 0; i < BATCH * M * N; i++) host[i] = (float)(i % 11);
    BLAS(cublasSetMatrixAsync(M, BATCH * N, sizeof *A, host, M, A, M, stream));
    BLAS(cublasSetVectorAsync(BATCH * N, sizeof *A, host, 1, x, 1, stream));
    BLAS(cublasSgemvStridedBatched(handle, CUBLAS_OP_N, M, N, &one, A, M, M * N, x, 1, N,
                                   &zero, y, 1, M, BATCH));
    BLAS(cublasGetVectorAsync(BATCH * M, sizeof *A, y, 1, host, 1, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < M; i++) {
            int sum = 0;
            for (int k = 0; k < N; k++)
                sum += (b * M * N + i + k * M) % 11 * ((b * N + k) % 11);
            EXPECT(host[b * M + i] == (float)sum);
        }
    BLAS(cublasSetStream(handle, 0));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(A));
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
}

static void check_host(void)
{
    static double A[M * K], B[K * N], C[(M + 1) * N];
    const double alpha = 0.5, beta = 2;
    int devices[] = {0};
    cublasXtHandle_t handle;
    BLAS(cublasXtCreate(&handle));
    BLAS(cublasXtDeviceSelect(handle, 1, devices));
    BLAS(cublasXtSetBlockDim(handle, 64));
    for (int i = 0; i < M * K; i++) A[i] = noise(i);
    for (int i = 0; i < K * N; i++) B[i] = noise(i + 100);
    for (int i = 0; i < (M + 1) * N; i++) C[i] = i;
    BLAS(cublasXtDgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, M, N, K, &alpha, A, K, B, K,
                       &beta, C, M + 1));
    for (int j = 0; j < N; j++)
        for (int i = 0; i <= M; i++) {
            double want = i + j * (M + 1);
            for (int k = 0; k < K && i < M; k++) {
                if (k == 0) want *= beta;
                want += alpha * A[k + i * K] * B[k + j * K];
            }
            EXPECT(close_to(C[i + j * (M + 1)], want, 1e-12));
        }
    BLAS(cublasXtDestroy(handle));
}

int main(void)
{
    cublasHandle_t handle;
    BLAS(cublasCreate(&handle));
    check_bytes(handle);
    check_halves(handle);
    check_stream(handle);
    BLAS(cublasDestroy(handle));
    check_host();
    return pass();
}
