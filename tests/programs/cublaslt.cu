// BUILD: -lcublasLt -lcublas
// cuBLASLt: products with a bias and an activation behind them, transposed, in batches, into
// another matrix than the one that is added; and cuBLAS's batches of pointers.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_fp16.h>

#include "check.h"

#define CHECK_BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

enum { M = 37, N = 19, K = 23, BATCH = 3 };

static float *filled(int count, unsigned seed)
{
    float *p;
    CHECK(cudaMallocManaged(&p, count * sizeof *p));
    for (int i = 0; i < count; i++) p[i] = noise(seed + i);
    return p;
}

static double activated(double x, cublasLtEpilogue_t epilogue)
{
    if (epilogue & CUBLASLT_EPILOGUE_RELU) return x > 0 ? x : 0;
    if (epilogue & CUBLASLT_EPILOGUE_GELU)
        return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    return x;
}

/* D = epilogue(alpha A^T B + beta C), column-major. */
static void product(cublasLtHandle_t handle, cublasLtEpilogue_t epilogue)
{
    float *A = filled(K * M * BATCH, 1), *B = filled(K * N * BATCH, 50000),
          *C = filled(M * N * BATCH, 90000), *D = filled(M * N * BATCH, 7),
          *bias = filled(M, 3);
    const float alpha = 1.5f, beta = 0.5f;
    const cublasOperation_t transa = CUBLAS_OP_T;
    const int batch = BATCH;
    cublasLtMatmulDesc_t desc;
    CHECK_BLAS(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transa,
                                              sizeof transa));
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                              &epilogue, sizeof epilogue));
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                              &bias, sizeof bias));
    cublasLtMatrixLayout_t a, b, c;
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, K, M, K));
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, K, N, K));
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&c, CUDA_R_32F, M, N, M));
    const cublasLtMatrixLayout_t layouts[] = {a, b, c};
    const int64_t strides[] = {K * M, K * N, M * N};
    for (int i = 0; i < 3; i++) {
        CHECK_BLAS(cublasLtMatrixLayoutSetAttribute(
            layouts[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch));
        CHECK_BLAS(cublasLtMatrixLayoutSetAttribute(
            layouts[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &strides[i],
            sizeof strides[i]));
    }
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t best;
    int found;
    size_t workspace = 0;
    CHECK_BLAS(cublasLtMatmulPreferenceCreate(&preference));
    CHECK_BLAS(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
        sizeof workspace));
    /* The batch's matrices begin anywhere; else 256 is taken for granted. */
    const uint32_t alignment = sizeof(float);
    const cublasLtMatmulPreferenceAttributes_t of[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    for (int i = 0; i < 4; i++)
        CHECK_BLAS(cublasLtMatmulPreferenceSetAttribute(preference, of[i], &alignment,
                                                        sizeof alignment));
    CHECK_BLAS(cublasLtMatmulAlgoGetHeuristic(handle, desc, a, b, c, c, preference, 1,
                                              &best, &found));
    EXPECT(found == 1 && best.workspaceSize == 0);
    /* Shapes that do not fit together. */
    cublasLtMatmulHeuristicResult_t none;
    EXPECT(cublasLtMatmulAlgoGetHeuristic(handle, desc, b, b, c, c, preference, 1, &none,
                                          &found) == CUBLAS_STATUS_INVALID_VALUE);
    if (epilogue & CUBLASLT_EPILOGUE_BIAS) { /* a bias is of D's type */
        cudaDataType type = CUDA_R_16F;
        CHECK_BLAS(cublasLtMatmulDescSetAttribute(
            desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type, sizeof type));
        EXPECT(cublasLtMatmulAlgoGetHeuristic(handle, desc, a, b, c, c, preference, 1,
                                              &none,
                                              &found) == CUBLAS_STATUS_INVALID_VALUE);
        type = CUDA_R_32F;
        CHECK_BLAS(cublasLtMatmulDescSetAttribute(
            desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type, sizeof type));
    } else { /* a bias is for one that adds it */
        EXPECT(cublasLtMatmul(handle, desc, &alpha, A, a, B, b, &beta, C, c, D, c,
                              &best.algo, NULL, 0, 0) == CUBLAS_STATUS_INVALID_VALUE);
        const float *none_at_all = NULL;
        CHECK_BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                                  &none_at_all, sizeof none_at_all));
    }
    CHECK_BLAS(cublasLtMatmul(handle, desc, &alpha, A, a, B, b, &beta, C, c, D, c,
                              &best.algo, NULL, 0, 0));
    CHECK(cudaDeviceSynchronize());
    for (int l = 0; l < BATCH; l++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < M; i++) {
                double sum = 0;
                for (int k = 0; k < K; k++)
                    sum += (double)A[l * K * M + i * K + k] * B[l * K * N + j * K + k];
                const int at = l * M * N + j * M + i;
                double want = alpha * sum + beta * C[at];
                if (epilogue & CUBLASLT_EPILOGUE_BIAS) want += bias[i];
                EXPECT(close_to(D[at], activated(want, epilogue), 1e-5));
            }
    CHECK_BLAS(cublasLtMatmulPreferenceDestroy(preference));
    for (int i = 0; i < 3; i++) CHECK_BLAS(cublasLtMatrixLayoutDestroy(layouts[i]));
    CHECK_BLAS(cublasLtMatmulDescDestroy(desc));
    float *all[] = {A, B, C, D, bias};
    for (int i = 0; i < 5; i++) CHECK(cudaFree(all[i]));
}

