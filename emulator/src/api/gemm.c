/* The matrix product behind the calls of cuBLAS and cuBLASLt, and what all of these
 * check.
 *
 * Everything is computed in double and rounded once, when it is stored: no result is
 * further from the exact one than cuBLAS's would be. A matrix that does not lie in device
 * memory is reported like a kernel's bad access. */
#include "api/gemm.h"

#include <math.h>
#include <string.h>

#include "base/device.h"
#include "base/now.h"
#include "base/room.h"
#include "cuda_fp8.h"
#include "emulator_runtime.h"
#include "memory/allocations.h"
#include "memory/copies.h"
#include "memory/spans.h"
#include "memory/streams.h"
#include "memory/values.h"

/* ---- elements ---- */

size_t emu_blas_bytes(cudaDataType type)
{
    switch (type) {
    case CUDA_R_64F: return 8;
    case CUDA_R_32F:
    case CUDA_R_32I: return 4;
    case CUDA_R_8I:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2: return 1;
    default: return 2;
    }
}

double emu_blas_load(const void *array, size_t index, cudaDataType type)
{
    switch (type) {
    case CUDA_R_64F: return ((const double *)array)[index];
    case CUDA_R_32F: return ((const float *)array)[index];
    case CUDA_R_16F: return emu_float_of_half(((const unsigned short *)array)[index]);
    case CUDA_R_16BF:
        return emu_float_of_bfloat16(((const unsigned short *)array)[index]);
    case CUDA_R_32I: return ((const int *)array)[index];
    case CUDA_R_8I: return ((const signed char *)array)[index];
    case CUDA_R_8F_E4M3:
        return emu_float_of_fp8(((const unsigned char *)array)[index], __NV_E4M3);
    case CUDA_R_8F_E5M2:
        return emu_float_of_fp8(((const unsigned char *)array)[index], __NV_E5M2);
    default: return NAN;
    }
}

void emu_blas_store(void *array, size_t index, cudaDataType type, double value)
{
    switch (type) {
    case CUDA_R_64F: ((double *)array)[index] = value; break;
    case CUDA_R_32F: ((float *)array)[index] = (float)value; break;
    case CUDA_R_16F: ((unsigned short *)array)[index] = emu_half_bits(value); break;
    case CUDA_R_16BF: ((unsigned short *)array)[index] = emu_bfloat16_bits(value); break;
    case CUDA_R_32I: ((int *)array)[index] = (int)(long long)value; break;
    case CUDA_R_8F_E4M3:
        ((unsigned char *)array)[index] = emu_fp8_bits(value, __NV_SATFINITE, __NV_E4M3);
        break;
    case CUDA_R_8F_E5M2:
        ((unsigned char *)array)[index] = emu_fp8_bits(value, __NV_SATFINITE, __NV_E5M2);
        break;
    default: break;
    }
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

void emu_blas_need(const void *pc, const char *call, const char *operand, const void *p,
                   size_t bytes)
{
    if (!emu_is_device_range(p, bytes))
        emu_fault(pc, "%s: %s is not %zu bytes of device memory", call, operand, bytes);
    const struct emu_allocation *const a = bytes ? emu_find_allocation(p) : NULL;
    if (a && !emu_may_use(emu_working_device, a))
        emu_fault(pc, "%s: %s is on device %d, and the stream is of device %d", call,
                  operand, a->device, emu_working_device);
}

void emu_blas_touches(const void *pc, const void *p, size_t rows, int cols, int ld,
                      cudaDataType type, bool writes)
{
    if (rows == (size_t)ld) {
        rows *= (size_t)cols;
        cols = 1;
    }
    for (int col = 0; col < cols; col++)
        emu_work_touches((const char *)p +
                             (size_t)col * (size_t)ld * emu_blas_bytes(type),
                         rows * emu_blas_bytes(type), writes, pc);
}

size_t emu_blas_matrix_bytes(int rows, int cols, int ld, cudaDataType type)
{
    return rows > 0 && cols > 0
               ? ((size_t)(cols - 1) * (size_t)ld + (size_t)rows) * emu_blas_bytes(type)
               : 0;
}

/* ---- vectors ---- */

void emu_blas_put(void *array, size_t index, cudaDataType type, double value)
{
    emu_blas_store(array, index, type, value);
    emu_check_host_wrote((char *)array + index * emu_blas_bytes(type),
                         emu_blas_bytes(type));
}

static size_t vector_bytes(int n, int step, cudaDataType type)
{
    size_t stride = (size_t)(step < 0 ? -(long)step : step);
    return n > 0 ? ((size_t)(n - 1) * stride + 1) * emu_blas_bytes(type) : 0;
}

void emu_blas_need_vector(const void *pc, const char *call, const char *operand,
                          const void *p, int n, int step, cudaDataType type, bool writes)
{
    const size_t bytes = vector_bytes(n, step, type);
    emu_blas_need(pc, call, operand, p, bytes);
    if (step == 1) emu_work_touches(p, bytes, writes, pc);
}

/* ---- the product ---- */

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
                *to++ = i < rows
                            ? narrowed(emu_blas_load(x->elements, at, x->type), narrowing)
                            : 0.0;
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
    part.elements = (char *)x->elements + offset * emu_blas_bytes(x->type);
    return part;
}

