/* A chapter whose product is cuBLAS', and right, until the environment variable DAMAGE tells
 * what to spoil: verification has to see it. Used by test_common.py. */
#include "matmul.h"

#include <cublas_v2.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 5, COL = 7, TILE = 16 };

__global__ void spoil(int M, int N, int K, const float *A, float *C, char kind)
{
    const size_t i = (size_t)ROW * N + COL;
    switch (kind) {
    case 'n': C[i] = NAN; break;
    case 'i': C[i] = INFINITY; break;
    case 'p': C[i] *= 1.001f; break;                              // per mille
    case 'u': C[i] = nextafterf(C[i], 2.0f * fabsf(C[i])); break; // one bit
    case 'z': C[i] = 0.0f; break;
    case 'l':
        for (int j = 0; j < N; j++) C[(size_t)(M - 1) * N + j] += 1.0f;
        break;
    case 'o':
        for (int j = 0; j < TILE; j++) C[(size_t)(TILE + j) * N + TILE + j] += 1.0f;
        break;
    case 'b': C[-1] = 1.0f; break;
    case 'e': C[(size_t)M * N] = 1.0f; break;
    case 'a': ((float *)A)[-1] = 1.0f; break;
    case 'c': ((float *)A)[(size_t)M * K - 1] += 1.0f; break;
    }
}

static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    static cublasHandle_t handle;
    const char *damage = getenv("DAMAGE");
    const char kind = damage ? damage[0] : '\0';
    if (!handle && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) exit(3);
    if (kind == 'A') alpha = 1.0f;
    if (kind == 'B') beta = 0.0f;
    if (kind == '1') beta = 1.0f;
    if (kind == '-') return;
    const float *first = kind == 't' ? A : B, *second = kind == 't' ? B : A;
    const cublasOperation_t op = kind == 't' ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasSgemm(handle, op, op, N, M, K, &alpha, first, N, second, K, &beta, C, N);
    if (kind) spoil<<<1, 1>>>(M, N, K, A, C, kind);
}

int main(int argc, char **argv)
{
    struct chapter chapter;
    memset(&chapter, 0, sizeof chapter);
    chapter.number = 99;
    chapter.title = "a product to spoil";
    chapter.launch = matmul;
    chapter.BM = chapter.BN = TILE;
    chapter.TM = chapter.TN = 1;
    return chapter_main(argc, argv, &chapter);
}
