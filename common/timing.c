/* How long does it take, side by side with cuBLAS?
 *
 * A GPU's clock moves with its temperature and with the work it has just done, so two
 * programs timed one after the other are timed on two different machines. Here the kernel
 * and cuBLAS take turns, A B A B, in one process, and the ratio is formed turn by turn
 * before the median is taken. Each run starts with a cold L2: a buffer twice its size is
 * written first.
 *
 * cuBLAS gets the same precision: CUBLAS_COMPUTE_32F with the default math mode, so no
 * TF32 tensor cores. */
#include "common.h"

#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>

static void cublas_check(cublasStatus_t status, const char *call)
{
    if (status == CUBLAS_STATUS_SUCCESS) return;
    fprintf(stderr, "cuBLAS: %s failed with status %d\n", call, (int)status);
    exit(CANNOT);
}

/* cuBLAS thinks in columns. A row-major C is a column-major C transposed, and C^T = B^T
 * A^T, so the row-major product is had by handing over B and A in this order. */
static void cublas_matmul(cublasHandle_t handle, const struct problem *p, float *C)
{
    cublas_check(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, p->N, p->M, p->K,
                              &p->alpha, p->dB.data, CUDA_R_32F, p->N, p->dA.data,
                              CUDA_R_32F, p->K, &p->beta, C, CUDA_R_32F, p->N,
                              CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                 "cublasGemmEx");
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *reserve_doubles(int count)
{
    double *memory = malloc(count * sizeof *memory);
    if (memory) return memory;
    fprintf(stderr, "no host memory to note the times in\n");
    exit(CANNOT);
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
    launch(p->M, p->N, p->K, p->alpha, p->dA.data, p->dB.data, p->beta, p->dC.data);
    return stop(watch);
}

static double time_cublas(const struct stopwatch *watch, const struct problem *p,
                          cublasHandle_t handle, float *C)
{
    size_t bytes = p->dC.count * sizeof(float);
    if (p->dC_before)
        CUDA_CHECK(cudaMemcpyAsync(C, p->dC_before, bytes, cudaMemcpyDeviceToDevice, 0));
    start(watch);
    cublas_matmul(handle, p, C);
    return stop(watch);
}

void time_chapter(const struct problem *p, const struct chapter *chapter, int reps,
                  struct timing *timing)
{
    struct stopwatch watch;
    cublasHandle_t handle;
    float *C;
    CUDA_CHECK(cudaMalloc((void **)&C, p->dC.count * sizeof(float)));
    stopwatch_create(&watch);
    cublas_check(cublasCreate(&handle), "cublasCreate");

    /* Two rounds to warm up: the first loads code, the second tells how many a second
     * holds. */
    double round_ms = 0.0;
    for (int i = 0; i < 2; i++)
        round_ms =
            time_launch(&watch, p, chapter->launch) + time_cublas(&watch, p, handle, C);
    if (reps == 0) {
        reps = (int)(1000.0 / (round_ms + 0.1));
        reps = reps < 7 ? 7 : reps > 100 ? 100 : reps;
    }

    double *ratio = reserve_doubles(reps);
    timing->runs = reps;
    timing->kernel_all = reserve_doubles(reps);
    timing->cublas_all = reserve_doubles(reps);
    for (int i = 0; i < reps; i++) {
        timing->kernel_all[i] = time_launch(&watch, p, chapter->launch);
        timing->cublas_all[i] = time_cublas(&watch, p, handle, C);
        ratio[i] = timing->cublas_all[i] / timing->kernel_all[i];
        progress("timing %d of %d", i + 1, reps);
    }
    progress(NULL);
    timing->kernel_ms = spread_of(timing->kernel_all, reps);
    timing->cublas_ms = spread_of(timing->cublas_all, reps);
    timing->ratio = spread_of(ratio, reps);

    free(ratio);
    cublas_check(cublasDestroy(handle), "cublasDestroy");
    stopwatch_destroy(&watch);
    CUDA_CHECK(cudaFree(C));
}
