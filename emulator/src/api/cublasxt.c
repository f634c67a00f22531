/* cuBLASXt: copies to a device, cuBLAS's product there, and the copy back. */
#include "cublasXt.h"

#include <limits.h>
#include <stdlib.h>

#include "cuda_runtime_api.h"

struct cublasXtContext {
    int device, side;
    cublasXtPinnedMemMode_t pinning;
};

cublasStatus_t cublasXtCreate(cublasXtHandle_t *handle)
{
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = calloc(1, sizeof **handle);
    if (!*handle) return CUBLAS_STATUS_ALLOC_FAILED;
    (*handle)->device = -1;
    (*handle)->side = 2048;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[])
{
    int there = 0;
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (count <= 0 || !devices || cudaGetDeviceCount(&there) != cudaSuccess)
        return CUBLAS_STATUS_INVALID_VALUE;
    for (int i = 0; i < count; i++)
        if (devices[i] < 0 || devices[i] >= there) return CUBLAS_STATUS_INVALID_VALUE;
    handle->device = devices[0];
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int side)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (side <= 0) return CUBLAS_STATUS_INVALID_VALUE;
    handle->side = side;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtGetBlockDim(cublasXtHandle_t handle, int *side)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!side) return CUBLAS_STATUS_INVALID_VALUE;
    *side = handle->side;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtSetPinningMemMode(cublasXtHandle_t handle,
                                         cublasXtPinnedMemMode_t mode)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if ((unsigned)mode > CUBLASXT_PINNING_ENABLED) return CUBLAS_STATUS_INVALID_VALUE;
    handle->pinning = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasXtGetPinningMemMode(cublasXtHandle_t handle,
                                         cublasXtPinnedMemMode_t *mode)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!mode) return CUBLAS_STATUS_INVALID_VALUE;
    *mode = handle->pinning;
    return CUBLAS_STATUS_SUCCESS;
}

/* A matrix, where the caller has it and on the device. */
struct operand {
    void *there, *here;
    size_t rows, cols, pitch, width;
};

static cublasStatus_t bring(struct operand *x, const void *there, size_t rows,
                            size_t cols, size_t ld, size_t element, int copied)
{
    const size_t least = rows ? rows : 1;
    if (ld < least || ld > INT_MAX || cols > INT_MAX) return CUBLAS_STATUS_INVALID_VALUE;
    *x = (struct operand){(void *)there, NULL, rows, cols, ld * element, rows * element};
    if (cudaMalloc(&x->here, least * (cols ? cols : 1) * element) != cudaSuccess)
        return CUBLAS_STATUS_ALLOC_FAILED;
    return !copied || cudaMemcpy2D(x->here, x->width, there, x->pitch, x->width, cols,
                                   cudaMemcpyDefault) == cudaSuccess
               ? CUBLAS_STATUS_SUCCESS
               : CUBLAS_STATUS_MAPPING_ERROR;
}

#define PRODUCT(S, real)                                                                 \
    cublasStatus_t cublasXt##S##gemm(                                                    \
        cublasXtHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,     \
        size_t m, size_t n, size_t k, const real *alpha, const real *A, size_t lda,      \
        const real *B, size_t ldb, const real *beta, real *C, size_t ldc)                \
    {                                                                                    \
        const int flip_a = transa != CUBLAS_OP_N, flip_b = transb != CUBLAS_OP_N;        \
        struct operand a = {0}, b = {0}, c = {0};                                        \
        cublasHandle_t blas = NULL;                                                      \
        int before = 0;                                                                  \
        if (!handle || handle->device < 0) return CUBLAS_STATUS_NOT_INITIALIZED;         \
        if (!alpha || !beta || m > INT_MAX || n > INT_MAX || k > INT_MAX)                \
            return CUBLAS_STATUS_INVALID_VALUE;                                          \
        if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;                              \
        cudaGetDevice(&before);                                                          \
        cudaSetDevice(handle->device);                                                   \
        cublasStatus_t status =                                                          \
            bring(&a, A, flip_a ? k : m, flip_a ? m : k, lda, sizeof *A, *alpha != 0);   \
        if (!status)                                                                     \
            status = bring(&b, B, flip_b ? n : k, flip_b ? k : n, ldb, sizeof *B,        \
                           *alpha != 0);                                                 \
        if (!status) status = bring(&c, C, m, n, ldc, sizeof *C, *beta != 0);            \
        if (!status) status = cublasCreate(&blas);                                       \
        if (!status)                                                                     \
            status = cublas##S##gemm(blas, transa, transb, (int)m, (int)n, (int)k,       \
                                     alpha, a.here, a.rows ? (int)a.rows : 1, b.here,    \
                                     b.rows ? (int)b.rows : 1, beta, c.here, (int)m);    \
        if (!status && cudaMemcpy2D(C, c.pitch, c.here, c.width, c.width, n,             \
                                    cudaMemcpyDefault) != cudaSuccess)                   \
            status = CUBLAS_STATUS_MAPPING_ERROR;                                        \
        if (blas) cublasDestroy(blas);                                                   \
        cudaFree(a.here);                                                                \
        cudaFree(b.here);                                                                \
        cudaFree(c.here);                                                                \
        cudaSetDevice(before);                                                           \
        return status;                                                                   \
    }
PRODUCT(S, float)
PRODUCT(D, double)