/* ---- what cuBLASLt does to the product ---- */

/* Of GELU it has the approximation with a hyperbolic tangent. */
static double gelu(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

static double gelu_slope(double x)
{
    const double t = tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
    return 0.5 * (1 + t) +
           0.5 * x * (1 - t * t) * sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
}

/* Of RELU the matrix beside the result has bits. */
static double finished(const struct gemm *g, double x, int row, int col)
{
    const struct matrix *const aux = &g->aux;
    const size_t at = (size_t)row + (size_t)col * (size_t)aux->ld;
    uint8_t *const byte = (uint8_t *)aux->elements + at / 8, bit = (uint8_t)(1 << at % 8);
    if (g->epilogue & BIAS)
        x += emu_blas_load(g->bias.elements, (size_t)row, g->bias.type);
    if (g->epilogue & AUX && g->epilogue & RELU)
        *byte = (uint8_t)(x > 0 ? *byte | bit : *byte & ~bit);
    if (g->epilogue & AUX && g->epilogue & GELU)
        emu_blas_store(aux->elements, at, aux->type, x);
    if (g->epilogue & RELU) return x > 0 ? x : 0;
    if (g->epilogue & GELU) return gelu(x);
    if (g->epilogue & DRELU) return *byte & bit ? x : 0;
    if (g->epilogue & DGELU)
        return x * gelu_slope(emu_blas_load(aux->elements, at, aux->type));
    return x;
}

/* Bytes of that matrix's columns, in which RELU's have a bit for each row. */
static size_t aux_bytes(const struct gemm *g)
{
    return g->epilogue & (RELU | DRELU)
               ? ((size_t)(g->n - 1) * (size_t)g->aux.ld + (size_t)g->m + 7) / 8
               : emu_blas_matrix_bytes(g->m, g->n, g->aux.ld, g->aux.type);
}

/* How many elements the bias, or its gradient, has. */
static int bias_count(const struct gemm *g)
{
    return g->epilogue & BGRADB ? g->n : g->m;
}

static void check_epilogue(const struct gemm *g)
{
    const struct matrix *const aux = &g->aux;
    const bool sums = g->epilogue & (BGRAD | BGRADA | BGRADB);
    if (g->epilogue & BIAS || sums) {
        const size_t bytes = (size_t)bias_count(g) * emu_blas_bytes(g->bias.type);
        emu_blas_need(g->pc, g->call, "the bias", g->bias.elements, bytes);
        emu_blas_touches(g->pc, g->bias.elements, (size_t)bias_count(g), 1, bias_count(g),
                         g->bias.type, sums);
        if (sums) emu_check_host_wrote(g->bias.elements, bytes);
    }
    if (!(g->epilogue & AUX)) return;
    emu_blas_need(g->pc, g->call, "the auxiliary matrix", aux->elements, aux_bytes(g));
    emu_blas_touches(g->pc, aux->elements, aux_bytes(g), 1, (int)aux_bytes(g), CUDA_R_8I,
                     g->epilogue & (RELU | GELU));
    if (g->epilogue & (RELU | GELU)) emu_check_host_wrote(aux->elements, aux_bytes(g));
}

/* The sums of a matrix's rows, or of its columns. */
static void sum_up(const struct gemm *g, const struct matrix *x, size_t step,
                   size_t across, int terms)
{
    for (int i = 0; i < bias_count(g); i++) {
        double sum = 0;
        for (int k = 0; k < terms; k++)
            sum += emu_blas_load(x->elements, (size_t)i * step + (size_t)k * across,
                                 x->type);
        emu_blas_store(g->bias.elements, (size_t)i, g->bias.type, sum);
    }
}

static void sum_for_bias(const struct gemm *g, const struct matrix *d)
{
    const bool a_plain = g->transa == CUBLAS_OP_N, b_plain = g->transb == CUBLAS_OP_N;
    const size_t lda = (size_t)g->a.ld, ldb = (size_t)g->b.ld;
    if (g->epilogue & BGRAD) sum_up(g, d, 1, (size_t)d->ld, g->n);
    if (g->epilogue & BGRADA)
        sum_up(g, &g->a, a_plain ? 1 : lda, a_plain ? lda : 1, g->k);
    if (g->epilogue & BGRADB)
        sum_up(g, &g->b, b_plain ? ldb : 1, b_plain ? 1 : ldb, g->k);
}

static double scale_of(const float *scale)
{
    return scale ? *scale : 1.0;
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
                    double old =
                        beta == 0 ? 0 : beta * emu_blas_load(c.elements, at, c.type);
                    const size_t to =
                        (size_t)(row + i) + (size_t)(col + j) * (size_t)d.ld;
                    const double x =
                        finished(g, alpha * sums[j * BLOCK + i] + old, row + i, col + j);
                    if (g->amax) *g->amax = fmaxf(*g->amax, (float)fabs(x));
                    emu_blas_store(d.elements, to, d.type, x * scale_of(g->d_scale));
                }
        }
}

