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
    CUBLAS_FILL_MODE_LOWER = 0,
    CUBLAS_FILL_MODE_UPPER = 1,
    CUBLAS_FILL_MODE_FULL = 2
} cublasFillMode_t;

typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;

typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;

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
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;

/* Which of them is asked for makes no difference here. */
typedef enum {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_ALGO1 = 1,
    CUBLAS_GEMM_ALGO2 = 2,
    CUBLAS_GEMM_ALGO3 = 3,
    CUBLAS_GEMM_ALGO4 = 4,
    CUBLAS_GEMM_ALGO5 = 5,
    CUBLAS_GEMM_ALGO6 = 6,
    CUBLAS_GEMM_ALGO7 = 7,
    CUBLAS_GEMM_ALGO8 = 8,
    CUBLAS_GEMM_ALGO9 = 9,
    CUBLAS_GEMM_ALGO10 = 10,
    CUBLAS_GEMM_ALGO11 = 11,
    CUBLAS_GEMM_ALGO12 = 12,
    CUBLAS_GEMM_ALGO13 = 13,
    CUBLAS_GEMM_ALGO14 = 14,
    CUBLAS_GEMM_ALGO15 = 15,
    CUBLAS_GEMM_ALGO16 = 16,
    CUBLAS_GEMM_ALGO17 = 17,
    CUBLAS_GEMM_ALGO18 = 18,
    CUBLAS_GEMM_ALGO19 = 19,
    CUBLAS_GEMM_ALGO20 = 20,
    CUBLAS_GEMM_ALGO21 = 21,
    CUBLAS_GEMM_ALGO22 = 22,
    CUBLAS_GEMM_ALGO23 = 23,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
    CUBLAS_GEMM_ALGO1_TENSOR_OP = 101,
    CUBLAS_GEMM_ALGO2_TENSOR_OP = 102,
    CUBLAS_GEMM_ALGO3_TENSOR_OP = 103,
    CUBLAS_GEMM_ALGO4_TENSOR_OP = 104,
    CUBLAS_GEMM_ALGO5_TENSOR_OP = 105,
    CUBLAS_GEMM_ALGO6_TENSOR_OP = 106,
    CUBLAS_GEMM_ALGO7_TENSOR_OP = 107,
    CUBLAS_GEMM_ALGO8_TENSOR_OP = 108,
    CUBLAS_GEMM_ALGO9_TENSOR_OP = 109,
    CUBLAS_GEMM_ALGO10_TENSOR_OP = 110,
    CUBLAS_GEMM_ALGO11_TENSOR_OP = 111,
    CUBLAS_GEMM_ALGO12_TENSOR_OP = 112,
    CUBLAS_GEMM_ALGO13_TENSOR_OP = 113,
    CUBLAS_GEMM_ALGO14_TENSOR_OP = 114,
    CUBLAS_GEMM_ALGO15_TENSOR_OP = 115,
    CUBLAS_GEMM_AUTOTUNE = 999
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

cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void *x, int incx, void *y,
                                    int incy, cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void *x, int incx, void *y,
                                    int incy, cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int bytes, const void *A, int lda,
                                    void *B, int ldb, cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int bytes, const void *A, int lda,
                                    void *B, int ldb, cudaStream_t stream);

/* y = alpha x + y; x = alpha x; x . y; |x|; sum of |x_i|; index of the largest |x_i|,
 * from 1; of the smallest. */
#define EMU_CUBLAS(S, s, real)                                                           \
    cublasStatus_t cublas##S##axpy(cublasHandle_t handle, int n, const real *alpha,      \
                                   const real *x, int incx, real *y, int incy);          \
    cublasStatus_t cublas##S##scal(cublasHandle_t handle, int n, const real *alpha,      \
                                   real *x, int incx);                                   \
    cublasStatus_t cublas##S##dot(cublasHandle_t handle, int n, const real *x, int incx, \
                                  const real *y, int incy, real *result);                \
    cublasStatus_t cublas##S##nrm2(cublasHandle_t handle, int n, const real *x,          \
                                   int incx, real *result);                              \
    cublasStatus_t cublas##S##asum(cublasHandle_t handle, int n, const real *x,          \
                                   int incx, real *result);                              \
    cublasStatus_t cublasI##s##amax(cublasHandle_t handle, int n, const real *x,         \
                                    int incx, int *result);                              \
    cublasStatus_t cublasI##s##amin(cublasHandle_t handle, int n, const real *x,         \
                                    int incx, int *result);