/* What a network's layer is trained with: D = A B + bias is kept in `aux` while its
 * activation goes on, and later its slope there is multiplied by. Rows of aux come in
 * multiples of 128; what sums up D's rows asks for a workspace. */
enum { LD = 128, COLUMNS = 24, DEPTH = 16, WORKSPACE = 1 << 20 };

static __half *halves(int count, unsigned seed)
{
    __half *p;
    CHECK(cudaMallocManaged(&p, count * sizeof *p));
    for (int i = 0; i < count; i++) p[i] = __float2half(noise(seed + i));
    return p;
}

static cublasStatus_t layer(cublasLtHandle_t handle, cublasLtEpilogue_t epilogue,
                            const __half *A, cublasOperation_t transb, const __half *B,
                            __half *D, __half *bias, void *aux, void *workspace)
{
    const float one = 1, zero = 0;
    const int64_t ld = LD;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, d;
    CHECK_BLAS(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE,
                                              &epilogue, sizeof epilogue));
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
                                              &bias, sizeof bias));
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(
        desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux, sizeof aux));
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD,
                                              &ld, sizeof ld));
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &transb,
                                              sizeof transb));
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&a, CUDA_R_16F, LD, DEPTH, LD));
    const bool plain = transb == CUBLAS_OP_N;
    const int rows = plain ? DEPTH : COLUMNS;
    CHECK_BLAS(
        cublasLtMatrixLayoutCreate(&b, CUDA_R_16F, rows, plain ? COLUMNS : DEPTH, rows));
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&d, CUDA_R_16F, LD, COLUMNS, LD));
    const cublasStatus_t status =
        cublasLtMatmul(handle, desc, &one, A, a, B, b, &zero, D, d, D, d, NULL, workspace,
                       workspace ? WORKSPACE : 0, 0);
    CHECK(cudaDeviceSynchronize());
    CHECK_BLAS(cublasLtMatrixLayoutDestroy(a));
    CHECK_BLAS(cublasLtMatrixLayoutDestroy(b));
    CHECK_BLAS(cublasLtMatrixLayoutDestroy(d));
    CHECK_BLAS(cublasLtMatmulDescDestroy(desc));
    return status;
}

