/* Runs a student's kernel over the cases of a file. It computes no answer and takes no decision:
 * whatever the student's code does to this process, the judge compares what came out in another.
 *
 *     program cases results
 *
 * Exit codes 4 and 5 tell the grader what the last line of stderr is about. */
#include "exercise.h"

#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An exercise defines one of them; the others are null. */
#pragma weak axpy
#pragma weak blur
#pragma weak scale
#pragma weak transpose
#pragma weak row_sums
#pragma weak matmul
#pragma weak predict

_Static_assert(MAX_ANSWERS == ANSWERS, "the judge expects what the task promises");

enum { NO_FUNCTION = 4, CUDA_ERROR = 5 };

static void stop(int code, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(code);
}

static void need(cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        stop(CUDA_ERROR, what, cudaGetErrorString(error));
}

static float *floats(uint32_t count)
{
    float *p = malloc(count * sizeof *p + 1);
    if (!p)
        stop(3, "runner", "out of memory");
    return p;
}

static float *read_input(uint32_t count, FILE *cases)
{
    if (count == 0)
        return NULL;
    float *host = floats(count), *device;
    if (fread(host, sizeof *host, count, cases) != count)
        stop(3, "runner", "the case file is cut short");
    need(cudaMalloc((void **)&device, count * sizeof *device), "cudaMalloc");
    need(cudaMemcpy(device, host, count * sizeof *host, cudaMemcpyHostToDevice),
         "cudaMemcpy");
    free(host);
    return device;
}

static void poison(float *out, uint32_t count)
{
    const uint32_t nan = NEVER_WRITTEN;
    for (uint32_t i = 0; i < count; i++)
        memcpy(&out[i], &nan, sizeof nan);
}

/* Returns false if the student's file does not define the function. */
static int call(const struct test_case *c, const float *first, const float *second,
                float *out)
{
    switch (c->kind) {
    case AXPY: return axpy ? axpy(c->N, c->a, first, second, out), 1 : 0;
    case BLUR: return blur ? blur(c->N, first, out), 1 : 0;
    case SCALE: return scale ? scale(c->M, c->N, c->a, first, out), 1 : 0;
    case TRANSPOSE: return transpose ? transpose(c->M, c->N, first, out), 1 : 0;
    case ROW_SUMS: return row_sums ? row_sums(c->M, c->N, first, out), 1 : 0;
    case MATMUL: return matmul ? matmul(c->M, c->N, c->K, first, second, out), 1 : 0;
    default: return 0;
    }
}

static void run_case(const struct test_case *c, FILE *cases, FILE *results)
{
    float *host = floats(c->out), *out;
    float *first = read_input(c->first, cases);
    float *second = read_input(c->second, cases);
    poison(host, c->out);
    need(cudaMalloc((void **)&out, c->out * sizeof *out), "cudaMalloc");
    need(cudaMemcpy(out, host, c->out * sizeof *out, cudaMemcpyHostToDevice),
         "cudaMemcpy");
    if (!call(c, first, second, out))
        stop(NO_FUNCTION, "the exercise's function", "not defined");
    need(cudaGetLastError(), "launch");
    need(cudaDeviceSynchronize(), "kernel");
    need(cudaMemcpy(host, out, c->out * sizeof *out, cudaMemcpyDeviceToHost),
         "cudaMemcpy");
    if (fwrite(host, sizeof *host, c->out, results) != c->out || fflush(results))
        stop(3, "runner", "cannot write");
    cudaFree(first);
    cudaFree(second);
    cudaFree(out);
    free(host);
}

static void run_prediction(FILE *results)
{
    int answer[MAX_ANSWERS] = {0};
    if (!predict)
        stop(NO_FUNCTION, "predict", "not defined");
    predict(answer);
    for (int i = 0; i < MAX_ANSWERS; i++) {
        const float value = (float)answer[i];
        if (fwrite(&value, sizeof value, 1, results) != 1)
            stop(3, "runner", "cannot write");
    }
}

int main(int argc, char **argv)
{
    FILE *cases = argc == 3 ? fopen(argv[1], "rb") : NULL;
    FILE *results = cases ? fopen(argv[2], "wb") : NULL;
    if (!results)
        stop(2, "usage", "program cases results");
    struct test_case c;
    while (fread(&c, sizeof c, 1, cases) == 1) {
        if (c.kind == PREDICT)
            run_prediction(results);
        else
            run_case(&c, cases, results);
    }
    fclose(cases);
    return fclose(results) ? 3 : 0;
}
