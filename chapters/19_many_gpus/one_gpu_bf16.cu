/* Chapter 16, all but its main. */
#define main chapter_16_alone
#include "../16_beyond_cublas_bf16/matmul.cu"
#undef main

#include "one_gpu.h"

void product_bf16(int M, int N, int K, float alpha, const void *A, const void *B,
                  float beta, void *C)
{
    launch(M, N, K, alpha, (const __nv_bfloat16 *)A, (const __nv_bfloat16 *)B, beta,
           (__nv_bfloat16 *)C);
}
