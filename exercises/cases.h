/* The files between the judge, which makes the inputs and knows the answers, and the
 * runner, which runs a student's kernel and knows neither. */
#ifndef CASES_H
#define CASES_H

#include <stdbool.h>
#include <stdint.h>

/* The numbers are written into case files; the names are those of exercise.h. */
enum kind {
    AXPY,
    BLUR,
    SCALE,
    TRANSPOSE,
    ROW_SUMS,
    MATMUL,
    PREDICT,
    SUM,
    SCAN,
    HISTOGRAM,
    TUNE,
    HALVES,
    PRECISE,
    SPLIT,
    ON_TWO,
    TO_HALVES,
    KINDS
};
#define KIND_NAMES                                                                       \
    "axpy", "blur", "scale", "transpose", "row_sums", "matmul", "predict", "sum",        \
        "scan", "histogram", "tune", "matmul_halves", "matmul_precise", "split",         \
        "axpy_on_two", "matmul_to_halves"

/* A case file is a sequence of these, each followed by `first` and `second` words of
 * input: floats, integers, or two halves each. A result file holds, case by case, `out`
 * words. */
struct test_case {
    int32_t kind, M, N, K; /* a vector has N elements */
    float a;
    uint32_t first, second, out;
    uint32_t
        scratch; /* floats that the student may write to besides: of ON_TWO, on device 1 */
};

/* What outputs hold before the kernel runs: a signalling NaN. Arithmetic may pass on what
 * else a NaN holds, but never returns a signalling one. */
#define NEVER_WRITTEN 0x7fa0deadu

/* How many numbers the result of a prediction has, asked for or not. */
#define ANSWERS 16

enum { COUNTED_VALUES = 64, SCRATCH = 1024 };

/* Calls the student's function for a case, with its arrays. A prediction is an array of
 * int in `out`, and what was tuned is its first. Returns false if the file does not define
 * the function. native.c gives it to the processor; machine/ does not. */
bool call_student(const struct test_case *c, const float *first, const float *second,
                  float *scratch, void *out);

/* How long a candidate takes, as a student's tuner measures it; negative if it fails. */
float time_of_candidate(int candidate);

#endif
