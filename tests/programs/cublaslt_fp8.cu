// BUILD: -lcublasLt -lcublas
// cuBLASLt of numbers of 8 bits: products of e4m3 and e5m2 into every type that they
// have, scaled, with the largest result told; and what is refused.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "check.h"

#define CHECK_BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

enum { M = 48, N = 19, K = 64 };
typedef __nv_fp8_e4m3 e4m3;
typedef __nv_fp8_e5m2 e5m2;
typedef __nv_bfloat16 bf16;

template <class T> static T *managed(int count)
{
    T *p;
    CHECK(cudaMallocManaged(&p, count * sizeof(T)));
    return p;
}

// Whole numbers of quarters up to 1.75 in size: a tensor core adds up products of fp8 in
// fewer bits than fp32 has, and these sums are exact there too.
template <class T> static T *filled(int count, unsigned seed)
{
    T *p = managed<T>(count);
    for (int i = 0; i < count; i++)
        p[i] = T(0.25f * (float)(int)(7.99f * noise(seed + i)));
    return p;
}

static float *scale(float value)
{
    float *p = managed<float>(1);
    *p = value;
    return p;
}

template <class T>
static void set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t what, T value)
{
    CHECK_BLAS(cublasLtMatmulDescSetAttribute(desc, what, &value, sizeof value));
}

struct layouts {
    cublasLtMatrixLayout_t a, b, c, d;
};

static cublasStatus_t heuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                struct layouts l)
{
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t result;
    int found = 0;
    CHECK_BLAS(cublasLtMatmulPreferenceCreate(&preference));
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle, desc, l.a, l.b, l.c, l.d, preference, 1, &result, &found);
    EXPECT(found == (status == CUBLAS_STATUS_SUCCESS));
    CHECK_BLAS(cublasLtMatmulPreferenceDestroy(preference));
    return status;
}

static struct layouts laid_out(cudaDataType a, cudaDataType b, cudaDataType c,
                               cudaDataType d, int k)
{
    struct layouts l;
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&l.a, a, k, M, k));
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&l.b, b, k, N, k));
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&l.c, c, M, N, M));
    CHECK_BLAS(cublasLtMatrixLayoutCreate(&l.d, d, M, N, M));
    return l;
}

static void destroy(struct layouts l)
{
    CHECK_BLAS(cublasLtMatrixLayoutDestroy(l.a));
    CHECK_BLAS(cublasLtMatrixLayoutDestroy(l.b));
    CHECK_BLAS(cublasLtMatrixLayoutDestroy(l.c));
    CHECK_BLAS(cublasLtMatrixLayoutDestroy(l.d));
}