cublasStatus_t emu_gemm(cublasHandle_t handle, const struct gemm *g)
{
    EMU_ALONE;
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
    if (emu_call_begins(g->stream ? g->stream : handle->stream) != cudaSuccess)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {
        emu_blas_need(g->pc, g->call, "alpha", g->alpha, emu_blas_bytes(g->scalar_type));
        emu_blas_need(g->pc, g->call, "beta", g->beta, emu_blas_bytes(g->scalar_type));
    }
    const float *const scales[] = {g->a_scale, g->b_scale, g->d_scale};
    for (int i = 0; i < 3; i++) {
        if (!scales[i]) continue;
        emu_blas_need(g->pc, g->call, "a scale", scales[i], sizeof(float));
        emu_work_touches(scales[i], sizeof(float), false, g->pc);
    }
    if (g->amax) {
        emu_blas_need(g->pc, g->call, "amax", g->amax, sizeof(float));
        emu_work_touches(g->amax, sizeof(float), true, g->pc);
        emu_check_host_wrote(g->amax, sizeof(float));
        *g->amax = 0;
    }
    double alpha = emu_blas_load(g->alpha, 0, g->scalar_type) * scale_of(g->a_scale) *
                   scale_of(g->b_scale),
           beta = emu_blas_load(g->beta, 0, g->scalar_type);
    for (int i = 0; i < g->count; i++) {
        struct matrix a = part_of(&g->a, (size_t)(i * g->a.stride));
        struct matrix b = part_of(&g->b, (size_t)(i * g->b.stride));
        struct matrix c = part_of(&g->c, (size_t)(i * g->c.stride));
        if (alpha != 0 && g->k > 0) {
            emu_blas_need(g->pc, g->call, "A", a.elements,
                          emu_blas_matrix_bytes(a_rows, a_cols, a.ld, a.type));
            emu_blas_need(g->pc, g->call, "B", b.elements,
                          emu_blas_matrix_bytes(b_rows, b_cols, b.ld, b.type));
        }
        struct matrix d = g->d ? part_of(g->d, (size_t)(i * g->d->stride)) : c;
        if (!g->d || beta != 0)
            emu_blas_need(g->pc, g->call, "C", c.elements,
                          emu_blas_matrix_bytes(g->m, g->n, c.ld, c.type));
        if (g->d)
            emu_blas_need(g->pc, g->call, "D", d.elements,
                          emu_blas_matrix_bytes(g->m, g->n, d.ld, d.type));
        if (alpha != 0) {
            emu_blas_touches(g->pc, a.elements, (size_t)a_rows, a_cols, a.ld, a.type,
                             false);
            emu_blas_touches(g->pc, b.elements, (size_t)b_rows, b_cols, b.ld, b.type,
                             false);
        }
        if (beta != 0 && g->d)
            emu_blas_touches(g->pc, c.elements, (size_t)g->m, g->n, c.ld, c.type, false);
        emu_blas_touches(g->pc, d.elements, (size_t)g->m, g->n, d.ld, d.type, true);
        struct gemm one = *g; /* of the batch */
        one.a = a;
        one.b = b;
        one.bias = part_of(&g->bias, (size_t)(i * g->bias.stride));
        one.aux = part_of(&g->aux, (size_t)(i * g->aux.stride));
        check_epilogue(&one);
        multiply(&one, alpha, beta, a, b, c, d);
        sum_for_bias(&one, &d);
        const size_t rows = (size_t)g->m * emu_blas_bytes(d.type);
        const size_t pitch = (size_t)d.ld * emu_blas_bytes(d.type);
        for (int j = 0; j < g->n; j++)
            emu_check_host_wrote((char *)d.elements + (size_t)j * pitch, rows);
    }
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- types ---- */

enum narrowing emu_gemm_narrowing(cublasHandle_t handle, cudaDataType type,
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

static bool is_emulated(cudaDataType type)
{
    return type == CUDA_R_64F || type == CUDA_R_32F || type == CUDA_R_16F ||
           type == CUDA_R_16BF;
}

int emu_gemm_scalar_type(cublasComputeType_t compute, cudaDataType a, cudaDataType b,
                         cudaDataType c)
{
    /* Of integers of 8 bits come sums of 32, or numbers with a point. */
    if (a == CUDA_R_8I && b == a) {
        const bool whole =
            compute == CUBLAS_COMPUTE_32I || compute == CUBLAS_COMPUTE_32I_PEDANTIC;
        const cudaDataType sum = whole ? CUDA_R_32I : CUDA_R_32F;
        return c == sum && (whole || compute == CUBLAS_COMPUTE_32F) ? (int)sum : -1;
    }
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
