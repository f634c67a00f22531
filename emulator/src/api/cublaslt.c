/* cuBLASLt, the part that cublasLt.h declares: products by description. */
#include <stdlib.h>
#include <string.h>

#include "api/gemm.h"

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
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE: return SET(desc->bias_stride);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: return SET(desc->aux);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: return SET(desc->aux_ld);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE: return SET(desc->aux_stride);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
        desc->aux_typed = true;
        return SET(desc->aux_type);
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

static struct matrix matrix_of(const void *elements, cublasLtMatrixLayout_t layout)
{
    return (struct matrix){(void *)elements, layout->type, (int)layout->ld,
                           layout->stride};
}

/* Fills in what the descriptions say. Returns what is wrong with them: on an H200 too,
 * cuBLAS (13.0) sums up A's rows only of an A that is not transposed, B's columns only of
 * a B that is, and D's rows only where it has a workspace. */
static cublasStatus_t lt_gemm(struct gemm *g, cublasLtMatmulDesc_t desc,
                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                              size_t workspace_bytes)
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
    const int scalars = emu_gemm_scalar_type(desc->compute, a->type, b->type, d->type);
    if (scalars < 0 || (int)desc->scale != scalars) return CUBLAS_STATUS_NOT_SUPPORTED;
    g->transa = (cublasOperation_t)desc->transa;
    g->transb = (cublasOperation_t)desc->transb;
    g->m = (int)m;
    g->n = (int)n;
    g->k = (int)k;
    g->count = d->count;
    g->scalar_type = desc->scale;
    g->epilogue = desc->epilogue & ~(unsigned)CUBLASLT_EPILOGUE_DEFAULT;
    if ((g->epilogue & BGRADA && !plain_a) || (g->epilogue & BGRADB && plain_b) ||
        (g->epilogue & BGRAD && workspace_bytes == 0))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    g->bias =
        (struct matrix){(void *)desc->bias, desc->bias_typed ? desc->bias_type : d->type,
                        0, desc->bias_stride};
    g->aux = (struct matrix){desc->aux, desc->aux_typed ? desc->aux_type : d->type,
                             (int)desc->aux_ld, desc->aux_stride};
    if (g->epilogue & AUX && desc->aux_ld < (int64_t)m)
        return CUBLAS_STATUS_INVALID_VALUE;
    g->narrowing = emu_gemm_narrowing(NULL, a->type, desc->compute);
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
    const cublasStatus_t status = lt_gemm(&g, desc, a, b, c, d, preference->workspace);
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
    const cublasStatus_t status =
        lt_gemm(&g, desc, a, b, c, d, workspace ? workspace_bytes : 0);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    /* A bias is for an epilogue that adds it, or sums up its gradient. */
    if (desc->bias && !(g.epilogue & (BIAS | BGRAD | BGRADA | BGRADB)))
        return CUBLAS_STATUS_INVALID_VALUE;
    const struct matrix result = matrix_of(D, d);
    g.a = matrix_of(A, a);
    g.b = matrix_of(B, b);
    g.c = matrix_of(C, c);
    g.d = &result;
    struct cublasContext context = {.pointer_mode =
                                        (cublasPointerMode_t)desc->pointer_mode};
    return emu_gemm(handle ? &context : NULL, &g);
}