static void layers(cublasLtHandle_t handle)
{
    __half *A = halves(LD * DEPTH, 5), *B = halves(DEPTH * COLUMNS, 6000),
           *turned = halves(DEPTH * COLUMNS, 1), *D = halves(LD * COLUMNS, 1),
           *bias = halves(LD, 70), *aux = halves(LD * COLUMNS, 2);
    void *workspace;
    CHECK(cudaMalloc(&workspace, WORKSPACE));
    double x[LD * COLUMNS], b_sums[COLUMNS] = {0};
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < LD; i++) {
            x[j * LD + i] = 0;
            for (int k = 0; k < DEPTH; k++)
                x[j * LD + i] += (double)__half2float(A[k * LD + i]) *
                                 (double)__half2float(B[j * DEPTH + k]);
        }
    for (int i = 0; i < DEPTH * COLUMNS; i++) {
        b_sums[i / DEPTH] += __half2float(B[i]);
        turned[i % DEPTH * COLUMNS + i / DEPTH] = B[i];
    }
    const cublasOperation_t n = CUBLAS_OP_N, t = CUBLAS_OP_T;

    CHECK_BLAS(
        layer(handle, CUBLASLT_EPILOGUE_GELU_AUX_BIAS, A, n, B, D, bias, aux, NULL));
    for (int i = 0; i < LD * COLUMNS; i++) {
        const double before = x[i] + __half2float(bias[i % LD]);
        EXPECT(close_to(__half2float(aux[i]), before, 2e-3));
        EXPECT(close_to(__half2float(D[i]), activated(before, CUBLASLT_EPILOGUE_GELU),
                        2e-3));
    }
    EXPECT(layer(handle, CUBLASLT_EPILOGUE_DGELU_BGRAD, A, n, B, D, bias, aux, NULL) ==
           CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT(layer(handle, CUBLASLT_EPILOGUE_BGRADB, A, n, B, D, bias, aux, workspace) ==
           CUBLAS_STATUS_NOT_SUPPORTED);
    CHECK_BLAS(
        layer(handle, CUBLASLT_EPILOGUE_DGELU_BGRAD, A, n, B, D, bias, aux, workspace));
    double row_sums[LD] = {0};
    for (int i = 0; i < LD * COLUMNS; i++) {
        const double at = __half2float(aux[i]), h = 1e-4;
        const double slope = (activated(at + h, CUBLASLT_EPILOGUE_GELU) -
                              activated(at - h, CUBLASLT_EPILOGUE_GELU)) /
                             (2 * h);
        EXPECT(close_to(__half2float(D[i]), x[i] * slope, 3e-3));
        row_sums[i % LD] += x[i] * slope;
    }
    for (int i = 0; i < LD; i++)
        EXPECT(close_to(__half2float(bias[i]), row_sums[i], 1e-2));

    CHECK_BLAS(layer(handle, CUBLASLT_EPILOGUE_RELU_AUX, A, n, B, D, NULL, aux, NULL));
    for (int i = 0; i < LD * COLUMNS; i++) {
        const bool above = ((const unsigned char *)aux)[i / 8] >> i % 8 & 1;
        EXPECT(above == (__half2float(D[i]) > 0) || fabs(x[i]) < 1e-4);
    }
    CHECK_BLAS(layer(handle, CUBLASLT_EPILOGUE_DRELU, A, n, B, D, NULL, aux, NULL));
    for (int i = 0; i < LD * COLUMNS; i++)
        EXPECT(close_to(__half2float(D[i]), x[i] > 0 ? x[i] : 0, 2e-3));

    CHECK_BLAS(layer(handle, CUBLASLT_EPILOGUE_BGRADB, A, t, turned, D, bias, aux, NULL));
    for (int j = 0; j < COLUMNS; j++)
        EXPECT(close_to(__half2float(bias[j]), b_sums[j], 2e-3));
    for (int i = 0; i < LD * COLUMNS; i++)
        EXPECT(close_to(__half2float(D[i]), x[i], 2e-3));
    CHECK(cudaFree(workspace));
    __half *all[] = {A, B, turned, D, bias, aux};
    for (int i = 0; i < 6; i++) CHECK(cudaFree(all[i]));
}

static void batch_of_pointers(void)
{
    cublasHandle_t handle;
    CHECK_BLAS(cublasCreate(&handle));
    const float one = 1, zero = 0;
    float **lists;
    CHECK(cudaMallocManaged(&lists, 3 * BATCH * sizeof *lists));
    for (int l = 0; l < BATCH; l++) {
        lists[l] = filled(M * K, l);
        lists[BATCH + l] = filled(K * N, 100 + l);
        lists[2 * BATCH + l] = filled(M * N, 0);
    }
    CHECK_BLAS(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &one, lists,
                                  M, lists + BATCH, K, &zero, lists + 2 * BATCH, M,
                                  BATCH));
    CHECK(cudaDeviceSynchronize());
    for (int l = 0; l < BATCH; l++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < M; i++) {
                double sum = 0;
                for (int k = 0; k < K; k++)
                    sum += (double)lists[l][k * M + i] * lists[BATCH + l][j * K + k];
                EXPECT(close_to(lists[2 * BATCH + l][j * M + i], sum, 1e-5));
            }
    for (int l = 0; l < 3 * BATCH; l++) CHECK(cudaFree(lists[l]));
    CHECK(cudaFree(lists));
    CHECK_BLAS(cublasDestroy(handle));
}

