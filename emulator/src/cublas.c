/* cuBLAS and cuBLASLt, the parts that cublas_v2.h and cublasLt.h declare.
 *
 * Everything is computed in double and rounded once, when it is stored: no result is
 * further from the exact one than cuBLAS's would be. A matrix that does not lie in device
 * memory is reported like a kernel's bad access. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocations.h"
#include "copies.h"
#include "cublasLt.h"
#include "cublas_v2.h"
#include "device.h"
#include "emulator_runtime.h"
#include "now.h"
#include "peers.h"
#include "room.h"
#include "spans.h"
#include "streams.h"
#include "values.h"

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointer_mode;
    cublasMath_t math_mode;
};

#define CALLER __builtin_return_address(0)

/* ---- elements ---- */

/* How the operands of a product are rounded before it: the formats that tensor cores
 * take. */
enum narrowing { AS_STORED, TO_HALF, TO_BFLOAT16, TO_TF32 };

static size_t size_of(cudaDataType type)
{
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

static double load(const void *array, size_t index, cudaDataType type)
{
    switch (type) {
    case CUDA_R_64F: return ((const double *)array)[index];
    case CUDA_R_32F: return ((const float *)array)[index];
    case CUDA_R_16F: return emu_float_of_half(((const unsigned short *)array)[index]);
    case CUDA_R_16BF:
        return emu_float_of_bfloat16(((const unsigned short *)array)[index]);
    default: return NAN;
    }
}

static void store(void *array, size_t index, cudaDataType type, double value)
{
    switch (type) {
    case CUDA_R_64F: ((double *)array)[index] = value; break;
    case CUDA_R_32F: ((float *)array)[index] = (float)value; break;
    case CUDA_R_16F: ((unsigned short *)array)[index] = emu_half_bits(value); break;
    case CUDA_R_16BF: ((unsigned short *)array)[index] = emu_bfloat16_bits(value); break;
    default: break;
    }
}

/* Where nothing need have been before. */
static void store_result(void *array, size_t index, cudaDataType type, double value)
{
    store(array, index, type, value);
    emu_check_host_wrote((char *)array + index * size_of(type), size_of(type));
}

/* TF32 keeps 10 bits behind the point; ties round away from zero, as cvt.rna.tf32 does.
 */
static double to_tf32(double value)
{
    float x = (float)value;
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7f800000) != 0x7f800000) bits = (bits + 0x1000) & 0xffffe000;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double narrowed(double value, enum narrowing narrowing)
{
    switch (narrowing) {
    case AS_STORED: break;
    case TO_HALF: return emu_float_of_half(emu_half_bits(value));
    case TO_BFLOAT16: return emu_float_of_bfloat16(emu_bfloat16_bits(value));
    case TO_TF32: return to_tf32(value);
    }
    return value;
}

/* ---- what every call checks ---- */

/* Ends the program if the `bytes` at p are not in one allocation of device memory: the
 * GPU would fault there too, only later and without a name. */
static void need_device(const void *pc, const char *call, const char *operand,
                        const void *p, size_t bytes)
{
    if (!emu_is_device_range(p, bytes))
        emu_fault(pc, "%s: %s is not %zu bytes of device memory", call, operand, bytes);
    const struct emu_allocation *const a = bytes ? emu_find_allocation(p) : NULL;
    if (a && a->type == cudaMemoryTypeDevice &&
        !emu_reaches(emu_working_device, a->device))
        emu_fault(pc, "%s: %s is on device %d, and the stream is of device %d", call,
                  operand, a->device, emu_working_device);
}

/* Columns of `rows` elements each, `ld` apart, that this call reads or writes. */
static void touches(const void *pc, const void *p, size_t rows, int cols, int ld,
                    cudaDataType type, bool writes)
{
    if (rows == (size_t)ld) {
        rows *= (size_t)cols;
        cols = 1;
    }
    for (int col = 0; col < cols; col++)
        emu_work_touches((const char *)p + (size_t)col * (size_t)ld * size_of(type),
                         rows * size_of(type), writes, pc);
}

static size_t vector_bytes(int n, int step, cudaDataType type)
{
    size_t stride = (size_t)(step < 0 ? -(long)step : step);
    return n > 0 ? ((size_t)(n - 1) * stride + 1) * size_of(type) : 0;
}

/* A vector that this call reads or writes. */
static void need_vector(const void *pc, const char *call, const char *operand,
                        const void *p, int n, int step, cudaDataType type, bool writes)
{
    const size_t bytes = vector_bytes(n, step, type);
    need_device(pc, call, operand, p, bytes);
    if (step == 1) emu_work_touches(p, bytes, writes, pc);
}

static size_t matrix_bytes(int rows, int cols, int ld, cudaDataType type)
{
    return rows > 0 && cols > 0
               ? ((size_t)(cols - 1) * (size_t)ld + (size_t)rows) * size_of(type)
               : 0;
}