EMU_CUBLAS(S, s, float)
EMU_CUBLAS(D, d, double)
#undef EMU_CUBLAS
cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void *alpha,
                            cudaDataType alpha_type, const void *x, cudaDataType x_type,
                            int incx, void *y, cudaDataType y_type, int incy,
                            cudaDataType compute_type);
cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void *alpha,
                            cudaDataType alpha_type, void *x, cudaDataType x_type,
                            int incx, cudaDataType compute_type);
cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x,
                           cudaDataType x_type, int incx, const void *y,
                           cudaDataType y_type, int incy, void *result,
                           cudaDataType result_type, cudaDataType compute_type);
cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void *x,
                            cudaDataType x_type, int incx, void *result,
                            cudaDataType result_type, cudaDataType compute_type);

/* y = alpha op(A) x + beta y, A being m x n. */
#define EMU_CUBLAS(S, real)                                                              \
    cublasStatus_t cublas##S##gemv(cublasHandle_t handle, cublasOperation_t trans,       \
                                   int m, int n, const real *alpha, const real *A,       \
                                   int lda, const real *x, int incx, const real *beta,   \
                                   real *y, int incy);
EMU_CUBLAS(S, float)
EMU_CUBLAS(D, double)
#undef EMU_CUBLAS

/* The same of matrices and vectors at equal distances, and of those in lists. */
#define EMU_CUBLAS(S, real)                                                              \
    cublasStatus_t cublas##S##gemvStridedBatched(                                        \
        cublasHandle_t handle, cublasOperation_t trans, int m, int n, const real *alpha, \
        const real *A, int lda, long long stride_a, const real *x, int incx,             \
        long long stride_x, const real *beta, real *y, int incy, long long stride_y,     \
        int count);                                                                      \
    cublasStatus_t cublas##S##gemvBatched(                                               \
        cublasHandle_t handle, cublasOperation_t trans, int m, int n, const real *alpha, \
        const real *const A[], int lda, const real *const x[], int incx,                 \
        const real *beta, real *const y[], int incy, int count);
EMU_CUBLAS(S, float)
EMU_CUBLAS(D, double)
#undef EMU_CUBLAS

/* y = x; x and y change places; A = alpha x y^T + A; C = alpha op(A) + beta op(B), C being
 * m x n. */
#define EMU_CUBLAS(S, real)                                                              \
    cublasStatus_t cublas##S##copy(cublasHandle_t handle, int n, const real *x,          \
                                   int incx, real *y, int incy);                         \
    cublasStatus_t cublas##S##swap(cublasHandle_t handle, int n, real *x, int incx,      \
                                   real *y, int incy);                                   \
    cublasStatus_t cublas##S##ger(cublasHandle_t handle, int m, int n,                   \
                                  const real *alpha, const real *x, int incx,            \
                                  const real *y, int incy, real *A, int lda);            \
    cublasStatus_t cublas##S##geam(                                                      \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,       \
        int m, int n, const real *alpha, const real *A, int lda, const real *beta,       \
        const real *B, int ldb, real *C, int ldc);
EMU_CUBLAS(S, float)
EMU_CUBLAS(D, double)
#undef EMU_CUBLAS

/* Triangles that are packed, column behind column, and bands, of k diagonals beside the
 * main one, or of kl below and ku above it: a row of A each. In this order: the rotation
 * that turns (a, b) to (r, 0); each (x_i, y_i) times one matrix; x = op(A) x; op(A) x = x;
 * y = alpha A x + beta y; A = alpha x x^T + A; A = alpha (x y^T + y x^T) + A;
 * y = alpha op(A) x + beta y. */
