/* How long does it take, side by side with cuBLAS?
 *
 * A GPU's clock moves with its temperature and with the work it has just done, so two
 * programs timed one after the other are timed on two different machines. Here the kernel
 * and cuBLAS take turns, A B A B, in one process, and the ratio is formed turn by turn
 * before the median is taken. Each run starts with a cold L2: a buffer twice its size is
 * written first.
 *
 * cuBLAS gets the same precision. fp32: CUBLAS_COMPUTE_32F with the default math mode, so
 * no TF32 tensor cores. bf16 and tf32, and fp32 with --best-cublas: what is fastest of
 * cublasGemmEx and the algorithms that cublasLt's heuristics propose, tried before the
 * timing. */
#include "common.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>

static void cublas_check(cublasStatus_t status, const char *call)
{
    if (status == CUBLAS_STATUS_SUCCESS) return;
    fprintf(stderr, "cuBLAS: %s failed with status %d\n", call, (int)status);
    exit(CANNOT);
}

enum { PROPOSALS = 32, USUAL_PROPOSALS = 8, WORKSPACE = 64 << 20 };

struct cublas {
    cublasHandle_t handle;
    cudaDataType type;
    cublasComputeType_t compute;
    void *C;
    /* cublasLt's part; not for fp32, unless the best is asked for. */
    cublasLtHandle_t lt;
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t A_layout, B_layout, C_layout;
    cublasLtMatmulHeuristicResult_t proposals[PROPOSALS];
    int proposal_count;
    void *workspace;
    int chosen; /* of the proposals; -1: cublasGemmEx */
};

/* cuBLAS thinks in columns. A row-major C is a column-major C transposed, and C^T = B^T
 * A^T, so the row-major product is had by handing over B and A in this order. */
static void cublas_matmul(const struct cublas *c, const struct problem *p)
{
    if (c->chosen < 0)
        cublas_check(cublasGemmEx(c->handle, CUBLAS_OP_N, CUBLAS_OP_N, p->N, p->M, p->K,
                                  &p->alpha, p->dB.data, c->type, p->N, p->dA.data,
                                  c->type, p->K, &p->beta, c->C, c->type, p->N,
                                  c->compute, CUBLAS_GEMM_DEFAULT),
                     "cublasGemmEx");
    else
        cublas_check(cublasLtMatmul(c->lt, c->product, &p->alpha, p->dB.data, c->B_layout,
                                    p->dA.data, c->A_layout, &p->beta, c->C, c->C_layout,
                                    c->C, c->C_layout, &c->proposals[c->chosen].algo,
                                    c->workspace, WORKSPACE, 0),
                     "cublasLtMatmul");
}

/* Tells where a matrix begins: at a multiple of the largest power of two that divides its
 * address, 256 at most. Of one that is not told, cublasLt takes 256 for granted, and what
 * it proposes may refuse a matrix that --shift has moved. */
static void tell_alignment(cublasLtMatmulPreference_t preference,
                           cublasLtMatmulPreferenceAttributes_t of, const void *matrix)
{
    const uintptr_t address = (uintptr_t)matrix | 256;
    const uint32_t alignment = (uint32_t)(address & -address);
    cublas_check(cublasLtMatmulPreferenceSetAttribute(preference, of, &alignment,
                                                      sizeof alignment),
                 "cublasLtMatmulPreferenceSetAttribute");
}

