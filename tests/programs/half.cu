// Half precision: conversions, arithmetic, pairs, and a GEMM with halves in and floats
// out.
// BUILD: -lcublas
// NEEDS: cuda_fp16.h
#include "check.h"
#include <cublas_v2.h>
#include <cuda_fp16.h>

__global__ void axpy(const __half *x, __half *y, int n)
{
    const int i = threadIdx.x;
    if (i < n) y[i] = __hadd(__hmul(x[i], __float2half(2.0f)), y[i]);
}

__global__ void pairs(const __half2 *x, float *sum)
{
    const float2 f = __half22float2(__hadd2(x[threadIdx.x], x[threadIdx.x]));
    atomicAdd(sum, f.x + f.y);
}

int main(void)
{
    enum { N = 64, D = 16 };
    __half *x, *y;
    float *sum, *C;
    CHECK(cudaMallocManaged(&x, D * D * sizeof *x));
    CHECK(cudaMallocManaged(&y, D * D * sizeof *y));
    CHECK(cudaMallocManaged(&sum, sizeof *sum));
    CHECK(cudaMallocManaged(&C, D * D * sizeof *C));
    EXPECT(sizeof(__half) == 2);
    const __half three = +__float2half(1.0f) * __float2half(3.0f);
    EXPECT(__half2float(three) == 3.0f && __low2float(+__half2(three, -three)) == 3.0f);
    __half step = three;
    __half2 both(three, step);
    EXPECT(__half2float(step++) == 3.0f && __half2float(--step) == 3.0f);
    EXPECT(__low2float(both--) == 3.0f && __high2float(++both) == 3.0f);
    // 2049 has no half of its own: it lies between 2048 and 2050, and the even one wins.
    EXPECT(__half2float(__float2half(2049.0f)) == 2048.0f);
    EXPECT(__half2float(__float2half(65504.0f)) == 65504.0f &&
           isinf(__half2float(__float2half(70000.0f))));
    for (int i = 0; i < D * D; i++) {
        x[i] = __float2half((float)(i % 7));
        y[i] = __float2half(1.0f);
    }
    axpy<<<1, N>>>(x, y, N);
    *sum = 0.0f;
    pairs<<<1, N / 2>>>((const __half2 *)x, sum);
    CHECK(cudaDeviceSynchronize());
    float want = 0.0f;
    for (int i = 0; i < N; i++) {
        EXPECT(__half2float(y[i]) == 2.0f * (float)(i % 7) + 1.0f);
        want += 2.0f * (float)(i % 7);
    }
    EXPECT(*sum == want);

    cublasHandle_t handle;
    const float alpha = 1.0f, beta = 0.0f;
    EXPECT(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, D, D, D, &alpha, x, CUDA_R_16F,
                        D, y, CUDA_R_16F, D, &beta, C, CUDA_R_32F, D, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    for (int j = 0; j < D; j++)
        for (int i = 0; i < D; i++) {
            float dot = 0.0f;
            for (int k = 0; k < D; k++)
                dot += __half2float(x[i + k * D]) * __half2float(y[k + j * D]);
            EXPECT(C[i + j * D] == dot);
        }
    EXPECT(cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFree(sum));
    CHECK(cudaFree(C));
    return pass();
}
