/* The matrix product of cuBLAS and cuBLASLt. */
#ifndef GEMM_H
#define GEMM_H

#include <stdbool.h>
#include <stddef.h>

#include "cublasLt.h"
#include "cublas_v2.h"

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointer_mode;
    cublasMath_t math_mode;
};

/* How the operands of a product are rounded before it: the formats that tensor cores
 * take. */
enum narrowing { AS_STORED, TO_HALF, TO_BFLOAT16, TO_TF32 };

struct matrix {
    void *elements;
    cudaDataType type;
    int ld;
    long long stride; /* to the next of a batch, in elements */
};

enum {
    RELU = 2,
    BIAS = 4,
    DRELU = 8,
    BGRAD = 16,
    GELU = 32,
    DGELU = 64,
    AUX = 128,
    BGRADA = 256,
    BGRADB = 512
};

struct gemm {
    const char *call;
    const void *pc;
    cudaStream_t stream; /* cublasLt's; 0: the handle's */
    cublasOperation_t transa, transb;
    int m, n, k, count;
    const void *alpha, *beta;
    struct matrix a, b, c;
    const struct matrix *d; /* where the result goes, if not to c */
    unsigned epilogue;      /* of these bits, which are cublasLtEpilogue_t's */
    struct matrix bias;     /* a vector */
    struct matrix aux;
    cudaDataType scalar_type;
    enum narrowing narrowing;
    /* Of fp8, on the device, NULL for none: what A's, B's and D's elements are multiplied
     * by, and where the largest |element| of D goes, as it is before that. */
    const float *a_scale, *b_scale, *d_scale;
    float *amax;
};

/* Checks all of it, and does it as work of the stream. */
cublasStatus_t emu_gemm(cublasHandle_t handle, const struct gemm *g);
/* Which tensor-core format single precision may be rounded to. */
enum narrowing emu_gemm_narrowing(cublasHandle_t handle, cudaDataType type,
                                  cublasComputeType_t compute);
/* The type of alpha and beta, which is the type that a compute type computes in; -1 for a
 * compute type that does not go with these matrices. */
int emu_gemm_scalar_type(cublasComputeType_t compute, cudaDataType a, cudaDataType b,
                         cudaDataType c);

/* One element of an array. */
size_t emu_blas_bytes(cudaDataType type);
double emu_blas_load(const void *array, size_t index, cudaDataType type);
void emu_blas_store(void *array, size_t index, cudaDataType type, double value);
/* The same, where nothing need have been before. */
void emu_blas_put(void *array, size_t index, cudaDataType type, double value);
/* Where element i of a vector is: BLAS walks backwards through one with a negative step. */
static inline size_t emu_blas_index(int n, int step, int i)
{
    const long first = step < 0 ? -(long)step * (n - 1) : 0;
    return (size_t)(first + (long)i * step);
}
size_t emu_blas_matrix_bytes(int rows, int cols, int ld, cudaDataType type);
/* Ends the program if the `bytes` at p are not in one allocation of device memory: the
 * GPU would fault there too, only later and without a name. */
void emu_blas_need(const void *pc, const char *call, const char *operand, const void *p,
                   size_t bytes);
/* A vector that this call reads or writes. */
void emu_blas_need_vector(const void *pc, const char *call, const char *operand,
                          const void *p, int n, int step, cudaDataType type, bool writes);
/* Columns of `rows` elements each, `ld` apart, that this call reads or writes. */
void emu_blas_touches(const void *pc, const void *p, size_t rows, int cols, int ld,
                      cudaDataType type, bool writes);

#endif
