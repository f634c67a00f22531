/* A student's code as a part of this process, given to the processor as it is. Nothing
 * holds it back, so this is for code that the reader trusts: see machine/ for the other.
 */
#include "exercise.h"

#include "cases.h"

/* An exercise defines one of them; the others are null. */
#pragma weak axpy
#pragma weak blur
#pragma weak scale
#pragma weak transpose
#pragma weak row_sums
#pragma weak matmul
#pragma weak predict
#pragma weak sum
#pragma weak scan
#pragma weak histogram
#pragma weak tune
#pragma weak matmul_halves
#pragma weak matmul_precise
#pragma weak matmul_to_halves
#pragma weak split
#pragma weak axpy_on_two

_Static_assert(MAX_ANSWERS == ANSWERS, "the judge expects what the task promises");

_Static_assert((int)BINS == (int)COUNTED_VALUES, "so does it here");

/* Calls a function if it is there. */
#define CALL(function, ...) return function ? (function(__VA_ARGS__), true) : false

bool call_student(const struct test_case *c, const float *first, const float *second,
                  float *scratch, void *out)
{
    switch (c->kind) {
    case AXPY: CALL(axpy, c->N, c->a, first, second, out);
    case BLUR: CALL(blur, c->N, first, out);
    case SCALE: CALL(scale, c->M, c->N, c->a, first, out);
    case TRANSPOSE: CALL(transpose, c->M, c->N, first, out);
    case ROW_SUMS: CALL(row_sums, c->M, c->N, first, out);
    case MATMUL: CALL(matmul, c->M, c->N, c->K, first, second, out);
    case HALVES:
        CALL(matmul_halves, c->M, c->N, c->K, (const __half *)first,
             (const __half *)second, out);
    case TO_HALVES:
        CALL(matmul_to_halves, c->M, c->N, c->K, (const __half *)first,
             (const __half *)second, (__half *)out);
    case PRECISE: CALL(matmul_precise, c->M, c->N, c->K, first, second, out);
    case SPLIT:
        CALL(split, c->M, c->N, first, out, (int *)out + (size_t)c->M * (size_t)c->N);
    case ON_TWO: CALL(axpy_on_two, c->N, c->a, first, second, out, scratch);
    case PREDICT: CALL(predict, out);
    case SUM: CALL(sum, c->N, first, scratch, out);
    case SCAN: CALL(scan, c->M, c->N, first, out);
    case HISTOGRAM: CALL(histogram, c->N, (const int *)first, out);
    case TUNE: return tune ? (*(int *)out = tune(c->N, time_of_candidate), true) : false;
    default: return false;
    }
}
