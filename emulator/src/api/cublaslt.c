/* cuBLASLt, the part that cublasLt.h declares: products by description. */
#define EMU_CUBLASLT_INSIDE
#include <stdlib.h>
#include <string.h>

#include "api/gemm.h"
#include "base/device.h"

#define CALLER __builtin_return_address(0)

/* ---- descriptions ---- */

struct cublasLtMatmulDescOpaque {
    cublasComputeType_t compute;
    cudaDataType scale, bias_type, aux_type;
    int transa, transb, pointer_mode;
    unsigned epilogue;
    const void *bias;
    void *aux;
    int64_t aux_ld, aux_stride, bias_stride;
    bool bias_typed, aux_typed;
    /* C's is taken, as programs set it, and never read: it is for a C of 8 bits, which no
     * product has. */
    const float *a_scale, *b_scale, *c_scale, *d_scale;
    float *amax;
    int8_t fast; /* sums of fewer bits, which are not modelled */
};
struct cublasLtMatrixLayoutOpaque {
    uint64_t rows, cols;
    int64_t ld, stride;
    cudaDataType type;
    int order, count;
};
struct cublasLtMatmulPreferenceOpaque {
    uint64_t workspace;
    uint32_t alignment[4]; /* of A, B, C and D; the one algorithm here needs none */
};
_Static_assert(sizeof(struct cublasLtMatmulDescOpaque) <= 32 * sizeof(uint64_t) &&
                   sizeof(struct cublasLtMatrixLayoutOpaque) <= 8 * sizeof(uint64_t) &&
                   sizeof(struct cublasLtMatmulPreferenceOpaque) <= 8 * sizeof(uint64_t),
               "cublasLt.h has as much room");

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    return cublasCreate((cublasHandle_t *)handle);
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return cublasDestroy((cublasHandle_t)handle);
}

static cublasStatus_t set_attribute(void *to, size_t size, const void *value,
                                    size_t bytes)
{
    if (!value || bytes != size) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, value, size);
    return CUBLAS_STATUS_SUCCESS;
}
#define SET(field) set_attribute(&(field), sizeof(field), value, bytes)

cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t desc,
                                      cublasComputeType_t compute_type,
                                      cudaDataType scale_type)
{
    if (!desc) return CUBLAS_STATUS_INVALID_VALUE;
    *desc = (struct cublasLtMatmulDescOpaque){.compute = compute_type,
                                              .scale = scale_type,
                                              .epilogue = CUBLASLT_EPILOGUE_DEFAULT};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc,
                                        cublasComputeType_t compute_type,
                                        cudaDataType scale_type)
{
    if (!desc) return CUBLAS_STATUS_INVALID_VALUE;
    *desc = malloc(sizeof **desc);
    return *desc ? cublasLtMatmulDescInit(*desc, compute_type, scale_type)
                 : CUBLAS_STATUS_ALLOC_FAILED;
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
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE: return SET(desc->bias_stride);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: return SET(desc->aux);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: return SET(desc->aux_ld);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE: return SET(desc->aux_stride);
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER: return SET(desc->a_scale);
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER: return SET(desc->b_scale);
    case CUBLASLT_MATMUL_DESC_C_SCALE_POINTER: return SET(desc->c_scale);
    case CUBLASLT_MATMUL_DESC_D_SCALE_POINTER: return SET(desc->d_scale);
    case CUBLASLT_MATMUL_DESC_AMAX_D_POINTER: return SET(desc->amax);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM: return SET(desc->fast);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
        desc->aux_typed = true;
        return SET(desc->aux_type);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
        desc->bias_typed = true;
        return SET(desc->bias_type);
    }
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type,
                                        uint64_t rows, uint64_t cols, int64_t ld)
{
    if (!layout) return CUBLAS_STATUS_INVALID_VALUE;
    *layout = (struct cublasLtMatrixLayoutOpaque){
        .rows = rows, .cols = cols, .ld = ld, .type = type, .count = 1};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                          cudaDataType type, uint64_t rows, uint64_t cols,
                                          int64_t ld)
{
    if (!layout) return CUBLAS_STATUS_INVALID_VALUE;
    *layout = malloc(sizeof **layout);
    return *layout ? cublasLtMatrixLayoutInit(*layout, type, rows, cols, ld)
                   : CUBLAS_STATUS_ALLOC_FAILED;
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

cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference)
{
    if (!preference) return CUBLAS_STATUS_INVALID_VALUE;
    *preference = (struct cublasLtMatmulPreferenceOpaque){0};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
    if (!preference) return CUBLAS_STATUS_INVALID_VALUE;
    *preference = malloc(sizeof **preference);
    return *preference ? cublasLtMatmulPreferenceInit(*preference)
                       : CUBLAS_STATUS_ALLOC_FAILED;
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
    switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES: return SET(preference->workspace);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES: return SET(preference->alignment[0]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES: return SET(preference->alignment[1]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES: return SET(preference->alignment[2]);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES: return SET(preference->alignment[3]);
    default: return CUBLAS_STATUS_SUCCESS;
    }
}

/* ---- products ---- */

/* A matrix of a product, and how it lies. */
struct operand {
    const void *elements;
    cublasLtMatrixLayout_t layout;
};

static struct matrix matrix_of(struct operand x)
{
    return (struct matrix){(void *)x.elements, x.layout->type, (int)x.layout->ld,
                           x.layout->stride};
}

/* cuBLAS's columns are the rows of a matrix that lies row by row. */
static cublasOperation_t turned(cublasOperation_t operation, bool turn)
{
    return (operation == CUBLAS_OP_N) == turn ? CUBLAS_OP_T : CUBLAS_OP_N;
}

static bool is_fp8(cudaDataType type)
{
    return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2;
}

/* Products of fp8, of compute capability 8.9 on: of A^T and B, two of e4m3 or one of each
 * kind, into fp32, fp16, bf16 or fp8, into e5m2 only if A or B is. Columns lie at
 * multiples of 16 bytes. A result in fp8 has a C of 16 bits, and only such a result may
 * be scaled, or have its maximum told. */
static bool fp8_fits(const struct gemm *g, cublasLtMatmulDesc_t desc,
                     const struct matrix *d)
{
    const struct cudaDeviceProp *const gpu = &emu_gpu()->prop;
    const cudaDataType a = g->a.type, b = g->b.type, c = g->c.type;
    const bool narrow = is_fp8(d->type);
    const int c_bytes = (int)emu_blas_bytes(c), d_bytes = (int)emu_blas_bytes(d->type);
    const bool types =
        (a == b ? a == CUDA_R_8F_E4M3 && d->type != CUDA_R_8F_E5M2 : true) &&
        (narrow
             ? c == CUDA_R_16BF || c == CUDA_R_16F
             : c == d->type && (c == CUDA_R_32F || c == CUDA_R_16F || c == CUDA_R_16BF));
    return types && gpu->major * 10 + gpu->minor >= 89 &&
           desc->compute == CUBLAS_COMPUTE_32F && g->transa == CUBLAS_OP_T &&
           g->transb == CUBLAS_OP_N && (narrow || (!desc->d_scale && !desc->amax)) &&
           (g->m | g->k | g->a.ld | g->b.ld | g->c.ld * c_bytes | d->ld * d_bytes) % 16 ==
               0;
}

/* Fills in what the descriptions say, and D. Returns what is wrong with them: on an H200
 * too, cuBLAS (13.0) sums up A's rows only of an A that is not transposed, B's columns
 * only of a B that is, and D's rows only where it has a workspace. */
static cublasStatus_t lt_gemm(struct gemm *g, struct matrix *result,
                              cublasLtMatmulDesc_t desc, struct operand a,
                              struct operand b, struct operand c, struct operand d,
                              size_t workspace_bytes)
{
    if (!desc || !a.layout || !b.layout || !c.layout || !d.layout)
        return CUBLAS_STATUS_INVALID_VALUE;
    if ((unsigned)desc->transa > CUBLAS_OP_C || (unsigned)desc->transb > CUBLAS_OP_C)
        return CUBLAS_STATUS_INVALID_VALUE;
    const cublasLtMatrixLayout_t la = a.layout, lb = b.layout, lc = c.layout,
                                 ld = d.layout;
    const bool whole_a = desc->transa == CUBLAS_OP_N,
               whole_b = desc->transb == CUBLAS_OP_N;
    const uint64_t m = whole_a ? la->rows : la->cols, k = whole_a ? la->cols : la->rows,
                   n = whole_b ? lb->cols : lb->rows;
    if ((whole_b ? lb->rows : lb->cols) != k || ld->rows != m || ld->cols != n ||
        lc->rows != m || lc->cols != n)
        return CUBLAS_STATUS_INVALID_VALUE;
    const unsigned orders = (unsigned)(la->order | lb->order | lc->order | ld->order);
    if (orders > CUBLASLT_ORDER_ROW || lc->order != ld->order)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    /* A D that lies row by row is the transposed one, of B's and A's transposed ones. */
    const bool swap = ld->order == CUBLASLT_ORDER_ROW;
    const cublasOperation_t transa = turned((cublasOperation_t)desc->transa,
                                            (la->order == CUBLASLT_ORDER_ROW) != swap);
    const cublasOperation_t transb = turned((cublasOperation_t)desc->transb,
                                            (lb->order == CUBLASLT_ORDER_ROW) != swap);
    g->transa = swap ? transb : transa;
    g->transb = swap ? transa : transb;
    g->m = (int)(swap ? n : m);
    g->n = (int)(swap ? m : n);
    g->k = (int)k;
    g->a = matrix_of(swap ? b : a);
    g->b = matrix_of(swap ? a : b);
    g->c = matrix_of(c);
    *result = matrix_of(d);
    g->d = result;
    g->count = ld->count;
    g->scalar_type = desc->scale;
    g->a_scale = desc->a_scale;
    g->b_scale = desc->b_scale;
    g->d_scale = desc->d_scale;
    g->amax = desc->amax;
    const bool fp8 = is_fp8(la->type) && is_fp8(lb->type);
    if (!fp8 &&
        (desc->a_scale || desc->b_scale || desc->c_scale || desc->d_scale || desc->amax))
        return CUBLAS_STATUS_INVALID_VALUE;
    const int scalars =
        !fp8 ? emu_gemm_scalar_type(desc->compute, la->type, lb->type, ld->type)
        : fp8_fits(g, desc, result) ? (int)CUDA_R_32F
                                    : -1;
    if (scalars < 0 || (int)desc->scale != scalars) return CUBLAS_STATUS_NOT_SUPPORTED;
    g->epilogue = desc->epilogue & ~(unsigned)CUBLASLT_EPILOGUE_DEFAULT;
    if ((g->epilogue & BGRADA && g->transa != CUBLAS_OP_N) ||
        (g->epilogue & BGRADB && g->transb == CUBLAS_OP_N) ||
        (g->epilogue & BGRAD && workspace_bytes == 0))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (swap && g->epilogue & ~(unsigned)(RELU | GELU))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    /* As on an H200 (cuBLAS 13.0), every product takes a bias of one type only. */
    const cudaDataType added = fp8 && ld->type == CUDA_R_32F ? CUDA_R_16BF
                               : is_fp8(ld->type)            ? lc->type
                                                             : ld->type;
    const cudaDataType bias_type = desc->bias_typed ? desc->bias_type : added;
    if (g->epilogue & BIAS && bias_type != added)
        return fp8 ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_INVALID_VALUE;
    g->bias = (struct matrix){(void *)desc->bias, bias_type, 0, desc->bias_stride};
    g->aux = (struct matrix){desc->aux, desc->aux_typed ? desc->aux_type : ld->type,
                             (int)desc->aux_ld, desc->aux_stride};
    if (g->epilogue & AUX && desc->aux_ld < (int64_t)m)
        return CUBLAS_STATUS_INVALID_VALUE;
    g->narrowing = emu_gemm_narrowing(NULL, la->type, desc->compute);
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
    struct matrix result;
    const cublasStatus_t status = lt_gemm(
        &g, &result, desc, (struct operand){NULL, a}, (struct operand){NULL, b},
        (struct operand){NULL, c}, (struct operand){NULL, d}, preference->workspace);
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
    (void)algo;
    struct gemm g = {.call = "cublasLtMatmul",
                     .pc = CALLER,
                     .stream = stream,
                     .alpha = alpha,
                     .beta = beta};
    struct matrix result;
    const cublasStatus_t status = lt_gemm(
        &g, &result, desc, (struct operand){A, a}, (struct operand){B, b},
        (struct operand){C, c}, (struct operand){D, d}, workspace ? workspace_bytes : 0);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    /* A bias is for an epilogue that adds it, or sums up its gradient. */
    if (desc->bias && !(g.epilogue & (BIAS | BGRAD | BGRADA | BGRADB)))
        return CUBLAS_STATUS_INVALID_VALUE;
    struct cublasContext context = {.pointer_mode =
                                        (cublasPointerMode_t)desc->pointer_mode};
    return emu_gemm(handle ? &context : NULL, &g);
}
