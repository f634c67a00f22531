/* A chapter's whole program: options, inputs, run, verify, time, print. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A part of CUDA, but a toolkit from single packages may lack it. */
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#else
#define nvtxRangePushA(message) ((void)(message))
#define nvtxRangePop() ((void)0)
#endif

/* What a beginner can do about the errors a beginner meets; NULL if there is nothing
 * general to say. */
static const char *hint_for(cudaError_t error)
{
    switch ((int)error) {
    case cudaErrorNoDevice:
        return "no GPU here; `make EMULATOR=1 chapterN` runs without one";
    case cudaErrorInsufficientDriver:
        return "the driver is older than this CUDA toolkit, or there is none; `make "
               "EMULATOR=1 chapterN` runs without";
    case cudaErrorNoKernelImageForDevice:
        return "compiled for another GPU; build with ARCH=native, or ARCH=sm_NN for "
               "yours";
    case cudaErrorMemoryAllocation:
        return "try a smaller size, or a larger limit if `ulimit -v` or `ulimit -d` "
               "shows one";
    case cudaErrorIllegalAddress:
        return "the kernel left its matrices; `make memcheckN`, or EMULATOR=1, names the "
               "line";
    case cudaErrorLaunchOutOfResources:
        return "too many registers or too much shared memory for a block of this size";
    case cudaErrorInvalidConfiguration: return "the grid or block is empty or too large";
    default: return NULL;
    }
}

static int exit_code_for(cudaError_t error)
{
    switch ((int)error) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorMemoryAllocation: return CANNOT;
    default: return WRONG;
    }
}

static const char *checking;

void now_checking(const char *command)
{
    if (checking) nvtxRangePop();
    checking = command;
    if (checking) nvtxRangePushA(checking);
}

void cuda_check(cudaError_t error, const char *expression, const char *file, int line)
{
    if (error == cudaSuccess) return;
    const char *hint = hint_for(error);
    fflush(stdout);
    fprintf(stderr, "%s:%d: %s: %s (%s, %d)%s%s%s%s\n", file, line, expression,
            cudaGetErrorString(error), cudaGetErrorName(error), (int)error,
            checking ? "; while checking " : "", checking ? checking : "",
            hint ? "; hint: " : "", hint ? hint : "");
    exit(exit_code_for(error));
}

/* fp32 lanes of one multiprocessor (CUDA C++ Programming Guide, table of arithmetic
 * throughput). */
static int lanes_per_sm(int capability)
{
    switch (capability) {
    case 70:
    case 72:
    case 75:
    case 80: return 64;
    case 86:
    case 87:
    case 89:
    case 90:
    case 100:
    case 103:
    case 120:
    case 121: return 128;
    default: return 0;
    }
}

/* Multiply-adds a cycle of the tensor cores of one multiprocessor, bf16, dense, summed in
 * fp32 (NVIDIA's architecture whitepapers); tf32: half of them. 0: not known, or not the
 * same for all GPUs of that capability. */
static int tensor_rate(int capability)
{
    switch (capability) {
    case 80: return 1024;
    case 90: return 2048;
    case 100: return 4096;
    default: return 0;
    }
}

static struct machine look_around(enum precision precision)
{
    struct machine machine;
    CUDA_CHECK(cudaGetDeviceProperties(&machine.gpu, 0));
    CUDA_CHECK(cudaDeviceGetAttribute(&machine.clock_khz, cudaDevAttrClockRate, 0));
    CUDA_CHECK(cudaDriverGetVersion(&machine.driver));
    CUDA_CHECK(cudaRuntimeGetVersion(&machine.runtime));
    /* Every lane can finish one fused multiply-add, two operations, a cycle. */
    const int capability = 10 * machine.gpu.major + machine.gpu.minor;
    const int rate = precision == FP32   ? lanes_per_sm(capability)
                     : precision == TF32 ? tensor_rate(capability) / 2
                                         : tensor_rate(capability);
    machine.peak_gflops =
        2.0 * rate * machine.gpu.multiProcessorCount * machine.clock_khz / 1e6;
    return machine;
}

struct verdict run_and_verify(struct problem *p, const struct options *options,
                              const struct chapter *chapter, matmul_launcher *launch,
                              enum values values)
{
    problem_fill(p, options, values);
    problem_launch(p, launch);
    CUDA_CHECK(cudaGetLastError());
    return verify(p, chapter, options->seed);
}

bool runs_on(const struct chapter *c, int capability)
{
    return capability >= c->min_capability &&
           (c->max_capability == 0 || capability <= c->max_capability);
}

const char *what_it_needs(const struct chapter *c)
{
    static char words[80];
    snprintf(words, sizeof words, "compute capability %d.%d%s", c->min_capability / 10,
             c->min_capability % 10,
             c->max_capability ? ", which later GPUs do not include" : " or newer");
    return words;
}

int chapter_main(int argc, char **argv, const struct chapter *chapter)
{
    struct options options;
    struct problem problem;
    struct timing timing = {0};
    struct verdict verdicts[3];
    struct shapes shapes = {0};
    int count = 0;

    watch_output(chapter);
    parse_options(argc, argv, chapter, &options);
    if (options.occupancy) return print_occupancy(chapter, &options);
    if (options.describe) {
        print_description(chapter);
        return PASSED;
    }
    const char *lens = EMULATED ? NULL : getenv("LENS");
    if (lens && *lens && strcmp(lens, "0") != 0) {
        fprintf(stderr,
                "LENS: this program is built for a GPU, and the lens belongs to the "
                "emulator: make EMULATOR=1 chapter%d\n",
                chapter->number);
        return CANNOT;
    }
    const struct machine machine = look_around(options.precision);
    matmul_launcher *const launch = launcher_of(chapter, options.precision);
    const int capability = 10 * machine.gpu.major + machine.gpu.minor;
    if (!runs_on(chapter, capability)) {
        fprintf(stderr, "chapter %d needs %s; %s has %d.%d\n", chapter->number,
                what_it_needs(chapter), machine.gpu.name, machine.gpu.major,
                machine.gpu.minor);
        return CANNOT;
    }
    if (!problem_create(&problem, &options)) return CANNOT;

    verdicts[count++] = run_and_verify(&problem, &options, chapter, launch, FRACTIONS);
    verdicts[count++] = run_and_verify(&problem, &options, chapter, launch, REALS);
    /* Of this product: chapter 11 has another title for each variant that it launches. */
    char title[120];
    struct chapter as_run = *chapter;
    snprintf(title, sizeof title, "%s", chapter->title);
    as_run.title = title;
    bool passed = verdicts[0].passed && verdicts[1].passed;
    if (passed && !options.one_shape) {
        check_shapes(chapter, &options, argv[0], &shapes);
        passed = shapes.passed == shapes.count;
    }
    const bool timed = !EMULATED && !options.check_only && passed;
    if (timed) {
        time_chapter(&problem, chapter, &options, &timing);
        if (chapter->measure_more)
            timing.more_count = chapter->measure_more(
                timing.more, sizeof timing.more / sizeof *timing.more);
        /* The last timed run began with a fresh C: what it left must be right too. */
        verdicts[count] = verify(&problem, chapter, options.seed + 1);
        passed = verdicts[count++].passed;
    }

    (options.json ? print_json : print_table)(&as_run, &options, &machine, verdicts,
                                              count, &shapes, timed ? &timing : NULL,
                                              passed);

    free(shapes.list);
    free(timing.kernel_all);
    free(timing.cublas_all);
    problem_destroy(&problem);
    return passed ? PASSED : WRONG;
}
