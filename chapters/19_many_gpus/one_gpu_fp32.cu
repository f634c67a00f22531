/* Chapter 13, all but its main. */
#define main chapter_13_alone
#include "../13_copy_engine/matmul.cu"
#undef main

#include "one_gpu.h"

void product_fp32(int M, int N, int K, float alpha, const void *A, const void *B,
                  float beta, void *C)
{
    matmul(M, N, K, alpha, (const float *)A, (const float *)B, beta, (float *)C);
}