#define EMU_CUBLAS(S, real)                                                              \
    cublasStatus_t cublas##S##rotg(cublasHandle_t handle, real *a, real *b, real *c,     \
                                   real *s);                                             \
    cublasStatus_t cublas##S##rotm(cublasHandle_t handle, int n, real *x, int incx,      \
                                   real *y, int incy, const real *param);                \
    cublasStatus_t cublas##S##tpmv(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                   cublasOperation_t trans, cublasDiagType_t diag,       \
                                   int n, const real *A, real *x, int incx);             \
    cublasStatus_t cublas##S##tpsv(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                   cublasOperation_t trans, cublasDiagType_t diag,       \
                                   int n, const real *A, real *x, int incx);             \
    cublasStatus_t cublas##S##tbmv(                                                      \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,           \
        cublasDiagType_t diag, int n, int k, const real *A, int lda, real *x, int incx); \
    cublasStatus_t cublas##S##tbsv(                                                      \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans,           \
        cublasDiagType_t diag, int n, int k, const real *A, int lda, real *x, int incx); \
    cublasStatus_t cublas##S##spmv(cublasHandle_t handle, cublasFillMode_t uplo, int n,  \
                                   const real *alpha, const real *A, const real *x,      \
                                   int incx, const real *beta, real *y, int incy);       \
    cublasStatus_t cublas##S##sbmv(cublasHandle_t handle, cublasFillMode_t uplo, int n,  \
                                   int k, const real *alpha, const real *A, int lda,     \
                                   const real *x, int incx, const real *beta, real *y,   \
                                   int incy);                                            \
    cublasStatus_t cublas##S##spr(cublasHandle_t handle, cublasFillMode_t uplo, int n,   \
                                  const real *alpha, const real *x, int incx, real *A);  \
    cublasStatus_t cublas##S##spr2(cublasHandle_t handle, cublasFillMode_t uplo, int n,  \
                                   const real *alpha, const real *x, int incx,           \
                                   const real *y, int incy, real *A);                    \
    cublasStatus_t cublas##S##gbmv(cublasHandle_t handle, cublasOperation_t trans,       \
                                   int m, int n, int kl, int ku, const real *alpha,      \
                                   const real *A, int lda, const real *x, int incx,      \
                                   const real *beta, real *y, int incy);
EMU_CUBLAS(S, float)
EMU_CUBLAS(D, double)
#undef EMU_CUBLAS

/* Of square matrices one triangle is read or written, and `side` says on which side of B
 * they stand. In this order: the plane of x_i and y_i is turned; x = op(A) x;
 * op(A) x = x; y = alpha A x + beta y; A = alpha x x^T + A; A = alpha (x y^T + y x^T) + A;
 * C = alpha A B + beta C; C = alpha op(A) op(A)^T + beta C;
 * C = alpha (op(A) op(B)^T + op(B) op(A)^T) + beta C; C = alpha op(A) op(B)^T + beta C,
 * whose product the caller knows to be symmetric; C = alpha op(A) B;
 * op(A) X = alpha B, with X in place of B, and many of these;
 * C = diag(x) A. Then systems of equations, in batches: A = L U; op(A) X = B by these
 * factors; the inverse by them; the inverse of small matrices. Lists, pivots and infos
 * are in device memory, but for getrs, whose one info is the host's. */
