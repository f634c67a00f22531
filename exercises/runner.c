/* Runs a student's kernel over the cases of a file. It computes no answer and takes no
 * decision: the judge compares what came out, in another process.
 *
 *     runner RESULTS <cases
 *
 * What the student's code prints goes to the standard output. Exit codes 4 and 5 tell the
 * grader what the last line of stderr is about. */
#include "cases.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- a clock for exercises about tuning ----
 * What a candidate takes is in the case, negative for one that fails. A first run is slow,
 * every run is a little off, and one in three is far off: as on a machine that others use,
 * but with a plan, so that a careless choice is wrong every time. The fastest has the worst
 * luck. */
static const float *times;
static int candidates, calls, fastest;
static uint32_t noise;
static int *runs;

static float next_noise(void)
{
    noise = noise * 1664525u + 1013904223u;
    return (float)(noise >> 8) / 16777216.0f;
}

float time_of_candidate(int candidate)
{
    calls++;
    if (candidate < 0 || candidate >= candidates || times[candidate] < 0.0f)
        return -1.0f;
    const float time = times[candidate] * (1.0f + 0.02f * next_noise());
    const int run = ++runs[candidate];
    if (run == 1)
        return time * (candidate == fastest ? 4.0f : 2.0f + next_noise());
    if (run % 3 == 2)
        return time * (candidate == fastest ? 3.0f : 1.1f + 0.2f * next_noise());
    return time;
}

static void run_tuner(const struct test_case *c, FILE *cases, FILE *results)
{
    float *host = floats(c->first);
    if (fread(host, sizeof *host, c->first, cases) != c->first)
        stop(3, "runner", "the case file is cut short");
    int32_t out[3] = {-1, 0, 0};
    times = host;
    candidates = c->N;
    calls = 0;
    memcpy(&noise, &c->a, sizeof noise);
    runs = calloc(c->first + 1, sizeof *runs);
    fastest = -1;
    for (int i = 0; i < candidates; i++)
        if (times[i] > 0.0f && (fastest < 0 || times[i] < times[fastest]))
            fastest = i;
    if (!call_student(c, NULL, NULL, NULL, out))
        stop(NO_FUNCTION, "the exercise's function", "not defined");
    out[1] = calls;
    out[2] = runs[fastest];
    if (fwrite(out, sizeof *out, 3, results) != 3 || fflush(results))
        stop(3, "runner", "cannot write");
    free(runs);
    free(host);
}

static void run_case(const struct test_case *c, FILE *cases, FILE *results)
{
    float *host = floats(c->out > c->scratch ? c->out : c->scratch);
    float *out, *scratch = NULL;
    float *first = read_input(c->first, cases);
    float *second = read_input(c->second, cases);
    poison(host, c->out > c->scratch ? c->out : c->scratch);
    need(cudaMalloc((void **)&out, c->out * sizeof *out), "cudaMalloc");
    need(cudaMemcpy(out, host, c->out * sizeof *out, cudaMemcpyHostToDevice),
         "cudaMemcpy");
    if (c->scratch) {
        need(cudaSetDevice(c->kind == ON_TWO), "cudaSetDevice");
        need(cudaMalloc((void **)&scratch, c->scratch * sizeof *scratch), "cudaMalloc");
        need(cudaSetDevice(0), "cudaSetDevice");
    }
    if (!call_student(c, first, second, scratch, out))
        stop(NO_FUNCTION, "the exercise's function", "not defined");
    need(cudaGetLastError(), "launch");
    need(cudaSetDevice(0), "cudaSetDevice");
    need(cudaDeviceSynchronize(), "kernel");
    need(cudaMemcpy(host, out, c->out * sizeof *out, cudaMemcpyDeviceToHost),
         "cudaMemcpy");
    if (fwrite(host, sizeof *host, c->out, results) != c->out || fflush(results))
        stop(3, "runner", "cannot write");
    cudaFree(first);
    cudaFree(second);
    cudaFree(scratch);
    cudaFree(out);
    free(host);
}

static void run_prediction(const struct test_case *c, FILE *results)
{
    static int answer[ANSWERS];
    if (!call_student(c, NULL, NULL, NULL, answer))
        stop(NO_FUNCTION, "predict", "not defined");
    for (int i = 0; i < ANSWERS; i++) {
        const float value = (float)answer[i];
        if (fwrite(&value, sizeof value, 1, results) != 1)
            stop(3, "runner", "cannot write");
    }
}

int main(int argc, char **argv)
{
    FILE *results = argc == 2 ? fopen(argv[1], "wb") : NULL;
    if (!results)
        stop(2, "usage", "runner RESULTS <cases");
    struct test_case c;
    while (fread(&c, sizeof c, 1, stdin) == 1) {
        if (c.kind == PREDICT)
            run_prediction(&c, results);
        else if (c.kind == TUNE)
            run_tuner(&c, stdin, results);
        else
            run_case(&c, stdin, results);
    }
    return fclose(results) ? 3 : 0;
}
