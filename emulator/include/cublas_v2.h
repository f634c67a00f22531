/* The part of cuBLAS that is emulated. Matrices are column-major: element (row, column)
 * is X[row + column * ldx]. */
#ifndef CUBLAS_V2_H_
#define CUBLAS_V2_H_
#define CUBLAS_API_H_ /* that programs ask for */

#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime_api.h"
#include "library_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 1
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION                                                                   \
    (CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH)

typedef struct cublasContext *cublasHandle_t;

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;

typedef enum {
    CUBLAS_POINTER_MODE_HOST = 0,
    CUBLAS_POINTER_MODE_DEVICE = 1
} cublasPointerMode_t;

typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;

typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;

typedef enum {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
} cublasGemmAlgo_t;

cublasStatus_t cublasCreate(cublasHandle_t *handle);
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);

/* Copies between host and device, `bytes` an element. */
cublasStatus_t cublasSetVector(int n, int bytes, const void *x, int incx, void *y,
                               int incy);
cublasStatus_t cublasGetVector(int n, int bytes, const void *x, int incx, void *y,
                               int incy);
cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void *A, int lda,
                               void *B, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void *A, int lda,
                               void *B, int ldb);

/* y = alpha x + y; x = alpha x; x . y; |x|; sum of |x_i|; index of the largest |x_i|,
 * from 1. */
cublasStatus_t cublasSaxpy(cublasHandle_t handle, int n, const float *alpha,
                           const float *x, int incx, float *y, int incy);
cublasStatus_t cublasDaxpy(cublasHandle_t handle, int n, const double *alpha,
                           const double *x, int incx, double *y, int incy);
cublasStatus_t cublasSscal(cublasHandle_t handle, int n, const float *alpha, float *x,
                           int incx);
cublasStatus_t cublasDscal(cublasHandle_t handle, int n, const double *alpha, double *x,
                           int incx);
cublasStatus_t cublasSdot(cublasHandle_t handle, int n, const float *x, int incx,
                          const float *y, int incy, float *result);
cublasStatus_t cublasDdot(cublasHandle_t handle, int n, const double *x, int incx,
                          const double *y, int incy, double *result);
cublasStatus_t cublasSnrm2(cublasHandle_t handle, int n, const float *x, int incx,
                           float *result);
cublasStatus_t cublasDnrm2(cublasHandle_t handle, int n, const double *x, int incx,
                           double *result);
cublasStatus_t cublasSasum(cublasHandle_t handle, int n, const float *x, int incx,
                           float *result);
cublasStatus_t cublasDasum(cublasHandle_t handle, int n, const double *x, int incx,
                           double *result);
cublasStatus_t cublasIsamax(cublasHandle_t handle, int n, const float *x, int incx,
                            int *result);
cublasStatus_t cublasIdamax(cublasHandle_t handle, int n, const double *x, int incx,
                            int *result);

/* y = alpha op(A) x + beta y, A being m x n. */
cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                           const float *alpha, const float *A, int lda, const float *x,
                           int incx, const float *beta, float *y, int incy);
cublasStatus_t cublasDgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                           const double *alpha, const double *A, int lda, const double *x,
                           int incx, const double *beta, double *y, int incy);

/* y = x; x and y change places; A = alpha x y^T + A; C = alpha op(A) + beta op(B), C being
 * m x n. */
cublasStatus_t cublasScopy(cublasHandle_t handle, int n, const float *x, int incx,
                           float *y, int incy);
cublasStatus_t cublasSswap(cublasHandle_t handle, int n, float *x, int incx, float *y,
                           int incy);
cublasStatus_t cublasSger(cublasHandle_t handle, int m, int n, const float *alpha,
                          const float *x, int incx, const float *y, int incy, float *A,
                          int lda);
cublasStatus_t cublasSgeam(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, const float *alpha,
                           const float *A, int lda, const float *beta, const float *B,
                           int ldb, float *C, int ldc);
cublasStatus_t cublasDcopy(cublasHandle_t handle, int n, const double *x, int incx,
                           double *y, int incy);
cublasStatus_t cublasDswap(cublasHandle_t handle, int n, double *x, int incx, double *y,
                           int incy);
cublasStatus_t cublasDger(cublasHandle_t handle, int m, int n, const double *alpha,
                          const double *x, int incx, const double *y, int incy, double *A,
                          int lda);
cublasStatus_t cublasDgeam(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, const double *alpha,
                           const double *A, int lda, const double *beta, const double *B,
                           int ldb, double *C, int ldc);

/* C = alpha op(A) op(B) + beta C, C being m x n and op(A) m x k. Where beta is 0, C is
 * not read. */
cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k,
                           const float *alpha, const float *A, int lda, const float *B,
                           int ldb, const float *beta, float *C, int ldc);
cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k,
                           const double *alpha, const double *A, int lda, const double *B,
                           int ldb, const double *beta, double *C, int ldc);
cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k,
                           const __half *alpha, const __half *A, int lda, const __half *B,
                           int ldb, const __half *beta, __half *C, int ldc);
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const float *alpha, const float *A, int lda,
                                         long long stride_a, const float *B, int ldb,
                                         long long stride_b, const float *beta, float *C,
                                         int ldc, long long stride_c, int count);
cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const double *alpha, const double *A, int lda,
                                         long long stride_a, const double *B, int ldb,
                                         long long stride_b, const double *beta,
                                         double *C, int ldc, long long stride_c,
                                         int count);
cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, int m, int n, int k,
                                  const float *alpha, const float *const A[], int lda,
                                  const float *const B[], int ldb, const float *beta,
                                  float *const C[], int ldc, int count);
cublasStatus_t cublasDgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, int m, int n, int k,
                                  const double *alpha, const double *const A[], int lda,
                                  const double *const B[], int ldb, const double *beta,
                                  double *const C[], int ldc, int count);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k,
                            const void *alpha, const void *A, cudaDataType a_type,
                            int lda, const void *B, cudaDataType b_type, int ldb,
                            const void *beta, void *C, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute_type, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
    int n, int k, const void *alpha, const void *A, cudaDataType a_type, int lda,
    long long stride_a, const void *B, cudaDataType b_type, int ldb, long long stride_b,
    const void *beta, void *C, cudaDataType c_type, int ldc, long long stride_c,
    int count, cublasComputeType_t compute_type, cublasGemmAlgo_t algo);

#ifdef __cplusplus
}

/* The form of CUDA 10, which names the precision by an element type. */
static inline cublasStatus_t
cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
             int m, int n, int k, const void *alpha, const void *A, cudaDataType a_type,
             int lda, const void *B, cudaDataType b_type, int ldb, const void *beta,
             void *C, cudaDataType c_type, int ldc, cudaDataType compute_type,
             cublasGemmAlgo_t algo)
{
    cublasComputeType_t compute = compute_type == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
                                  : compute_type == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                                               : CUBLAS_COMPUTE_32F;
    if (compute_type == CUDA_R_16BF) return CUBLAS_STATUS_NOT_SUPPORTED;
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, a_type, lda, B, b_type,
                        ldb, beta, C, c_type, ldc, compute, algo);
}
#endif

#endif