/* Where element 0 of a vector is: BLAS walks backwards through one with a negative step.
 */
static size_t first_index(int n, int step)
{
    return step < 0 ? (size_t)(n - 1) * (size_t)(-(long)step) : 0;
}

static size_t index_at(int n, int step, int i)
{
    return (size_t)((long)first_index(n, step) + (long)i * step);
}

/* ---- handle ---- */

cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = calloc(1, sizeof **handle);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
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

cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t *stream)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!stream) return CUBLAS_STATUS_INVALID_VALUE;
    *stream = handle->stream;
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

cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t *mode)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!mode) return CUBLAS_STATUS_INVALID_VALUE;
    *mode = handle->pointer_mode;
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

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!mode) return CUBLAS_STATUS_INVALID_VALUE;
    *mode = handle->math_mode;
    return CUBLAS_STATUS_SUCCESS;
}

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

static cublasStatus_t copy(const void *from, size_t from_pitch, void *to, size_t to_pitch,
                           size_t width, size_t height, enum cudaMemcpyKind kind)
{
    cudaError_t error = cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

static cublasStatus_t copy_vector(int n, int bytes, const void *x, int incx, void *y,
                                  int incy, enum cudaMemcpyKind kind)
{
    if (n < 0 || bytes <= 0 || incx <= 0 || incy <= 0) return CUBLAS_STATUS_INVALID_VALUE;
    size_t width = (size_t)bytes;
    return copy(x, width * (size_t)incx, y, width * (size_t)incy, width, (size_t)n, kind);
}

static cublasStatus_t copy_matrix(int rows, int cols, int bytes, const void *A, int lda,
                                  void *B, int ldb, enum cudaMemcpyKind kind)
{
    if (rows < 0 || cols < 0 || bytes <= 0 || lda <= 0 || ldb <= 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (lda < rows || ldb < rows) return CUBLAS_STATUS_INVALID_VALUE;
    size_t width = (size_t)bytes;
    return copy(A, width * (size_t)lda, B, width * (size_t)ldb, width * (size_t)rows,
                (size_t)cols, kind);
}

cublasStatus_t cublasSetVector(int n, int bytes, const void *x, int incx, void *y,
                               int incy)
{
    return copy_vector(n, bytes, x, incx, y, incy, cudaMemcpyHostToDevice);
}

cublasStatus_t cublasGetVector(int n, int bytes, const void *x, int incx, void *y,
                               int incy)
{
    return copy_vector(n, bytes, x, incx, y, incy, cudaMemcpyDeviceToHost);
}

cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void *A, int lda,
                               void *B, int ldb)
{
    return copy_matrix(rows, cols, bytes, A, lda, B, ldb, cudaMemcpyHostToDevice);
}

cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void *A, int lda,
                               void *B, int ldb)
{
    return copy_matrix(rows, cols, bytes, A, lda, B, ldb, cudaMemcpyDeviceToHost);
}

/* ---- vectors ---- */