#define EMU_CUBLAS(S, real)                                                              \
    cublasStatus_t cublas##S##rot(cublasHandle_t handle, int n, real *x, int incx,       \
                                  real *y, int incy, const real *c, const real *s);      \
    cublasStatus_t cublas##S##trmv(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                   cublasOperation_t trans, cublasDiagType_t diag,       \
                                   int n, const real *A, int lda, real *x, int incx);    \
    cublasStatus_t cublas##S##trsv(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                   cublasOperation_t trans, cublasDiagType_t diag,       \
                                   int n, const real *A, int lda, real *x, int incx);    \
    cublasStatus_t cublas##S##symv(cublasHandle_t handle, cublasFillMode_t uplo, int n,  \
                                   const real *alpha, const real *A, int lda,            \
                                   const real *x, int incx, const real *beta, real *y,   \
                                   int incy);                                            \
    cublasStatus_t cublas##S##syr(cublasHandle_t handle, cublasFillMode_t uplo, int n,   \
                                  const real *alpha, const real *x, int incx, real *A,   \
                                  int lda);                                              \
    cublasStatus_t cublas##S##syr2(cublasHandle_t handle, cublasFillMode_t uplo, int n,  \
                                   const real *alpha, const real *x, int incx,           \
                                   const real *y, int incy, real *A, int lda);           \
    cublasStatus_t cublas##S##symm(                                                      \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, int m,      \
        int n, const real *alpha, const real *A, int lda, const real *B, int ldb,        \
        const real *beta, real *C, int ldc);                                             \
    cublasStatus_t cublas##S##syrk(cublasHandle_t handle, cublasFillMode_t uplo,         \
                                   cublasOperation_t trans, int n, int k,                \
                                   const real *alpha, const real *A, int lda,            \
                                   const real *beta, real *C, int ldc);                  \
    cublasStatus_t cublas##S##syr2k(                                                     \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n,    \
        int k, const real *alpha, const real *A, int lda, const real *B, int ldb,        \
        const real *beta, real *C, int ldc);                                             \
    cublasStatus_t cublas##S##syrkx(                                                     \
        cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, int n,    \
        int k, const real *alpha, const real *A, int lda, const real *B, int ldb,        \
        const real *beta, real *C, int ldc);                                             \
    cublasStatus_t cublas##S##trmm(                                                      \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,             \
        cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const real *alpha, \
        const real *A, int lda, const real *B, int ldb, real *C, int ldc);               \
    cublasStatus_t cublas##S##trsm(                                                      \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,             \
        cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const real *alpha, \
        const real *A, int lda, real *B, int ldb);                                       \
    cublasStatus_t cublas##S##trsmBatched(                                               \
        cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,             \
        cublasOperation_t trans, cublasDiagType_t diag, int m, int n, const real *alpha, \
        const real *const A[], int lda, real *const B[], int ldb, int count);            \
    cublasStatus_t cublas##S##dgmm(cublasHandle_t handle, cublasSideMode_t mode, int m,  \
                                   int n, const real *A, int lda, const real *x,         \
                                   int incx, real *C, int ldc);                          \
    cublasStatus_t cublas##S##getrfBatched(cublasHandle_t handle, int n,                 \
                                           real *const A[], int lda, int *pivots,        \
                                           int *info, int count);                        \
    cublasStatus_t cublas##S##getrsBatched(                                              \
        cublasHandle_t handle, cublasOperation_t trans, int n, int count_b,              \
        const real *const A[], int lda, const int *pivots, real *const B[], int ldb,     \
        int *info, int count);                                                           \
    cublasStatus_t cublas##S##getriBatched(                                              \
        cublasHandle_t handle, int n, const real *const A[], int lda, const int *pivots, \
        real *const C[], int ldc, int *info, int count);                                 \
    cublasStatus_t cublas##S##matinvBatched(                                             \
        cublasHandle_t handle, int n, const real *const A[], int lda, real *const C[],   \
        int ldc, int *info, int count);
EMU_CUBLAS(S, float)
EMU_CUBLAS(D, double)
#undef EMU_CUBLAS

/* C = alpha op(A) op(B) + beta C, C being m x n and op(A) m x k. Where beta is 0, C is
 * not read. */
#define EMU_CUBLAS(S, real)                                                              \
    cublasStatus_t cublas##S##gemm(                                                      \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,       \
        int m, int n, int k, const real *alpha, const real *A, int lda, const real *B,   \
        int ldb, const real *beta, real *C, int ldc);                                    \
    cublasStatus_t cublas##S##gemmStridedBatched(                                        \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,       \
        int m, int n, int k, const real *alpha, const real *A, int lda,                  \
        long long stride_a, const real *B, int ldb, long long stride_b,                  \
        const real *beta, real *C, int ldc, long long stride_c, int count);              \
    cublasStatus_t cublas##S##gemmBatched(                                               \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,       \
        int m, int n, int k, const real *alpha, const real *const A[], int lda,          \
        const real *const B[], int ldb, const real *beta, real *const C[], int ldc,      \
        int count);
EMU_CUBLAS(S, float)
EMU_CUBLAS(D, double)
EMU_CUBLAS(H, __half)
#undef EMU_CUBLAS
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
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                   cublasOperation_t transb, int m, int n, int k,
                                   const void *alpha, const void *const A[],
                                   cudaDataType a_type, int lda, const void *const B[],
                                   cudaDataType b_type, int ldb, const void *beta,
                                   void *const C[], cudaDataType c_type, int ldc,
                                   int count, cublasComputeType_t compute_type,
                                   cublasGemmAlgo_t algo);

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
