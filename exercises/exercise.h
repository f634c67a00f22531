/* What an exercise asks you to write: one of these functions, with the kernels that it
 * launches.
 *
 * All pointers lead to device memory. Matrices are row-major, rows packed without gaps;
 * the output holds NaN when you get it, and every element of it must be written. Sizes
 * are 1 or more. There is nothing to allocate, copy or wait for. */
#ifndef EXERCISE_H
#define EXERCISE_H

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/* out[i] = a * x[i] + y[i], n elements. */
void axpy(int n, float a, const float *x, const float *y, float *out);

/* The same on two devices. x, y and out lie on device 0, which is the current one, and
 * `there`, 2 n floats, on device 1. The host orders the work and waits for none of it;
 * what it orders in device 0's default stream afterwards finds all results. */
void axpy_on_two(int n, float a, const float *x, const float *y, float *out,
                 float *there);

/* out[i] = (x[i - 1] + x[i] + x[i + 1]) / 3, where x is 0 outside its n elements. */
void blur(int n, const float *x, float *out);

/* B = a * A; both are M x N. */
void scale(int M, int N, float a, const float *A, float *B);

/* B[col][row] = A[row][col]; A is M x N, so B is N x M. */
void transpose(int M, int N, const float *A, float *B);

/* sums[row] = the sum of the N elements of A's row; A is M x N. */
void row_sums(int M, int N, const float *A, float *sums);

/* C = A * B; A is M x K, B is K x N, C is M x N. */
void matmul(int M, int N, int K, const float *A, const float *B, float *C);

/* The same of halves, which a product of two fits into a float: M is a multiple of 16, N of
 * 64 and K of 64, and every row begins at a multiple of 16 bytes. */
void matmul_halves(int M, int N, int K, const __half *A, const __half *B, float *C);

/* The same, and every result becomes a half. */
void matmul_to_halves(int M, int N, int K, const __half *A, const __half *B, __half *C);

/* C = A * B of floats from 1/16 to 1, with an error of 2^-19 of A * B at most, however large
 * K is: M is a multiple of 16, N of 8 and K of 64. */
void matmul_precise(int M, int N, int K, const float *A, const float *B, float *C);

/* halves[row][i] and exponents[row], so that with e = exponents[row]
 *     A[row][i] * 2^e = halves[row][i].x + halves[row][i].y / 2048
 * up to 2^-21 of it. A is M x N; the largest and the smallest of a row differ by 2^12 at
 * most, those of different rows by far more. */
void split(int M, int N, const float *A, __half2 *halves, int *exponents);

/* out[0] = the sum of the n elements of x. `scratch` has room for 1,024 floats, as long as
 * the call lasts. */
void sum(int n, const float *x, float *scratch, float *out);

/* B[row][col] = A[row][0] + ... + A[row][col]; both are M x N, and N is 1,024 at most. */
void scan(int M, int N, const float *A, float *B);

/* counts[v] = how many of the n elements of x are v, for each v from 0 to BINS - 1. Other
 * values do not occur. */
enum { BINS = 64 };
void histogram(int n, const int *x, int *counts);

/* Returns which of the candidates 0 ... count - 1 is the fastest. time_of(c) runs one and
 * tells how long it took, or a negative number if it could not run. Runs on the host. */
int tune(int count, float (*time_of)(int candidate));

/* Your predictions: answer[0] for the first question of the task, at most MAX_ANSWERS of
 * them. */
void predict(int *answer);

enum { MAX_ANSWERS = 16 };

#ifdef __cplusplus
}
#endif
#endif