static cublasStatus_t axpy(const void *pc, const char *call, cublasHandle_t handle,
                           cudaDataType type, int n, const void *alpha, const void *x,
                           int incx, void *y, int incy)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    if (emu_work_begins(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    need_vector(pc, call, "x", x, n, incx, type, false);
    need_vector(pc, call, "y", y, n, incy, type, true);
    double a = load(alpha, 0, type);
    for (int i = 0; i < n; i++) {
        size_t at = index_at(n, incy, i);
        store(y, at, type, a * load(x, index_at(n, incx, i), type) + load(y, at, type));
    }
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t scal(const void *pc, const char *call, cublasHandle_t handle,
                           cudaDataType type, int n, const void *alpha, void *x, int incx)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!alpha) return CUBLAS_STATUS_INVALID_VALUE;
    if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
    if (emu_work_begins(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    need_vector(pc, call, "x", x, n, incx, type, true);
    double a = load(alpha, 0, type);
    for (int i = 0; i < n; i++) {
        size_t at = index_at(n, incx, i);
        store(x, at, type, a * load(x, at, type));
    }
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t dot(const void *pc, const char *call, cublasHandle_t handle,
                          cudaDataType type, int n, const void *x, int incx,
                          const void *y, int incy, void *result)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!result) return CUBLAS_STATUS_INVALID_VALUE;
    if (emu_work_begins(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    need_vector(pc, call, "x", x, n, incx, type, false);
    need_vector(pc, call, "y", y, n, incy, type, false);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += load(x, index_at(n, incx, i), type) * load(y, index_at(n, incy, i), type);
    store_result(result, 0, type, sum);
    return CUBLAS_STATUS_SUCCESS;
}

/* The three that look at one vector's magnitudes: their sum, the root of the sum of their
 * squares, where the largest is. */
enum measure { SUM, NORM, LARGEST };

static cublasStatus_t measure(const void *pc, const char *call, cublasHandle_t handle,
                              cudaDataType type, int n, const void *x, int incx,
                              enum measure what, void *result)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!result) return CUBLAS_STATUS_INVALID_VALUE;
    if (incx <= 0) n = 0;
    if (emu_work_begins(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    need_vector(pc, call, "x", x, n, incx, type, false);
    double sum = 0, most = -1;
    int where = 0;
    for (int i = 0; i < n; i++) {
        double magnitude = fabs(load(x, index_at(n, incx, i), type));
        sum += what == NORM ? magnitude * magnitude : magnitude;
        if (magnitude > most) {
            most = magnitude;
            where = i + 1;
        }
    }
    if (what == LARGEST) {
        *(int *)result = where;
        emu_check_host_wrote(result, sizeof where);
    } else {
        store_result(result, 0, type, what == NORM ? sqrt(sum) : sum);
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSaxpy(cublasHandle_t handle, int n, const float *alpha,
                           const float *x, int incx, float *y, int incy)
{
    return axpy(CALLER, "cublasSaxpy", handle, CUDA_R_32F, n, alpha, x, incx, y, incy);
}

cublasStatus_t cublasDaxpy(cublasHandle_t handle, int n, const double *alpha,
                           const double *x, int incx, double *y, int incy)
{
    return axpy(CALLER, "cublasDaxpy", handle, CUDA_R_64F, n, alpha, x, incx, y, incy);
}

cublasStatus_t cublasSscal(cublasHandle_t handle, int n, const float *alpha, float *x,
                           int incx)
{
    return scal(CALLER, "cublasSscal", handle, CUDA_R_32F, n, alpha, x, incx);
}

cublasStatus_t cublasDscal(cublasHandle_t handle, int n, const double *alpha, double *x,
                           int incx)
{
    return scal(CALLER, "cublasDscal", handle, CUDA_R_64F, n, alpha, x, incx);
}

cublasStatus_t cublasSdot(cublasHandle_t handle, int n, const float *x, int incx,
                          const float *y, int incy, float *result)
{
    return dot(CALLER, "cublasSdot", handle, CUDA_R_32F, n, x, incx, y, incy, result);
}

cublasStatus_t cublasDdot(cublasHandle_t handle, int n, const double *x, int incx,
                          const double *y, int incy, double *result)
{
    return dot(CALLER, "cublasDdot", handle, CUDA_R_64F, n, x, incx, y, incy, result);
}

cublasStatus_t cublasSnrm2(cublasHandle_t handle, int n, const float *x, int incx,
                           float *result)
{
    return measure(CALLER, "cublasSnrm2", handle, CUDA_R_32F, n, x, incx, NORM, result);
}

cublasStatus_t cublasDnrm2(cublasHandle_t handle, int n, const double *x, int incx,
                           double *result)
{
    return measure(CALLER, "cublasDnrm2", handle, CUDA_R_64F, n, x, incx, NORM, result);
}

cublasStatus_t cublasSasum(cublasHandle_t handle, int n, const float *x, int incx,
                           float *result)
{
    return measure(CALLER, "cublasSasum", handle, CUDA_R_32F, n, x, incx, SUM, result);
}

cublasStatus_t cublasDasum(cublasHandle_t handle, int n, const double *x, int incx,
                           double *result)
{
    return measure(CALLER, "cublasDasum", handle, CUDA_R_64F, n, x, incx, SUM, result);
}

cublasStatus_t cublasIsamax(cublasHandle_t handle, int n, const float *x, int incx,
                            int *result)
{
    return measure(CALLER, "cublasIsamax", handle, CUDA_R_32F, n, x, incx, LARGEST,
                   result);
}

cublasStatus_t cublasIdamax(cublasHandle_t handle, int n, const double *x, int incx,
                            int *result)
{
    return measure(CALLER, "cublasIdamax", handle, CUDA_R_64F, n, x, incx, LARGEST,
                   result);
}

/* ---- matrix times vector ---- */

static cublasStatus_t gemv(const void *pc, const char *call, cublasHandle_t handle,
                           cudaDataType type, cublasOperation_t trans, int m, int n,
                           const void *alpha, const void *A, int lda, const void *x,
                           int incx, const void *beta, void *y, int incy)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if ((unsigned)trans > CUBLAS_OP_C || m < 0 || n < 0 || lda < (m > 1 ? m : 1) ||
        incx == 0 || incy == 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!alpha || !beta) return CUBLAS_STATUS_INVALID_VALUE;
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    bool plain = trans == CUBLAS_OP_N;
    int length = plain ? m : n, depth = plain ? n : m;
    if (emu_work_begins(handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    need_device(pc, call, "A", A, matrix_bytes(m, n, lda, type));
    touches(pc, A, (size_t)m, n, lda, type, false);
    need_vector(pc, call, "x", x, depth, incx, type, false);
    need_vector(pc, call, "y", y, length, incy, type, true);
    double a = load(alpha, 0, type), b = load(beta, 0, type);
    for (int i = 0; i < length; i++) {
        double sum = 0;
        for (int k = 0; k < depth; k++) {
            size_t at = plain ? (size_t)i + (size_t)k * (size_t)lda
                              : (size_t)k + (size_t)i * (size_t)lda;
            sum += load(A, at, type) * load(x, index_at(depth, incx, k), type);
        }
        size_t to = index_at(length, incy, i);
        store_result(y, to, type, a * sum + (b == 0 ? 0 : b * load(y, to, type)));
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                           const float *alpha, const float *A, int lda, const float *x,
                           int incx, const float *beta, float *y, int incy)
{
    return gemv(CALLER, "cublasSgemv", handle, CUDA_R_32F, trans, m, n, alpha, A, lda, x,
                incx, beta, y, incy);
}

cublasStatus_t cublasDgemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n,
                           const double *alpha, const double *A, int lda, const double *x,
                           int incx, const double *beta, double *y, int incy)
{
    return gemv(CALLER, "cublasDgemv", handle, CUDA_R_64F, trans, m, n, alpha, A, lda, x,
                incx, beta, y, incy);
}

/* ---- matrix times matrix ---- */

struct matrix {
    void *elements;
    cudaDataType type;
    int ld;
    long long stride; /* to the next of a batch, in elements */
};

struct gemm {
    const char *call;
    const void *pc;
    cudaStream_t stream; /* cublasLt's; 0: the handle's */
    cublasOperation_t transa, transb;
    int m, n, k, count;
    const void *alpha, *beta;
    struct matrix a, b, c;
    const struct matrix *d; /* where the result goes, if not to c */
    unsigned epilogue;      /* enum cublasLtEpilogue_t, or 0 */
    struct matrix bias;
    cudaDataType scalar_type;
    enum narrowing narrowing;
};

/* op(A) and op(B) are copied piece by piece into slivers of 4 rows (columns) that lie
 * behind each other in the order in which the innermost loop reads them; that loop keeps
 * 4 x 4 sums in registers. */
enum { SIDE = 4, BLOCK = 128, DEPTH = 256 };
typedef double four __attribute__((vector_size(4 * sizeof(double))));

/* Packs rows first .. first + rows of X (rows x depth, element (i, k) at i * row_step + k
 * * depth_step). Rows past the end are zero. */
static void pack(double *to, const struct matrix *x, size_t row_step, size_t depth_step,
                 int rows, int depth, enum narrowing narrowing)
{
    for (int row = 0; row < rows; row += SIDE)
        for (int k = 0; k < depth; k++)
            for (int i = row; i < row + SIDE; i++) {
                size_t at = (size_t)i * row_step + (size_t)k * depth_step;
                *to++ =
                    i < rows ? narrowed(load(x->elements, at, x->type), narrowing) : 0.0;
            }
}

static void multiply_slivers(const double *a, const double *b, int depth, double *sums)
{
    four sum[SIDE];
    for (int j = 0; j < SIDE; j++) memcpy(&sum[j], sums + j * BLOCK, sizeof sum[j]);
    for (int k = 0; k < depth; k++, a += SIDE, b += SIDE) {
        four column;
        memcpy(&column, a, sizeof column);
        for (int j = 0; j < SIDE; j++) sum[j] += column * b[j];
    }
    for (int j = 0; j < SIDE; j++) memcpy(sums + j * BLOCK, &sum[j], sizeof sum[j]);
}

static struct matrix part_of(const struct matrix *x, size_t offset)
{
    struct matrix part = *x;
    part.elements = (char *)x->elements + offset * size_of(x->type);
    return part;
}

/* What cuBLASLt does to an element of the product. Of GELU it has the approximation with a
 * hyperbolic tangent. */
static double finished(const struct gemm *g, double x, int row)
{
    if (g->epilogue & CUBLASLT_EPILOGUE_BIAS)
        x += load(g->bias.elements, (size_t)row, g->bias.type);
    if (g->epilogue & CUBLASLT_EPILOGUE_RELU) return x > 0 ? x : 0;
    if (g->epilogue & CUBLASLT_EPILOGUE_GELU)
        return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    return x;
}

static void multiply(const struct gemm *g, double alpha, double beta, struct matrix a,
                     struct matrix b, struct matrix c, struct matrix d)
{
    EMU_ALONE;
    static double *packed_a, *packed_b, *sums;
    if (!sums) {
        packed_a = emu_zeros("for cuBLAS", BLOCK * DEPTH, sizeof *packed_a);
        packed_b = emu_zeros("for cuBLAS", BLOCK * DEPTH, sizeof *packed_b);
        sums = emu_zeros("for cuBLAS", BLOCK * BLOCK, sizeof *sums);
    }
    size_t lda = (size_t)a.ld, ldb = (size_t)b.ld, ldc = (size_t)c.ld;
    size_t a_row = g->transa == CUBLAS_OP_N ? 1 : lda,
           a_depth = g->transa == CUBLAS_OP_N ? lda : 1;
    size_t b_col = g->transb == CUBLAS_OP_N ? ldb : 1,
           b_depth = g->transb == CUBLAS_OP_N ? 1 : ldb;
    int depth_needed = alpha == 0 ? 0 : g->k;

    for (int col = 0; col < g->n; col += BLOCK)
        for (int row = 0; row < g->m; row += BLOCK) {
            int rows = g->m - row < BLOCK ? g->m - row : BLOCK;
            int cols = g->n - col < BLOCK ? g->n - col : BLOCK;
            memset(sums, 0, BLOCK * BLOCK * sizeof *sums);
            for (int k = 0; k < depth_needed; k += DEPTH) {
                int depth = depth_needed - k < DEPTH ? depth_needed - k : DEPTH;
                struct matrix a_part =
                    part_of(&a, (size_t)row * a_row + (size_t)k * a_depth);
                struct matrix b_part =
                    part_of(&b, (size_t)col * b_col + (size_t)k * b_depth);
                pack(packed_a, &a_part, a_row, a_depth, rows, depth, g->narrowing);
                pack(packed_b, &b_part, b_col, b_depth, cols, depth, g->narrowing);
                for (int j = 0; j < cols; j += SIDE)
                    for (int i = 0; i < rows; i += SIDE)
                        multiply_slivers(packed_a + i * depth, packed_b + j * depth,
                                         depth, sums + j * BLOCK + i);
            }
            for (int j = 0; j < cols; j++)
                for (int i = 0; i < rows; i++) {
                    size_t at = (size_t)(row + i) + (size_t)(col + j) * ldc;
                    double old = beta == 0 ? 0 : beta * load(c.elements, at, c.type);
                    const size_t to =
                        (size_t)(row + i) + (size_t)(col + j) * (size_t)d.ld;
                    store(d.elements, to, d.type,
                          finished(g, alpha * sums[j * BLOCK + i] + old, row + i));
                }
        }
}

static cublasStatus_t gemm(cublasHandle_t handle, const struct gemm *g)
{
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if ((unsigned)g->transa > CUBLAS_OP_C || (unsigned)g->transb > CUBLAS_OP_C)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (g->m < 0 || g->n < 0 || g->k < 0 || g->count < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    int a_rows = g->transa == CUBLAS_OP_N ? g->m : g->k,
        a_cols = g->transa == CUBLAS_OP_N ? g->k : g->m;
    int b_rows = g->transb == CUBLAS_OP_N ? g->k : g->n,
        b_cols = g->transb == CUBLAS_OP_N ? g->n : g->k;
    if (g->a.ld < (a_rows > 1 ? a_rows : 1) || g->b.ld < (b_rows > 1 ? b_rows : 1) ||
        g->c.ld < (g->m > 1 ? g->m : 1))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (g->m == 0 || g->n == 0 || g->count == 0) return CUBLAS_STATUS_SUCCESS;
    if (!g->alpha || !g->beta) return CUBLAS_STATUS_INVALID_VALUE;
    if (emu_work_begins(g->stream ? g->stream : handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {
        need_device(g->pc, g->call, "alpha", g->alpha, size_of(g->scalar_type));
        need_device(g->pc, g->call, "beta", g->beta, size_of(g->scalar_type));
    }
    double alpha = load(g->alpha, 0, g->scalar_type),
           beta = load(g->beta, 0, g->scalar_type);
    for (int i = 0; i < g->count; i++) {
        struct matrix a = part_of(&g->a, (size_t)(i * g->a.stride));
        struct matrix b = part_of(&g->b, (size_t)(i * g->b.stride));
        struct matrix c = part_of(&g->c, (size_t)(i * g->c.stride));
        if (alpha != 0 && g->k > 0) {
            need_device(g->pc, g->call, "A", a.elements,
                        matrix_bytes(a_rows, a_cols, a.ld, a.type));
            need_device(g->pc, g->call, "B", b.elements,
                        matrix_bytes(b_rows, b_cols, b.ld, b.type));
        }
        struct matrix d = g->d ? part_of(g->d, (size_t)(i * g->d->stride)) : c;
        if (!g->d || beta != 0)
            need_device(g->pc, g->call, "C", c.elements,
                        matrix_bytes(g->m, g->n, c.ld, c.type));
        if (g->d)
            need_device(g->pc, g->call, "D", d.elements,
                        matrix_bytes(g->m, g->n, d.ld, d.type));
        if (alpha != 0) {
            touches(g->pc, a.elements, (size_t)a_rows, a_cols, a.ld, a.type, false);
            touches(g->pc, b.elements, (size_t)b_rows, b_cols, b.ld, b.type, false);
        }
        if (beta != 0 && g->d)
            touches(g->pc, c.elements, (size_t)g->m, g->n, c.ld, c.type, false);
        touches(g->pc, d.elements, (size_t)g->m, g->n, d.ld, d.type, true);
        multiply(g, alpha, beta, a, b, c, d);
        const size_t rows = (size_t)g->m * size_of(d.type);
        const size_t pitch = (size_t)d.ld * size_of(d.type);
        for (int j = 0; j < g->n; j++)
            emu_check_host_wrote((char *)d.elements + (size_t)j * pitch, rows);
    }
    return CUBLAS_STATUS_SUCCESS;
}

/* Which tensor-core format single precision may be rounded to. */
static enum narrowing narrowing_of(cublasHandle_t handle, cudaDataType type,
                                   cublasComputeType_t compute)
{
    if (type != CUDA_R_32F || emu_gpu()->prop.major < 8) return AS_STORED;
    switch (compute) {
    case CUBLAS_COMPUTE_32F_FAST_16F: return TO_HALF;
    case CUBLAS_COMPUTE_32F_FAST_16BF: return TO_BFLOAT16;
    case CUBLAS_COMPUTE_32F_FAST_TF32: return TO_TF32;
    case CUBLAS_COMPUTE_32F:
        return handle && ((unsigned)handle->math_mode & 15) == CUBLAS_TF32_TENSOR_OP_MATH
                   ? TO_TF32
                   : AS_STORED;
    default: return AS_STORED;
    }
}

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
                     .narrowing = narrowing_of(handle, type, CUBLAS_COMPUTE_32F)};
    return gemm(handle, &g);
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k,
                           const float *alpha, const float *A, int lda, const float *B,
                           int ldb, const float *beta, float *C, int ldc)
{
    return uniform_gemm(CALLER, "cublasSgemm", handle, CUDA_R_32F, transa, transb, m, n,
                        k, alpha, A, lda, 0, B, ldb, 0, beta, C, ldc, 0, 1);
}

cublasStatus_t cublasDgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k,
                           const double *alpha, const double *A, int lda, const double *B,
                           int ldb, const double *beta, double *C, int ldc)
{
    return uniform_gemm(CALLER, "cublasDgemm", handle, CUDA_R_64F, transa, transb, m, n,
                        k, alpha, A, lda, 0, B, ldb, 0, beta, C, ldc, 0, 1);
}

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa,
                           cublasOperation_t transb, int m, int n, int k,
                           const __half *alpha, const __half *A, int lda, const __half *B,
                           int ldb, const __half *beta, __half *C, int ldc)
{
    return uniform_gemm(CALLER, "cublasHgemm", handle, CUDA_R_16F, transa, transb, m, n,
                        k, alpha, A, lda, 0, B, ldb, 0, beta, C, ldc, 0, 1);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const float *alpha, const float *A, int lda,
                                         long long stride_a, const float *B, int ldb,
                                         long long stride_b, const float *beta, float *C,
                                         int ldc, long long stride_c, int count)
{
    return uniform_gemm(CALLER, "cublasSgemmStridedBatched", handle, CUDA_R_32F, transa,
                        transb, m, n, k, alpha, A, lda, stride_a, B, ldb, stride_b, beta,
                        C, ldc, stride_c, count);
}

cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa,
                                         cublasOperation_t transb, int m, int n, int k,
                                         const double *alpha, const double *A, int lda,
                                         long long stride_a, const double *B, int ldb,
                                         long long stride_b, const double *beta,
                                         double *C, int ldc, long long stride_c,
                                         int count)
{
    return uniform_gemm(CALLER, "cublasDgemmStridedBatched", handle, CUDA_R_64F, transa,
                        transb, m, n, k, alpha, A, lda, stride_a, B, ldb, stride_b, beta,
                        C, ldc, stride_c, count);
}

/* The matrices of a batch are anywhere: lists of pointers, in device memory. */
static cublasStatus_t
batched_gemm(const void *pc, const char *call, cublasHandle_t handle, cudaDataType type,
             cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
             const void *alpha, const void *const A[], int lda, const void *const B[],
             int ldb, const void *beta, void *const C[], int ldc, int count)
{
    const size_t bytes = (size_t)(count > 0 ? count : 0) * sizeof(void *);
    need_device(pc, call, "the list of A", A, bytes);
    need_device(pc, call, "the list of B", B, bytes);
    need_device(pc, call, "the list of C", C, bytes);
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < count && status == CUBLAS_STATUS_SUCCESS; i++)
        status = uniform_gemm(pc, call, handle, type, transa, transb, m, n, k, alpha,
                              A[i], lda, 0, B[i], ldb, 0, beta, C[i], ldc, 0, 1);
    return status;
}

cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, int m, int n, int k,
                                  const float *alpha, const float *const A[], int lda,
                                  const float *const B[], int ldb, const float *beta,
                                  float *const C[], int ldc, int count)
{
    return batched_gemm(CALLER, "cublasSgemmBatched", handle, CUDA_R_32F, transa, transb,
                        m, n, k, alpha, (const void *const *)A, lda,
                        (const void *const *)B, ldb, beta, (void *const *)C, ldc, count);
}

cublasStatus_t cublasDgemmBatched(cublasHandle_t handle, cublasOperation_t transa,
                                  cublasOperation_t transb, int m, int n, int k,
                                  const double *alpha, const double *const A[], int lda,
                                  const double *const B[], int ldb, const double *beta,
                                  double *const C[], int ldc, int count)
{
    return batched_gemm(CALLER, "cublasDgemmBatched", handle, CUDA_R_64F, transa, transb,
                        m, n, k, alpha, (const void *const *)A, lda,
                        (const void *const *)B, ldb, beta, (void *const *)C, ldc, count);
}

static bool is_emulated(cudaDataType type)
{
    return type == CUDA_R_64F || type == CUDA_R_32F || type == CUDA_R_16F ||
           type == CUDA_R_16BF;
}

/* The type of alpha and beta, which is the type that a compute type computes in; -1 for a
 * compute type that does not go with these matrices. */
static int scalar_type_of(cublasComputeType_t compute, cudaDataType a, cudaDataType b,
                          cudaDataType c)
{
    if (a != b || !is_emulated(a) || !is_emulated(c)) return -1;
    switch (compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC: return a == CUDA_R_64F && c == a ? CUDA_R_64F : -1;
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return a == CUDA_R_16F && c == a ? CUDA_R_16F : -1;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
        return a != CUDA_R_64F && (c == a || c == CUDA_R_32F) ? CUDA_R_32F : -1;
    default: return a == CUDA_R_32F && c == a ? CUDA_R_32F : -1;
    }
}

static cublasStatus_t mixed_gemm(const void *pc, const char *call, cublasHandle_t handle,
                                 cublasOperation_t transa, cublasOperation_t transb,
                                 int m, int n, int k, const void *alpha, struct matrix a,
                                 struct matrix b, const void *beta, struct matrix c,
                                 int count, cublasComputeType_t compute)
{
    int scalar_type = scalar_type_of(compute, a.type, b.type, c.type);
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
                     .narrowing = narrowing_of(handle, a.type, compute)};
    return gemm(handle, &g);
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

/* ---- cuBLASLt ---- */

struct cublasLtMatmulDescOpaque {
    cublasComputeType_t compute;
    cudaDataType scale, bias_type;
    int transa, transb, pointer_mode;
    unsigned epilogue;
    const void *bias;
    bool bias_typed;
};
struct cublasLtMatrixLayoutOpaque {
    uint64_t rows, cols;
    int64_t ld, stride;
    cudaDataType type;
    int order, count;
};
struct cublasLtMatmulPreferenceOpaque {
    uint64_t workspace;
};

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    return cublasCreate((cublasHandle_t *)handle);
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return cublasDestroy((cublasHandle_t)handle);
}

/* Gives *thing a copy of the `bytes` at `first`. */
static cublasStatus_t create(void *thing, const void *first, size_t bytes)
{
    if (!thing) return CUBLAS_STATUS_INVALID_VALUE;
    void *p = malloc(bytes);
    if (!p) return CUBLAS_STATUS_ALLOC_FAILED;
    memcpy(p, first, bytes);
    memcpy(thing, &p, sizeof p);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t set_attribute(void *to, size_t size, const void *value,
                                    size_t bytes)
{
    if (!value || bytes != size) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, value, size);
    return CUBLAS_STATUS_SUCCESS;
}
#define SET(field) set_attribute(&(field), sizeof(field), value, bytes)

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc,
                                        cublasComputeType_t compute_type,
                                        cudaDataType scale_type)
{
    const struct cublasLtMatmulDescOpaque first = {.compute = compute_type,
                                                   .scale = scale_type,
                                                   .epilogue = CUBLASLT_EPILOGUE_DEFAULT};
    return create(desc, &first, sizeof first);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
    free(desc);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t bytes)
{
    if (!desc) return CUBLAS_STATUS_INVALID_VALUE;
    switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return SET(desc->compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return SET(desc->scale);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: return SET(desc->pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA: return SET(desc->transa);
    case CUBLASLT_MATMUL_DESC_TRANSB: return SET(desc->transb);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return SET(desc->epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return SET(desc->bias);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
        desc->bias_typed = true;
        return SET(desc->bias_type);
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                          cudaDataType type, uint64_t rows, uint64_t cols,
                                          int64_t ld)
{
    const struct cublasLtMatrixLayoutOpaque first = {
        .rows = rows, .cols = cols, .ld = ld, .type = type, .count = 1};
    return create(layout, &first, sizeof first);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    free(layout);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void *value, size_t bytes)
{
    if (!layout) return CUBLAS_STATUS_INVALID_VALUE;
    switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: return SET(layout->type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER: return SET(layout->order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS: return SET(layout->rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS: return SET(layout->cols);
    case CUBLASLT_MATRIX_LAYOUT_LD: return SET(layout->ld);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return SET(layout->count);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return SET(layout->stride);
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
    const struct cublasLtMatmulPreferenceOpaque first = {0};
    return create(preference, &first, sizeof first);
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference)
{
    free(preference);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                     cublasLtMatmulPreferenceAttributes_t attribute,
                                     const void *value, size_t bytes)
{
    if (!preference || !value) return CUBLAS_STATUS_INVALID_VALUE;
    return attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
               ? SET(preference->workspace)
               : CUBLAS_STATUS_SUCCESS;
}

static struct matrix matrix_of(const void *elements, cublasLtMatrixLayout_t layout)
{
    return (struct matrix){(void *)elements, layout->type, (int)layout->ld,
                           layout->stride};
}

/* Fills in what the descriptions say. Returns what is wrong with them. */
static cublasStatus_t lt_gemm(struct gemm *g, cublasLtMatmulDesc_t desc,
                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d)
{
    if (!desc || !a || !b || !c || !d) return CUBLAS_STATUS_INVALID_VALUE;
    const bool plain_a = desc->transa == CUBLAS_OP_N,
               plain_b = desc->transb == CUBLAS_OP_N;
    const uint64_t m = plain_a ? a->rows : a->cols, k = plain_a ? a->cols : a->rows,
                   n = plain_b ? b->cols : b->rows;
    if ((plain_b ? b->rows : b->cols) != k || d->rows != m || d->cols != n ||
        c->rows != m || c->cols != n)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (a->order || b->order || c->order || d->order) return CUBLAS_STATUS_NOT_SUPPORTED;
    const int scalars = scalar_type_of(desc->compute, a->type, b->type, d->type);
    if (scalars < 0 || (int)desc->scale != scalars) return CUBLAS_STATUS_NOT_SUPPORTED;
    g->transa = (cublasOperation_t)desc->transa;
    g->transb = (cublasOperation_t)desc->transb;
    g->m = (int)m;
    g->n = (int)n;
    g->k = (int)k;
    g->count = d->count;
    g->scalar_type = desc->scale;
    g->epilogue = desc->epilogue & ~(unsigned)CUBLASLT_EPILOGUE_DEFAULT;
    g->bias = (struct matrix){(void *)desc->bias,
                              desc->bias_typed ? desc->bias_type : d->type, 0, 0};
    g->narrowing = narrowing_of(NULL, a->type, desc->compute);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                               cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                               cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                               cublasLtMatmulPreference_t preference, int wanted,
                               cublasLtMatmulHeuristicResult_t results[], int *found)
{
    struct gemm g = {0};
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!preference || wanted < 1 || !results || !found)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasStatus_t status = lt_gemm(&g, desc, a, b, c, d);
    *found = status == CUBLAS_STATUS_SUCCESS;
    if (*found) results[0] = (cublasLtMatmulHeuristicResult_t){.wavesCount = 1};
    return status;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                              const void *alpha, const void *A, cublasLtMatrixLayout_t a,
                              const void *B, cublasLtMatrixLayout_t b, const void *beta,
                              const void *C, cublasLtMatrixLayout_t c, void *D,
                              cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t *algo,
                              void *workspace, size_t workspace_bytes,
                              cudaStream_t stream)
{
    (void)algo, (void)workspace, (void)workspace_bytes;
    struct gemm g = {.call = "cublasLtMatmul",
                     .pc = CALLER,
                     .stream = stream,
                     .alpha = alpha,
                     .beta = beta};
    const cublasStatus_t status = lt_gemm(&g, desc, a, b, c, d);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    const struct matrix result = matrix_of(D, d);
    g.a = matrix_of(A, a);
    g.b = matrix_of(B, b);
    g.c = matrix_of(C, c);
    g.d = &result;
    if (g.epilogue & CUBLASLT_EPILOGUE_BIAS)
        need_device(g.pc, g.call, "the bias", g.bias.elements,
                    vector_bytes(g.m, 1, g.bias.type));
    struct cublasContext context = {.pointer_mode =
                                        (cublasPointerMode_t)desc->pointer_mode};
    return gemm(handle ? &context : NULL, &g);
}