// op(A) op(B) where each matrix lies row by row or column by column, with room between.
static void orders(cublasLtHandle_t handle, int choice)
{
    const int gap = 3, rows[] = {choice & 1 ? K : M, choice & 2 ? N : K, M},
              cols[] = {choice & 1 ? M : K, choice & 2 ? K : N, N};
    const cublasOperation_t transa = choice & 1 ? CUBLAS_OP_T : CUBLAS_OP_N,
                            transb = choice & 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
    const float alpha = 1, beta = 0;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t layout[3];
    float *x[3];
    int step[3][2]; // to the next row, and to the next column
    CHECK_BLAS(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transa,
                                              sizeof transa));
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &transb,
                                              sizeof transb));
    for (int i = 0; i < 3; i++) {
        const bool by_rows = choice >> (2 + i) & 1;
        const cublasLtOrder_t order = by_rows ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
        const int ld = (by_rows ? cols[i] : rows[i]) + gap;
        step[i][0] = by_rows ? ld : 1;
        step[i][1] = by_rows ? 1 : ld;
        x[i] = filled(ld * (by_rows ? rows[i] : cols[i]), 1000 * i);
        CHECK_BLAS(
            cublasLtMatrixLayoutCreate(&layout[i], CUDA_R_32F, rows[i], cols[i], ld));
        CHECK_BLAS(cublasLtMatrixLayoutSetAttribute(
            layout[i], CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof order));
    }
    CHECK_BLAS(cublasLtMatmul(handle, desc, &alpha, x[0], layout[0], x[1], layout[1],
                              &beta, x[2], layout[2], x[2], layout[2], NULL, NULL, 0, 0));
    CHECK(cudaDeviceSynchronize());
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            double sum = 0;
            for (int k = 0; k < K; k++) {
                const int a[] = {choice & 1 ? k : m, choice & 1 ? m : k},
                          b[] = {choice & 2 ? n : k, choice & 2 ? k : n};
                sum += (double)x[0][a[0] * step[0][0] + a[1] * step[0][1]] *
                       (double)x[1][b[0] * step[1][0] + b[1] * step[1][1]];
            }
            EXPECT(close_to(x[2][m * step[2][0] + n * step[2][1]], sum, 1e-5));
        }
    for (int i = 0; i < 3; i++) {
        CHECK_BLAS(cublasLtMatrixLayoutDestroy(layout[i]));
        CHECK(cudaFree(x[i]));
    }
    CHECK_BLAS(cublasLtMatmulDescDestroy(desc));
}

/* Descriptions in the program's own room. */
static void opaque(cublasLtHandle_t handle)
{
    enum { SIDE = 8 };
    float *A = filled(SIDE * SIDE, 1), *B = filled(SIDE * SIDE, 2), *C;
    const float alpha = 2.0f, beta = 0.0f;
    CHECK(cudaMallocManaged(&C, SIDE * SIDE * sizeof *C));
    cublasLtMatmulDescOpaque_t desc = {};
    cublasLtMatrixLayoutOpaque_t layout = {};
    cublasLtMatmulPreferenceOpaque_t preference = {};
    CHECK_BLAS(cublasLtMatmulDescInit(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    CHECK_BLAS(cublasLtMatrixLayoutInit(&layout, CUDA_R_32F, SIDE, SIDE, SIDE));
    CHECK_BLAS(cublasLtMatmulPreferenceInit(&preference));
    cublasLtMatmulHeuristicResult_t best;
    int found;
    CHECK_BLAS(cublasLtMatmulAlgoGetHeuristic(handle, &desc, &layout, &layout, &layout,
                                              &layout, &preference, 1, &best, &found));
    EXPECT(found == 1);
    CHECK_BLAS(cublasLtMatmul(handle, &desc, &alpha, A, &layout, B, &layout, &beta, C,
                              &layout, C, &layout, &best.algo, nullptr, 0, 0));
    CHECK(cudaDeviceSynchronize());
    for (int row = 0; row < SIDE; row++)
        for (int col = 0; col < SIDE; col++) {
            double want = 0;
            for (int k = 0; k < SIDE; k++)
                want += 2.0 * A[row + k * SIDE] * B[k + col * SIDE];
            EXPECT(close_to(C[row + col * SIDE], want, 1e-5));
        }
    CHECK(cudaFree(A));
    CHECK(cudaFree(B));
    CHECK(cudaFree(C));
}

int main()
{
    cublasLtHandle_t handle;
    CHECK_BLAS(cublasLtCreate(&handle));
    product(handle, CUBLASLT_EPILOGUE_DEFAULT);
    product(handle, CUBLASLT_EPILOGUE_RELU_BIAS);
    product(handle, CUBLASLT_EPILOGUE_GELU);
    product(handle, CUBLASLT_EPILOGUE_GELU_BIAS);
    opaque(handle);
    layers(handle);
    for (int choice = 0; choice < 32; choice++) orders(handle, choice);
    CHECK_BLAS(cublasLtDestroy(handle));
    batch_of_pointers();
    return pass();
}