static cublasLtMatmulDesc_t description(cublasOperation_t transa)
{
    cublasLtMatmulDesc_t desc;
    CHECK_BLAS(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    set(desc, CUBLASLT_MATMUL_DESC_TRANSA, transa);
    return desc;
}

// D = d_scale (alpha a_scale b_scale A^T B + beta C + bias), and the maximum without
// d_scale. All of it is exact in fp32, so there is one right result of each type.
template <class TA, class TB, class TC, class TD, class TBias>
static void product(cublasLtHandle_t handle, cudaDataType a, cudaDataType b,
                    cudaDataType c, cudaDataType d)
{
    const bool narrow = sizeof(TD) == 1;
    TA *A = filled<TA>(K * M, 1);
    TB *B = filled<TB>(K * N, 5000);
    TC *C = filled<TC>(M * N, 9000);
    TD *D = managed<TD>(M * N);
    float *scales[] = {scale(0.5f), scale(0.25f), scale(8.0f)}, *amax = scale(-1.0f);
    TBias *bias = filled<TBias>(M, 3);
    const cudaDataType bias_type = sizeof(TC) == 2 ? c : CUDA_R_16BF;
    const float alpha = 0.5f, beta = 2.0f;
    cublasLtMatmulDesc_t desc = description(CUBLAS_OP_T);
    set(desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, scales[0]);
    set(desc, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, scales[1]);
    set(desc, CUBLASLT_MATMUL_DESC_FAST_ACCUM, (int8_t)1);
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    if (narrow) {
        set(desc, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, scales[2]);
        set(desc, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, amax);
    }
    const struct layouts l = laid_out(a, b, c, d, K);
    set(desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_32F); // never
    EXPECT(heuristic(handle, desc, l) == CUBLAS_STATUS_NOT_SUPPORTED);
    set(desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, bias_type);
    CHECK_BLAS(heuristic(handle, desc, l));
    CHECK_BLAS(cublasLtMatmul(handle, desc, &alpha, A, l.a, B, l.b, &beta, C, l.c, D, l.d,
                              NULL, NULL, 0, 0));
    CHECK(cudaDeviceSynchronize());
    float largest = 0;
    for (int n = 0; n < N; n++)
        for (int m = 0; m < M; m++) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += (double)(float)A[m * K + k] * (double)(float)B[n * K + k];
            const double x = 0.5 * 0.5 * 0.25 * sum + 2.0 * (double)(float)C[n * M + m] +
                             (double)(float)bias[m];
            largest = fmaxf(largest, fabsf((float)x));
            EXPECT((float)D[n * M + m] == (float)TD((float)(narrow ? 8.0 * x : x)));
        }
    EXPECT(*amax == (narrow ? largest : -1.0f));
    destroy(l);
    CHECK_BLAS(cublasLtMatmulDescDestroy(desc));
    void *const all[] = {A, B, C, D, scales[0], scales[1], scales[2], amax, bias};
    for (void *p : all) CHECK(cudaFree(p));
}

static void refused(cublasLtHandle_t handle, cublasOperation_t transa, cudaDataType a,
                    cudaDataType b, cudaDataType c, cudaDataType d, int k)
{
    cublasLtMatmulDesc_t desc = description(transa);
    struct layouts l = laid_out(a, b, c, d, k);
    if (transa == CUBLAS_OP_N) {
        CHECK_BLAS(cublasLtMatrixLayoutDestroy(l.a));
        CHECK_BLAS(cublasLtMatrixLayoutCreate(&l.a, a, M, k, M));
    }
    EXPECT(heuristic(handle, desc, l) == CUBLAS_STATUS_NOT_SUPPORTED);
    destroy(l);
    CHECK_BLAS(cublasLtMatmulDescDestroy(desc));
}

int main()
{
    const cudaDataType E4 = CUDA_R_8F_E4M3, E5 = CUDA_R_8F_E5M2, F32 = CUDA_R_32F,
                       F16 = CUDA_R_16F, BF16 = CUDA_R_16BF;
    const cublasOperation_t T = CUBLAS_OP_T;
    cublasLtHandle_t handle;
    CHECK_BLAS(cublasLtCreate(&handle));
    product<e4m3, e4m3, float, float, bf16>(handle, E4, E4, F32, F32);
    product<e4m3, e4m3, __half, __half, __half>(handle, E4, E4, F16, F16);
    product<e4m3, e5m2, bf16, bf16, bf16>(handle, E4, E5, BF16, BF16);
    product<e4m3, e4m3, bf16, e4m3, bf16>(handle, E4, E4, BF16, E4);
    product<e5m2, e4m3, __half, e4m3, __half>(handle, E5, E4, F16, E4);
    product<e5m2, e4m3, bf16, e5m2, bf16>(handle, E5, E4, BF16, E5);
    refused(handle, T, E5, E5, BF16, BF16, K);     // two of e5m2
    refused(handle, T, E4, E4, BF16, E5, K);       // e5m2 of two e4m3
    refused(handle, T, E4, E4, E4, E4, K);         // a C of 8 bits
    refused(handle, T, E4, E4, F32, BF16, K);      // C and D of two types
    refused(handle, T, E4, E4, BF16, BF16, K + 8); // rows of 72 bytes
    refused(handle, CUBLAS_OP_N, E4, E4, BF16, BF16, K);
    CHECK_BLAS(cublasLtDestroy(handle));
    return pass();
}
