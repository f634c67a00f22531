/* cuBLAS, the part that cublas_v2.h declares: handles, copies, vectors, and the forms in
 * which a product is asked for. */
#include <math.h>
#include <stdlib.h>

#include "api/gemm.h"
#include "base/device.h"
#include "base/now.h"
#include "memory/copies.h"
#include "memory/spans.h"
#include "memory/streams.h"
#include "memory/values.h"

#define CALLER __builtin_return_address(0)

/* ---- handle ---- */

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = calloc(1, sizeof **handle);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    EMU_ALONE;
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    emu_host_waits_for_device(emu_device());
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t handle, int *version)
{
    (void)handle;
    if (!version) return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

/* Room that a GPU's algorithms may use; these need none. */
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    return bytes > 0 && !emu_is_device_range(workspace, bytes)
               ? CUBLAS_STATUS_INVALID_VALUE
               : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if ((unsigned)mode > CUBLAS_POINTER_MODE_DEVICE) return CUBLAS_STATUS_INVALID_VALUE;
    handle->pointer_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    unsigned base =
        (unsigned)mode & ~(unsigned)CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    if (base > CUBLAS_TF32_TENSOR_OP_MATH) return CUBLAS_STATUS_INVALID_VALUE;
    handle->math_mode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

#define GETTER(name, type, field)                                                        \
    cublasStatus_t name(cublasHandle_t handle, type *value)                              \
    {                                                                                    \
        if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;                               \
        if (!value) return CUBLAS_STATUS_INVALID_VALUE;                                  \
        *value = handle->field;                                                          \
        return CUBLAS_STATUS_SUCCESS;                                                    \
    }
GETTER(cublasGetStream, cudaStream_t, stream)
GETTER(cublasGetPointerMode, cublasPointerMode_t, pointer_mode)
GETTER(cublasGetMathMode, cublasMath_t, math_mode)

static const struct {
    cublasStatus_t status;
    const char *name, *text;
} STATUSES[] = {
#define STATUS(name, text) {name, #name, text}
    STATUS(CUBLAS_STATUS_SUCCESS, "success"),
    STATUS(CUBLAS_STATUS_NOT_INITIALIZED, "the library was not initialized"),
    STATUS(CUBLAS_STATUS_ALLOC_FAILED, "the resource allocation failed"),
    STATUS(CUBLAS_STATUS_INVALID_VALUE,
           "an unsupported value or parameter was passed to the function"),
    STATUS(CUBLAS_STATUS_ARCH_MISMATCH,
           "the function requires an architectural feature absent from the device"),
    STATUS(CUBLAS_STATUS_MAPPING_ERROR, "an access to GPU memory space failed"),
    STATUS(CUBLAS_STATUS_EXECUTION_FAILED, "the function failed to launch on the GPU"),
    STATUS(CUBLAS_STATUS_INTERNAL_ERROR, "an internal operation failed"),
    STATUS(CUBLAS_STATUS_NOT_SUPPORTED, "the requested functionality is not supported"),
    STATUS(CUBLAS_STATUS_LICENSE_ERROR, "the license check failed"),
#undef STATUS
};

const char *cublasGetStatusName(cublasStatus_t status)
{
    for (size_t i = 0; i < sizeof STATUSES / sizeof STATUSES[0]; i++)
        if (STATUSES[i].status == status) return STATUSES[i].name;
    return "unrecognized status";
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    for (size_t i = 0; i < sizeof STATUSES / sizeof STATUSES[0]; i++)
        if (STATUSES[i].status == status) return STATUSES[i].text;
    return "unrecognized status";
}

/* ---- copies ---- */

/* `stream` points to the stream in which the copy goes on; NULL if the host waits. */
static cublasStatus_t copy(const void *from, size_t from_pitch, void *to, size_t to_pitch,
                           size_t width, size_t height, enum cudaMemcpyKind kind,
                           const cudaStream_t *stream)
{
    const cudaError_t error =
        stream ? cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind,
                                   *stream)
               : cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

static cublasStatus_t copy_vector(int n, int bytes, const void *x, int incx, void *y,
                                  int incy, enum cudaMemcpyKind kind,
                                  const cudaStream_t *stream)
{
    if (n < 0 || bytes <= 0 || incx <= 0 || incy <= 0) return CUBLAS_STATUS_INVALID_VALUE;
    size_t width = (size_t)bytes;
    return copy(x, width * (size_t)incx, y, width * (size_t)incy, width, (size_t)n, kind,
                stream);
}

static cublasStatus_t copy_matrix(int rows, int cols, int bytes, const void *A, int lda,
                                  void *B, int ldb, enum cudaMemcpyKind kind,
                                  const cudaStream_t *stream)
{
    if (rows < 0 || cols < 0 || bytes <= 0 || lda <= 0 || ldb <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (lda < rows || ldb < rows) return CUBLAS_STATUS_INVALID_VALUE;
    size_t width = (size_t)bytes;
    return copy(A, width * (size_t)lda, B, width * (size_t)ldb, width * (size_t)rows,
                (size_t)cols, kind, stream);
}

cublasStatus_t cublasSetVector(int n, int bytes, const void *x, int incx, void *y,
                               int incy)
{
    return copy_vector(n, bytes, x, incx, y, incy, cudaMemcpyHostToDevice, NULL);
}

cublasStatus_t cublasGetVector(int n, int bytes, const void *x, int incx, void *y,
                               int incy)
{
    return copy_vector(n, bytes, x, incx, y, incy, cudaMemcpyDeviceToHost, NULL);
}

cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void *A, int lda,
                               void *B, int ldb)
{
    return copy_matrix(rows, cols, bytes, A, lda, B, ldb, cudaMemcpyHostToDevice, NULL);
}

cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void *A, int lda,
                               void *B, int ldb)
{
    return copy_matrix(rows, cols, bytes, A, lda, B, ldb, cudaMemcpyDeviceToHost, NULL);
}

cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void *x, int incx, void *y,
                                    int incy, cudaStream_t stream)
{
    return copy_vector(n, bytes, x, incx, y, incy, cudaMemcpyHostToDevice, &stream);
}

cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void *x, int incx, void *y,
                                    int incy, cudaStream_t stream)
{
    return copy_vector(n, bytes, x, incx, y, incy, cudaMemcpyDeviceToHost, &stream);
}

cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int bytes, const void *A, int lda,
                                    void *B, int ldb, cudaStream_t stream)
{
    return copy_matrix(rows, cols, bytes, A, lda, B, ldb, cudaMemcpyHostToDevice,
                       &stream);
}

cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int bytes, const void *A, int lda,
                                    void *B, int ldb, cudaStream_t stream)
{
    return copy_matrix(rows, cols, bytes, A, lda, B, ldb, cudaMemcpyDeviceToHost,
                       &stream);
}

/* ---- vectors ---- */

static cublasStatus_t axpy(const void *pc, const char *call, cublasHandle_t handle,
                           cudaDataType alpha_type, cudaDataType type, int n,
                           const void *alpha, const void *x, int incx, void *y, int incy)
{
    EMU_ALONE;
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    if (emu_call_begins(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    emu_blas_need_vector(pc, call, "x", x, n, incx, type, false);
    emu_blas_need_vector(pc, call, "y", y, n, incy, type, true);
    double a = emu_blas_load(alpha, 0, alpha_type);
    for (int i = 0; i < n; i++) {
        size_t at = emu_blas_index(n, incy, i);
        emu_blas_store(y, at, type,
                       a * emu_blas_load(x, emu_blas_index(n, incx, i), type) +
                           emu_blas_load(y, at, type));
    }
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t scal(const void *pc, const char *call, cublasHandle_t handle,
                           cudaDataType alpha_type, cudaDataType type, int n,
                           const void *alpha, void *x, int incx)
{
    EMU_ALONE;
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;
    if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
    if (emu_call_begins(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    emu_blas_need_vector(pc, call, "x", x, n, incx, type, true);
    double a = emu_blas_load(alpha, 0, alpha_type);
    for (int i = 0; i < n; i++) {
        size_t at = emu_blas_index(n, incx, i);
        emu_blas_store(x, at, type, a * emu_blas_load(x, at, type));
    }
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t dot(const void *pc, const char *call, cublasHandle_t handle,
                          cudaDataType type, int n, const void *x, int incx,
                          const void *y, int incy, cudaDataType result_type, void *result)
{
    EMU_ALONE;
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!result) return CUBLAS_STATUS_INVALID_VALUE;
    if (emu_call_begins(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) emu_host_waits_for_work();
    emu_blas_need_vector(pc, call, "x", x, n, incx, type, false);
    emu_blas_need_vector(pc, call, "y", y, n, incy, type, false);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += emu_blas_load(x, emu_blas_index(n, incx, i), type) *
               emu_blas_load(y, emu_blas_index(n, incy, i), type);
    emu_blas_put(result, 0, result_type, sum);
    return CUBLAS_STATUS_SUCCESS;
}

/* What looks at one vector's magnitudes: their sum, the root of the sum of their squares,
 * where the largest is, where the smallest. */
enum measure { SUM, NORM, LARGEST, SMALLEST };

static cublasStatus_t measure(const void *pc, const char *call, cublasHandle_t handle,
                              cudaDataType type, int n, const void *x, int incx,
                              enum measure what, cudaDataType result_type, void *result)
{
    EMU_ALONE;
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!result) return CUBLAS_STATUS_INVALID_VALUE;
    if (incx <= 0) n = 0;
    if (emu_call_begins(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) emu_host_waits_for_work();
    emu_blas_need_vector(pc, call, "x", x, n, incx, type, false);
    double sum = 0, most = -1;
    int where = 0;
    for (int i = 0; i < n; i++) {
        double magnitude = fabs(emu_blas_load(x, emu_blas_index(n, incx, i), type));
        sum += what == NORM ? magnitude * magnitude : magnitude;
        if (what == SMALLEST ? most < 0 || magnitude < most : magnitude > most) {
            most = magnitude;
            where = i + 1;
        }
    }
    if (what == LARGEST || what == SMALLEST) {
        *(int *)result = where;
        emu_check_host_wrote(result, sizeof where);
    } else {
        emu_blas_put(result, 0, result_type, what == NORM ? sqrt(sum) : sum);
    }
    return CUBLAS_STATUS_SUCCESS;
}

/* Each of these calls exists in single and in double precision. */
#define VECTOR_CALLS(S, real, type)                                                      \
    cublasStatus_t cublas##S##axpy(cublasHandle_t handle, int n, const real *alpha,      \
                                   const real *x, int incx, real *y, int incy)           \
    {                                                                                    \
        return axpy(CALLER, "cublas" #S "axpy", handle, type, type, n, alpha, x, incx,   \
                    y, incy);                                                            \
    }                                                                                    \
    cublasStatus_t cublas##S##scal(cublasHandle_t handle, int n, const real *alpha,      \
                                   real *x, int incx)                                    \
    {                                                                                    \
        return scal(CALLER, "cublas" #S "scal", handle, type, type, n, alpha, x, incx);  \
    }                                                                                    \
    cublasStatus_t cublas##S##dot(cublasHandle_t handle, int n, const real *x, int incx, \
                                  const real *y, int incy, real *result)                 \
    {                                                                                    \
        return dot(CALLER, "cublas" #S "dot", handle, type, n, x, incx, y, incy, type,   \
                   result);                                                              \
    }                                                                                    \
    MEASURE(cublas##S##nrm2, real, real, type, NORM)                                     \
    MEASURE(cublas##S##asum, real, real, type, SUM)
#define MEASURE(name, real, result_type, type, what)                                     \
    cublasStatus_t name(cublasHandle_t handle, int n, const real *x, int incx,           \
                        result_type *result)                                             \
    {                                                                                    \
        return measure(CALLER, #name, handle, type, n, x, incx, what, type, result);     \
    }
VECTOR_CALLS(S, float, CUDA_R_32F)
VECTOR_CALLS(D, double, CUDA_R_64F)
MEASURE(cublasIsamax, float, int, CUDA_R_32F, LARGEST)
MEASURE(cublasIdamax, double, int, CUDA_R_64F, LARGEST)
MEASURE(cublasIsamin, float, int, CUDA_R_32F, SMALLEST)
MEASURE(cublasIdamin, double, int, CUDA_R_64F, SMALLEST)

/* The same of numbers of 16 bits, too, which are added up as those of 32. */
cublasStatus_t cublasAxpyEx(cublasHandle_t handle, int n, const void *alpha,
                            cudaDataType alpha_type, const void *x, cudaDataType x_type,
                            int incx, void *y, cudaDataType y_type, int incy,
                            cudaDataType compute_type)
{
    if (x_type != y_type || compute_type == CUDA_R_16F)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return axpy(CALLER, "cublasAxpyEx", handle, alpha_type, x_type, n, alpha, x, incx, y,
                incy);
}

cublasStatus_t cublasScalEx(cublasHandle_t handle, int n, const void *alpha,
                            cudaDataType alpha_type, void *x, cudaDataType x_type,
                            int incx, cudaDataType compute_type)
{
    if (compute_type == CUDA_R_16F) return CUBLAS_STATUS_NOT_SUPPORTED;
    return scal(CALLER, "cublasScalEx", handle, alpha_type, x_type, n, alpha, x, incx);
}

cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x,
                           cudaDataType x_type, int incx, const void *y,
                           cudaDataType y_type, int incy, void *result,
                           cudaDataType result_type, cudaDataType compute_type)
{
    if (x_type != y_type || compute_type == CUDA_R_16F)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return dot(CALLER, "cublasDotEx", handle, x_type, n, x, incx, y, incy, result_type,
               result);
}

cublasStatus_t cublasNrm2Ex(cublasHandle_t handle, int n, const void *x,
                            cudaDataType x_type, int incx, void *result,
                            cudaDataType result_type, cudaDataType compute_type)
{
    if (compute_type == CUDA_R_16F) return CUBLAS_STATUS_NOT_SUPPORTED;
    return measure(CALLER, "cublasNrm2Ex", handle, x_type, n, x, incx, NORM, result_type,
                   result);
}

/* ---- matrix times vector ---- */

static cublasStatus_t gemv(const void *pc, const char *call, cublasHandle_t handle,
                           cudaDataType type, cublasOperation_t trans, int m, int n,
                           const void *alpha, const void *A, int lda, const void *x,
                           int incx, const void *beta, void *y, int incy)
{
    EMU_ALONE;
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if ((unsigned)trans > CUBLAS_OP_C || m < 0 || n < 0 || lda < (m > 1 ? m : 1) ||
        incx == 0 || incy == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    bool plain = trans == CUBLAS_OP_N;
    int length = plain ? m : n, depth = plain ? n : m;
    if (emu_call_begins(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    emu_blas_need(pc, call, "A", A, emu_blas_matrix_bytes(m, n, lda, type));
    emu_blas_touches(pc, A, (size_t)m, n, lda, type, false);
    emu_blas_need_vector(pc, call, "x", x, depth, incx, type, false);
    emu_blas_need_vector(pc, call, "y", y, length, incy, type, true);
    double a = emu_blas_load(alpha, 0, type), b = emu_blas_load(beta, 0, type);
    for (int i = 0; i < length; i++) {
        double sum = 0;
        for (int k = 0; k < depth; k++) {
            size_t at = plain ? (size_t)i + (size_t)k * (size_t)lda
                              : (size_t)k + (size_t)i * (size_t)lda;
            sum += emu_blas_load(A, at, type) *
                   emu_blas_load(x, emu_blas_index(depth, incx, k), type);
        }
        size_t to = emu_blas_index(length, incy, i);
        emu_blas_put(y, to, type,
                     a * sum + (b == 0 ? 0 : b * emu_blas_load(y, to, type)));
    }
    return CUBLAS_STATUS_SUCCESS;
}

#define GEMV(name, real, type)                                                           \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t trans, int m, int n,    \
                        const real *alpha, const real *A, int lda, const real *x,        \
                        int incx, const real *beta, real *y, int incy)                   \
    {                                                                                    \
        return gemv(CALLER, #name, handle, type, trans, m, n, alpha, A, lda, x, incx,    \
                    beta, y, incy);                                                      \
    }
GEMV(cublasSgemv, float, CUDA_R_32F)
GEMV(cublasDgemv, double, CUDA_R_64F)

/* Many of them: at equal distances, or anywhere, by lists in device memory. */
#define GEMV_BATCHES(S, real, type)                                                      \
    cublasStatus_t cublas##S##gemvStridedBatched(                                        \
        cublasHandle_t handle, cublasOperation_t trans, int m, int n, const real *alpha, \
        const real *A, int lda, long long stride_a, const real *x, int incx,             \
        long long stride_x, const real *beta, real *y, int incy, long long stride_y,     \
        int count)                                                                       \
    {                                                                                    \
        cublasStatus_t status = CUBLAS_STATUS_SUCCESS;                                   \
        for (int i = 0; i < count && !status; i++)                                       \
            status = gemv(CALLER, "cublas" #S "gemvStridedBatched", handle, type, trans, \
                          m, n, alpha, A + i * stride_a, lda, x + i * stride_x, incx,    \
                          beta, y + i * stride_y, incy);                                 \
        return status;                                                                   \
    }                                                                                    \
    cublasStatus_t cublas##S##gemvBatched(                                               \
        cublasHandle_t handle, cublasOperation_t trans, int m, int n, const real *alpha, \
        const real *const A[], int lda, const real *const x[], int incx,                 \
        const real *beta, real *const y[], int incy, int count)                          \
    {                                                                                    \
        static const char call[] = "cublas" #S "gemvBatched";                            \
        const size_t bytes = (size_t)(count > 0 ? count : 0) * sizeof(void *);           \
        cublasStatus_t status = CUBLAS_STATUS_SUCCESS;                                   \
        emu_blas_need(CALLER, call, "the list of A", A, bytes);                          \
        emu_blas_need(CALLER, call, "the list of x", x, bytes);                          \
        emu_blas_need(CALLER, call, "the list of y", y, bytes);                          \
        for (int i = 0; i < count && !status; i++)                                       \
            status = gemv(CALLER, call, handle, type, trans, m, n, alpha, A[i], lda,     \
                          x[i], incx, beta, y[i], incy);                                 \
        return status;                                                                   \
    }
GEMV_BATCHES(S, float, CUDA_R_32F)
GEMV_BATCHES(D, double, CUDA_R_64F)

/* ---- other sums and copies ---- */

static cublasStatus_t move(const void *pc, const char *call, cublasHandle_t handle,
                           cudaDataType type, int n, void *x, int incx, void *y, int incy,
                           bool both_ways)
{
    EMU_ALONE;
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    if (emu_call_begins(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    emu_blas_need_vector(pc, call, "x", x, n, incx, type, both_ways);
    emu_blas_need_vector(pc, call, "y", y, n, incy, type, true);
    for (int i = 0; i < n; i++) {
        const size_t from = emu_blas_index(n, incx, i), to = emu_blas_index(n, incy, i);
        const double old = emu_blas_load(y, to, type);
        emu_blas_put(y, to, type, emu_blas_load(x, from, type));
        if (both_ways) emu_blas_put(x, from, type, old);
    }
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t ger(const void *pc, const char *call, cublasHandle_t handle,
                          cudaDataType type, int m, int n, const void *alpha,
                          const void *x, int incx, const void *y, int incy, void *A,
                          int lda)
{
    EMU_ALONE;
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (m < 0 || n < 0 || incx == 0 || incy == 0 || lda < (m > 1 ? m : 1) || !alpha)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    if (emu_call_begins(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    emu_blas_need_vector(pc, call, "x", x, m, incx, type, false);
    emu_blas_need_vector(pc, call, "y", y, n, incy, type, false);
    emu_blas_need(pc, call, "A", A, emu_blas_matrix_bytes(m, n, lda, type));
    emu_blas_touches(pc, A, (size_t)m, n, lda, type, true);
    const double a = emu_blas_load(alpha, 0, type);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            const size_t at = (size_t)i + (size_t)j * (size_t)lda;
            emu_blas_put(A, at, type,
                         emu_blas_load(A, at, type) +
                             a * emu_blas_load(x, emu_blas_index(m, incx, i), type) *
                                 emu_blas_load(y, emu_blas_index(n, incy, j), type));
        }
    return CUBLAS_STATUS_SUCCESS;
}

/* One of the two matrices of a sum; none if its factor is 0. */
struct summand {
    const char *name;
    const void *elements;
    int ld;
    bool plain;
    double factor;
};

static void need_summand(const void *pc, const char *call, cudaDataType type, int m,
                         int n, const struct summand *s)
{
    const int rows = s->plain ? m : n, cols = s->plain ? n : m;
    if (s->factor == 0) return;
    emu_blas_need(pc, call, s->name, s->elements,
                  emu_blas_matrix_bytes(rows, cols, s->ld, type));
    emu_blas_touches(pc, s->elements, (size_t)rows, cols, s->ld, type, false);
}

static double summand_at(const struct summand *s, int i, int j, cudaDataType type)
{
    const int row = s->plain ? i : j, col = s->plain ? j : i;
    const size_t at = (size_t)row + (size_t)col * (size_t)s->ld;
    return s->factor == 0 ? 0 : s->factor * emu_blas_load(s->elements, at, type);
}

static cublasStatus_t geam(const void *pc, const char *call, cublasHandle_t handle,
                           cudaDataType type, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, const void *alpha,
                           const void *A, int lda, const void *beta, const void *B,
                           int ldb, void *C, int ldc)
{
    EMU_ALONE;
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    struct summand a = {"A", A, lda, transa == CUBLAS_OP_N, 0},
                   b = {"B", B, ldb, transb == CUBLAS_OP_N, 0};
    const int a_rows = a.plain ? m : n, b_rows = b.plain ? m : n;
    if ((unsigned)transa > CUBLAS_OP_C || (unsigned)transb > CUBLAS_OP_C || m < 0 ||
        n < 0 || lda < (a_rows > 1 ? a_rows : 1) || ldb < (b_rows > 1 ? b_rows : 1) ||
        ldc < (m > 1 ? m : 1) || !alpha || !beta)
        return CUBLAS_STATUS_INVALID_VALUE;
    /* In place only as the matrix lies. */
    if ((C == A && (lda != ldc || !a.plain)) || (C == B && (ldb != ldc || !b.plain)))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    if (emu_call_begins(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    a.factor = emu_blas_load(alpha, 0, type);
    b.factor = emu_blas_load(beta, 0, type);
    need_summand(pc, call, type, m, n, &a);
    need_summand(pc, call, type, m, n, &b);
    emu_blas_need(pc, call, "C", C, emu_blas_matrix_bytes(m, n, ldc, type));
    emu_blas_touches(pc, C, (size_t)m, n, ldc, type, true);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            emu_blas_put(C, (size_t)i + (size_t)j * (size_t)ldc, type,
                         summand_at(&a, i, j, type) + summand_at(&b, i, j, type));
    return CUBLAS_STATUS_SUCCESS;
}

#define OTHER_CALLS(S, real, type)                                                       \
    cublasStatus_t cublas##S##copy(cublasHandle_t handle, int n, const real *x,          \
                                   int incx, real *y, int incy)                          \
    {                                                                                    \
        return move(CALLER, "cublas" #S "copy", handle, type, n, (real *)x, incx, y,     \
                    incy, false);                                                        \
    }                                                                                    \
    cublasStatus_t cublas##S##swap(cublasHandle_t handle, int n, real *x, int incx,      \
                                   real *y, int incy)                                    \
    {                                                                                    \
        return move(CALLER, "cublas" #S "swap", handle, type, n, x, incx, y, incy,       \
                    true);                                                               \
    }                                                                                    \
    cublasStatus_t cublas##S##ger(cublasHandle_t handle, int m, int n,                   \
                                  const real *alpha, const real *x, int incx,            \
                                  const real *y, int incy, real *A, int lda)             \
    {                                                                                    \
        return ger(CALLER, "cublas" #S "ger", handle, type, m, n, alpha, x, incx, y,     \
                   incy, A, lda);                                                        \
    }                                                                                    \
    cublasStatus_t cublas##S##geam(                                                      \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,       \
        int m, int n, const real *alpha, const real *A, int lda, const real *beta,       \
        const real *B, int ldb, real *C, int ldc)                                        \
    {                                                                                    \
        return geam(CALLER, "cublas" #S "geam", handle, type, transa, transb, m, n,      \
                    alpha, A, lda, beta, B, ldb, C, ldc);                                \
    }
OTHER_CALLS(S, float, CUDA_R_32F)
OTHER_CALLS(D, double, CUDA_R_64F)

/* ---- matrix times matrix ---- */

/* All the calls whose matrices have the type of their scalars. */
static cublasStatus_t uniform_gemm(const void *pc, const char *call,
                                   cublasHandle_t handle, cudaDataType type,
                                   cublasOperation_t transa, cublasOperation_t transb,
                                   int m, int n, int k, const void *alpha, const void *A,
                                   int lda, long long stride_a, const void *B, int ldb,
                                   long long stride_b, const void *beta, void *C, int ldc,
                                   long long stride_c, int count)
{
    struct gemm g = {.call = call,
                     .pc = pc,
                     .transa = transa,
                     .transb = transb,
                     .m = m,
                     .n = n,
                     .k = k,
                     .count = count,
                     .alpha = alpha,
                     .beta = beta,
                     .scalar_type = type,
                     .a = {(void *)A, type, lda, stride_a},
                     .b = {(void *)B, type, ldb, stride_b},
                     .c = {C, type, ldc, stride_c},
                     .narrowing = emu_gemm_narrowing(handle, type, CUBLAS_COMPUTE_32F)};
    return emu_gemm(handle, &g);
}

/* The matrices of a batch are anywhere: lists of pointers, in device memory. */
static cublasStatus_t
batched_gemm(const void *pc, const char *call, cublasHandle_t handle, cudaDataType type,
             cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
             const void *alpha, const void *const A[], int lda, const void *const B[],
             int ldb, const void *beta, void *const C[], int ldc, int count)
{
    const size_t bytes = (size_t)(count > 0 ? count : 0) * sizeof(void *);
    emu_blas_need(pc, call, "the list of A", A, bytes);
    emu_blas_need(pc, call, "the list of B", B, bytes);
    emu_blas_need(pc, call, "the list of C", C, bytes);
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < count && status == CUBLAS_STATUS_SUCCESS; i++)
        status = uniform_gemm(pc, call, handle, type, transa, transb, m, n, k, alpha,
                              A[i], lda, 0, B[i], ldb, 0, beta, C[i], ldc, 0, 1);
    return status;
}

/* One product; a batch of them, at equal distances; or anywhere. */
#define GEMM(name, element, type)                                                        \
    cublasStatus_t name(                                                                 \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,       \
        int m, int n, int k, const element *alpha, const element *A, int lda,            \
        const element *B, int ldb, const element *beta, element *C, int ldc)             \
    {                                                                                    \
        return uniform_gemm(CALLER, #name, handle, type, transa, transb, m, n, k, alpha, \
                            A, lda, 0, B, ldb, 0, beta, C, ldc, 0, 1);                   \
    }
#define GEMM_STRIDED(name, element, type)                                                \
    cublasStatus_t name(                                                                 \
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,       \
        int m, int n, int k, const element *alpha, const element *A, int lda,            \
        long long stride_a, const element *B, int ldb, long long stride_b,               \
        const element *beta, element *C, int ldc, long long stride_c, int count)         \
    {                                                                                    \
        return uniform_gemm(CALLER, #name, handle, type, transa, transb, m, n, k, alpha, \
                            A, lda, stride_a, B, ldb, stride_b, beta, C, ldc, stride_c,  \
                            count);                                                      \
    }
#define GEMM_BATCHED(name, element, type)                                                \
    cublasStatus_t name(cublasHandle_t handle, cublasOperation_t transa,                 \
                        cublasOperation_t transb, int m, int n, int k,                   \
                        const element *alpha, const element *const A[], int lda,         \
                        const element *const B[], int ldb, const element *beta,          \
                        element *const C[], int ldc, int count)                          \
    {                                                                                    \
        return batched_gemm(CALLER, #name, handle, type, transa, transb, m, n, k, alpha, \
                            (const void *const *)A, lda, (const void *const *)B, ldb,    \
                            beta, (void *const *)C, ldc, count);                         \
    }
GEMM(cublasSgemm, float, CUDA_R_32F)
GEMM(cublasDgemm, double, CUDA_R_64F)
GEMM(cublasHgemm, __half, CUDA_R_16F)
GEMM_STRIDED(cublasSgemmStridedBatched, float, CUDA_R_32F)
GEMM_STRIDED(cublasDgemmStridedBatched, double, CUDA_R_64F)
GEMM_STRIDED(cublasHgemmStridedBatched, __half, CUDA_R_16F)
GEMM_BATCHED(cublasHgemmBatched, __half, CUDA_R_16F)
GEMM_BATCHED(cublasSgemmBatched, float, CUDA_R_32F)
GEMM_BATCHED(cublasDgemmBatched, double, CUDA_R_64F)

static cublasStatus_t mixed_gemm(const void *pc, const char *call, cublasHandle_t handle,
                                 cublasOperation_t transa, cublasOperation_t transb,
                                 int m, int n, int k, const void *alpha, struct matrix a,
                                 struct matrix b, const void *beta, struct matrix c,
                                 int count, cublasComputeType_t compute)
{
    int scalar_type = emu_gemm_scalar_type(compute, a.type, b.type, c.type);
    if (scalar_type < 0) return CUBLAS_STATUS_NOT_SUPPORTED;
    struct gemm g = {.call = call,
                     .pc = pc,
                     .transa = transa,
                     .transb = transb,
                     .m = m,
                     .n = n,
                     .k = k,
                     .count = count,
                     .alpha = alpha,
                     .beta = beta,
                     .scalar_type = (cudaDataType)scalar_type,
                     .a = a,
                     .b = b,
                     .c = c,
                     .narrowing = emu_gemm_narrowing(handle, a.type, compute)};
    return emu_gemm(handle, &g);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k,
                            const void *alpha, const void *A, cudaDataType a_type,
                            int lda, const void *B, cudaDataType b_type, int ldb,
                            const void *beta, void *C, cudaDataType c_type, int ldc,
                            cublasComputeType_t compute_type, cublasGemmAlgo_t algo)
{
    (void)algo;
    struct matrix a = {(void *)A, a_type, lda, 0}, b = {(void *)B, b_type, ldb, 0},
                  c = {C, c_type, ldc, 0};
    return mixed_gemm(CALLER, "cublasGemmEx", handle, transa, transb, m, n, k, alpha, a,
                      b, beta, c, 1, compute_type);
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
    int n, int k, const void *alpha, const void *A, cudaDataType a_type, int lda,
    long long stride_a, const void *B, cudaDataType b_type, int ldb, long long stride_b,
    const void *beta, void *C, cudaDataType c_type, int ldc, long long stride_c,
    int count, cublasComputeType_t compute_type, cublasGemmAlgo_t algo)
{
    (void)algo;
    struct matrix a = {(void *)A, a_type, lda, stride_a},
                  b = {(void *)B, b_type, ldb, stride_b};
    struct matrix c = {C, c_type, ldc, stride_c};
    return mixed_gemm(CALLER, "cublasGemmStridedBatchedEx", handle, transa, transb, m, n,
                      k, alpha, a, b, beta, c, count, compute_type);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                   cublasOperation_t transb, int m, int n, int k,
                                   const void *alpha, const void *const A[],
                                   cudaDataType a_type, int lda, const void *const B[],
                                   cudaDataType b_type, int ldb, const void *beta,
                                   void *const C[], cudaDataType c_type, int ldc,
                                   int count, cublasComputeType_t compute_type,
                                   cublasGemmAlgo_t algo)
{
    static const char call[] = "cublasGemmBatchedEx";
    const size_t bytes = (size_t)(count > 0 ? count : 0) * sizeof(void *);
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    (void)algo;
    emu_blas_need(CALLER, call, "the list of A", A, bytes);
    emu_blas_need(CALLER, call, "the list of B", B, bytes);
    emu_blas_need(CALLER, call, "the list of C", C, bytes);
    for (int i = 0; i < count && !status; i++) {
        struct matrix a = {(void *)A[i], a_type, lda, 0},
                      b = {(void *)B[i], b_type, ldb, 0}, c = {C[i], c_type, ldc, 0};
        status = mixed_gemm(CALLER, call, handle, transa, transb, m, n, k, alpha, a, b,
                            beta, c, 1, compute_type);
    }
    return status;
}
