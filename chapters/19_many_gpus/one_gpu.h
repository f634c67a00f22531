/* The products of one GPU, by the kernels of chapters 13 and 16: on the current GPU, in its
 * default stream; packed row-major matrices, M, N, K >= 1. */
#ifndef ONE_GPU_H
#define ONE_GPU_H

void product_fp32(int M, int N, int K, float alpha, const void *A, const void *B,
                  float beta, void *C);
void product_bf16(int M, int N, int K, float alpha, const void *A, const void *B,
                  float beta, void *C);

#endif