static void cublas_create(struct cublas *c, const struct problem *p, bool best)
{
    *c = (struct cublas){.type = p->precision == BF16 ? CUDA_R_16BF : CUDA_R_32F,
                         .compute = p->precision == TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                         : CUBLAS_COMPUTE_32F,
                         .chosen = -1};
    CUDA_CHECK(cudaMalloc(&c->C, p->dC.count * p->dC.size));
    cublas_check(cublasCreate(&c->handle), "cublasCreate");
    if (p->precision == FP32 && !best) return;
    const int wanted = best ? PROPOSALS : USUAL_PROPOSALS;
    const size_t bytes = WORKSPACE;
    cublasLtMatmulPreference_t preference;
    CUDA_CHECK(cudaMalloc(&c->workspace, bytes));
    cublas_check(cublasLtCreate(&c->lt), "cublasLtCreate");
    cublas_check(cublasLtMatmulDescCreate(&c->product, c->compute, CUDA_R_32F),
                 "cublasLtMatmulDescCreate");
    cublas_check(cublasLtMatrixLayoutCreate(&c->B_layout, c->type, p->N, p->K, p->N),
                 "cublasLtMatrixLayoutCreate");
    cublas_check(cublasLtMatrixLayoutCreate(&c->A_layout, c->type, p->K, p->M, p->K),
                 "cublasLtMatrixLayoutCreate");
    cublas_check(cublasLtMatrixLayoutCreate(&c->C_layout, c->type, p->N, p->M, p->N),
                 "cublasLtMatrixLayoutCreate");
    cublas_check(cublasLtMatmulPreferenceCreate(&preference),
                 "cublasLtMatmulPreferenceCreate");
    cublas_check(
        cublasLtMatmulPreferenceSetAttribute(
            preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes),
        "cublasLtMatmulPreferenceSetAttribute");
    /* cuBLAS' A is our B, and the other way round. */
    tell_alignment(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p->dB.data);
    tell_alignment(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p->dA.data);
    tell_alignment(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, c->C);
    tell_alignment(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, c->C);
    /* If it has nothing to propose, cublasGemmEx is left. */
    if (cublasLtMatmulAlgoGetHeuristic(c->lt, c->product, c->B_layout, c->A_layout,
                                       c->C_layout, c->C_layout, preference, wanted,
                                       c->proposals, &c->proposal_count))
        c->proposal_count = 0;
    cublas_check(cublasLtMatmulPreferenceDestroy(preference),
                 "cublasLtMatmulPreferenceDestroy");
}

static void cublas_destroy(struct cublas *c)
{
    if (c->lt) {
        cublas_check(cublasLtMatrixLayoutDestroy(c->A_layout), "LayoutDestroy");
        cublas_check(cublasLtMatrixLayoutDestroy(c->B_layout), "LayoutDestroy");
        cublas_check(cublasLtMatrixLayoutDestroy(c->C_layout), "LayoutDestroy");
        cublas_check(cublasLtMatmulDescDestroy(c->product), "cublasLtMatmulDescDestroy");
        cublas_check(cublasLtDestroy(c->lt), "cublasLtDestroy");
    }
    cublas_check(cublasDestroy(c->handle), "cublasDestroy");
    CUDA_CHECK(cudaFree(c->workspace));
    CUDA_CHECK(cudaFree(c->C));
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *reserve_doubles(int count)
{
    return host_zeros("to note the times in", count, sizeof(double));
}

struct spread spread_of(const double *values, int count)
{
    double *sorted = reserve_doubles(count);
    for (int i = 0; i < count; i++) sorted[i] = values[i];
    qsort(sorted, count, sizeof *sorted, compare_doubles);
    struct spread spread = {
        .median = count % 2 ? sorted[count / 2]
                            : 0.5 * (sorted[count / 2 - 1] + sorted[count / 2]),
        .low = sorted[(count - 1) / 10],
        .high = sorted[count - 1 - (count - 1) / 10],
    };
    free(sorted);
    return spread;
}

void stopwatch_create(struct stopwatch *watch)
{
    int l2_bytes;
    CUDA_CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0));
    watch->flush_bytes = 2 * (size_t)l2_bytes;
    CUDA_CHECK(cudaMalloc(&watch->flush, watch->flush_bytes));
    CUDA_CHECK(cudaEventCreate(&watch->begin));
    CUDA_CHECK(cudaEventCreate(&watch->end));
}

void stopwatch_destroy(struct stopwatch *watch)
{
    CUDA_CHECK(cudaEventDestroy(watch->begin));
    CUDA_CHECK(cudaEventDestroy(watch->end));
    CUDA_CHECK(cudaFree(watch->flush));
}

