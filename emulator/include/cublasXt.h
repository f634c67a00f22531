/* cuBLASXt, which multiplies matrices that lie on the host, or anywhere: of its calls
 * those for a product of real matrices. */
#ifndef CUBLASXT_H_
#define CUBLASXT_H_

#include "cublas_v2.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cublasXtContext *cublasXtHandle_t;

typedef enum {
    CUBLASXT_PINNING_DISABLED = 0,
    CUBLASXT_PINNING_ENABLED = 1
} cublasXtPinnedMemMode_t;

cublasStatus_t cublasXtCreate(cublasXtHandle_t *handle);
cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle);
/* Here the first device of the list does all the work. */
cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[]);
/* The side of the tiles that are sent to a device, which makes no difference here. */
cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int side);
cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int *side);
cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t handle,
                                         cublasXtPinnedMemMode_t mode);
cublasStatus_t cublasXtGetPinningMemMode(cublasXtHandle_t handle,
                                         cublasXtPinnedMemMode_t *mode);

/* C = alpha op(A) op(B) + beta C; the host waits. */
cublasStatus_t cublasXtSgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, size_t m, size_t n, size_t k,
                             const float *alpha, const float *A, size_t lda,
                             const float *B, size_t ldb, const float *beta, float *C,
                             size_t ldc);
cublasStatus_t cublasXtDgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, size_t m, size_t n, size_t k,
                             const double *alpha, const double *A, size_t lda,
                             const double *B, size_t ldb, const double *beta, double *C,
                             size_t ldc);

#ifdef __cplusplus
}
#endif

#endif