static void start(const struct stopwatch *watch)
{
    CUDA_CHECK(cudaMemsetAsync(watch->flush, 0, watch->flush_bytes, 0));
    CUDA_CHECK(cudaEventRecord(watch->begin, 0));
}

static double stop(const struct stopwatch *watch)
{
    float ms;
    CUDA_CHECK(cudaEventRecord(watch->end, 0));
    CUDA_CHECK(cudaEventSynchronize(watch->end));
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventElapsedTime(&ms, watch->begin, watch->end));
    return ms;
}

double time_launch(const struct stopwatch *watch, const struct problem *p,
                   matmul_launcher *launch)
{
    problem_reset_C(p);
    start(watch);
    problem_launch(p, launch);
    return stop(watch);
}

static double time_cublas(const struct stopwatch *watch, const struct problem *p,
                          const struct cublas *cublas)
{
    size_t bytes = p->dC.count * p->dC.size;
    if (p->dC_before)
        CUDA_CHECK(
            cudaMemcpyAsync(cublas->C, p->dC_before, bytes, cudaMemcpyDeviceToDevice, 0));
    start(watch);
    cublas_matmul(cublas, p);
    return stop(watch);
}

/* Tries cublasGemmEx and each proposal a few times, and keeps what was fastest. */
static void choose_proposal(const struct stopwatch *watch, const struct problem *p,
                            struct cublas *c, char *name, size_t room)
{
    enum { RUNS = 5 };
    double times[RUNS], least = 0.0;
    int best = -1;
    if (c->proposal_count == 0) {
        snprintf(name, room, "cublasGemmEx");
        return;
    }
    for (c->chosen = -1; c->chosen < c->proposal_count; c->chosen++) {
        time_cublas(watch, p, c); /* loads code */
        times[0] = time_cublas(watch, p, c);
        if (c->chosen >= 0 && times[0] > 1.5 * least) continue; /* not this one */
        for (int i = 1; i < RUNS; i++) times[i] = time_cublas(watch, p, c);
        const double median = spread_of(times, RUNS).median;
        if (c->chosen >= 0 && median >= least) continue;
        least = median;
        best = c->chosen;
    }
    c->chosen = best;
    if (best < 0)
        snprintf(name, room, "cublasGemmEx");
    else
        snprintf(name, room, "cublasLt, proposal %d of %d", best + 1, c->proposal_count);
}

void time_chapter(const struct problem *p, const struct chapter *chapter,
                  const struct options *options, struct timing *timing)
{
    struct stopwatch watch;
    struct cublas cublas;
    matmul_launcher *const launch = launcher_of(chapter, p->precision);
    stopwatch_create(&watch);
    cublas_create(&cublas, p, options->best_cublas);
    choose_proposal(&watch, p, &cublas, timing->cublas_call, sizeof timing->cublas_call);

    /* Two rounds to warm up: the first loads code, the second tells how many a second
     * holds. */
    int reps = options->reps;
    double round_ms = 0.0;
    for (int i = 0; i < 2; i++)
        round_ms = time_launch(&watch, p, launch) + time_cublas(&watch, p, &cublas);
    if (reps == 0) {
        reps = (int)(1000.0 / (round_ms + 0.1));
        reps = reps < 7 ? 7 : reps > 100 ? 100 : reps;
    }

    double *ratio = reserve_doubles(reps);
    timing->runs = reps;
    timing->kernel_all = reserve_doubles(reps);
    timing->cublas_all = reserve_doubles(reps);
    for (int i = 0; i < reps; i++) {
        timing->kernel_all[i] = time_launch(&watch, p, launch);
        timing->cublas_all[i] = time_cublas(&watch, p, &cublas);
        ratio[i] = timing->cublas_all[i] / timing->kernel_all[i];
        progress("timing %d of %d", i + 1, reps);
    }
    progress(NULL);
    timing->kernel_ms = spread_of(timing->kernel_all, reps);
    timing->cublas_ms = spread_of(timing->cublas_all, reps);
    timing->ratio = spread_of(ratio, reps);

    free(ratio);
    cublas_destroy(&cublas);
    stopwatch_destroy(&watch);
}
