/* How much faster P GPUs are than one, on pieces that are in their places. */
#ifndef SPEED_H
#define SPEED_H

#include <cublas_v2.h>

#define CUBLAS_CHECK(call)                                                               \
    do {                                                                                 \
        if ((call) != CUBLAS_STATUS_SUCCESS) {                                           \
            fprintf(stderr, "cuBLAS: %s failed\n", #call);                               \
            exit(3);                                                                     \
        }                                                                                \
    } while (0)

enum { ROUNDS = 7, AHEAD_MS = 2 };

/* Milliseconds since `begin`, on the GPU. */
static double elapsed(cudaEvent_t begin, cudaEvent_t end)
{
    float ms;
    CUDA_CHECK(cudaEventRecord(end, 0));
    CUDA_CHECK(cudaEventSynchronize(end));
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

/* The whole product on GPU 0 alone. */
static struct {
    char *A, *B, *C;
    int ahead; /* how many keep it busy while the host enqueues what is timed */
} whole;

static void multiply_whole(void)
{
    plan.product(plan.M, plan.N, plan.K, 1.0f, whole.A, whole.B, 0.0f, whole.C);
}

/* What is timed begins when this is done. In a program that multiplies all the time the
 * host is ahead of the GPUs; here each time is taken alone, and a GPU with nothing to do
 * would wait for the host's calls, of which there are dozens for four GPUs. */
static void begin_behind_work(cudaEvent_t begin)
{
    for (int i = 0; i < whole.ahead; ++i)
        multiply_whole();
    CUDA_CHECK(cudaEventRecord(begin, 0));
}

static double time_whole(cudaEvent_t begin, cudaEvent_t end)
{
    begin_behind_work(begin);
    multiply_whole();
    return elapsed(begin, end);
}

/* Milliseconds of one division, from when all GPUs may begin until the last has ended. */
static double time_divided(enum way way, cudaEvent_t begin, cudaEvent_t end)
{
    begin_behind_work(begin);
    start_together();
    multiply_divided(way, 1.0f, 0.0f);
    finish_together();
    return elapsed(begin, end);
}

static int compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What is measured: each division, on pieces that are in their places. */
static const struct measured_way {
    const char *name, *link, *hidden; /* NULL: not shown, another way has the same */
    enum way way;
    int across; /* tiles of C side by side; 0: the squarest grid */
} WAYS[] = {
    {"NCCL, then multiply", "link, NCCL", NULL, NCCL_FIRST, 1},
    {"NCCL meanwhile", NULL, "hidden, NCCL", NCCL_MEANWHILE, 1},
    {"copy engines", "link, copy engines", "hidden, copy engines", COPY_ENGINES, 1},
    {"copy engines, grid", NULL, NULL, COPY_ENGINES, 0},
};
enum { WAY_COUNT = sizeof WAYS / sizeof *WAYS };

/* Milliseconds for the fetches alone, without a product. */
static double time_fetches(enum way way, cudaEvent_t begin, cudaEvent_t end)
{
    begin_behind_work(begin);
    start_together();
    piece_product *const product = plan.product;
    plan.product = NULL;
    multiply_divided(way, 1.0f, 0.0f);
    plan.product = product;
    finish_together();
    return elapsed(begin, end);
}

/* Milliseconds for the products alone, of pieces that have come before. */
static double time_products(cudaEvent_t begin, cudaEvent_t end)
{
    begin_behind_work(begin);
    start_together();
    for (int g = 0; g < plan.gpus; ++g) {
        struct arrival list[2 * MOST];
        const int count = list_arrivals(g, list);
        CUDA_CHECK(cudaSetDevice(g));
        for (int i = 1; i < count; ++i)
            multiply(g, list, i, 1.0f, 0.0f);
    }
    finish_together();
    return elapsed(begin, end);
}

/* The bytes that GPU 0 receives. */
static double bytes_received(void)
{
    struct arrival list[2 * MOST];
    const int count = list_arrivals(0, list);
    double bytes = 0.0;
    for (int i = 2; i < count; ++i)
        bytes += (double)bytes_of(list[i]);
    return bytes;
}

/* What a program of libraries alone would do: each GPU has a P-th of A's rows and of B's,
 * ncclAllGather makes B whole on all of them, and cuBLAS multiplies. Only where P divides M
 * and K. */
struct by_libraries {
    cublasHandle_t cublas[MOST];
    char *B[MOST], *C[MOST];
};

static void make_libraries(struct by_libraries *l, const char *B)
{
    const size_t bytes = (size_t)plan.K * plan.N * plan.element, part = bytes / plan.gpus;
    for (int g = 0; g < plan.gpus; ++g) {
        CUDA_CHECK(cudaSetDevice(g));
        CUBLAS_CHECK(cublasCreate(&l->cublas[g]));
        CUDA_CHECK(cudaMalloc((void **)&l->B[g], bytes));
        CUDA_CHECK(cudaMalloc((void **)&l->C[g],
                              (size_t)plan.M / plan.gpus * plan.N * plan.element));
    }
    CUDA_CHECK(cudaSetDevice(0));
    for (int g = 0; g < plan.gpus; ++g)
        CUDA_CHECK(cudaMemcpyAsync(l->B[g] + g * part, B + g * part, part,
                                   cudaMemcpyDefault, 0));
}

static void free_libraries(struct by_libraries *l)
{
    for (int g = 0; g < plan.gpus; ++g) {
        CUDA_CHECK(cudaSetDevice(g));
        CUBLAS_CHECK(cublasDestroy(l->cublas[g]));
        CUDA_CHECK(cudaFree(l->B[g]));
        CUDA_CHECK(cudaFree(l->C[g]));
    }
    CUDA_CHECK(cudaSetDevice(0));
}

static double time_libraries(struct by_libraries *l, cudaEvent_t begin, cudaEvent_t end)
{
    const float alpha = 1.0f, beta = 0.0f;
    const size_t part = (size_t)plan.K * plan.N * plan.element / plan.gpus;
    const cudaDataType_t type = plan.element == 4 ? CUDA_R_32F : CUDA_R_16BF;
    begin_behind_work(begin);
    start_together();
    NCCL_CHECK(ncclGroupStart());
    for (int g = 0; g < plan.gpus; ++g)
        NCCL_CHECK(
            ncclAllGather(l->B[g] + g * part, l->B[g], part, ncclChar, gpus[g].comm, 0));
    NCCL_CHECK(ncclGroupEnd());
    for (int g = 0; g < plan.gpus; ++g) {
        CUDA_CHECK(cudaSetDevice(g));
        CUBLAS_CHECK(cublasGemmEx(l->cublas[g], CUBLAS_OP_N, CUBLAS_OP_N, plan.N,
                                  plan.M / plan.gpus, plan.K, &alpha, l->B[g], type,
                                  plan.N, gpus[g].A[g], type, plan.K, &beta, l->C[g],
                                  type, plan.N, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    }
    finish_together();
    return elapsed(begin, end);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, compare_times);
    return values[ROUNDS / 2];
}

/* Measures the last product that was launched: one GPU, which has the matrices whole, in
 * milliseconds; the ways to divide the product, each in turns with it, as the share of P
 * times its speed; what the links carry when nothing else is done; and which part of that
 * time the products hide. */
static int measure_speed(struct figure *figures, int room)
{
    static const char *const SHARE = "of P times one GPU";
    const struct plan p = plan;
    double alone[ROUNDS], shares[ROUNDS], link[ROUNDS], hidden[ROUNDS];
    struct by_libraries libraries;
    cudaEvent_t begin, end;
    int count = 1;
    if (p.gpus < 2 || room < 3 * WAY_COUNT + 2)
        return 0;
    CUDA_CHECK(cudaMalloc((void **)&whole.A, (size_t)p.M * p.K * p.element));
    CUDA_CHECK(cudaMalloc((void **)&whole.B, (size_t)p.K * p.N * p.element));
    CUDA_CHECK(cudaMalloc((void **)&whole.C, (size_t)p.M * p.N * p.element));
    gather_inputs(whole.A, whole.B);
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    whole.ahead = 1; /* the first is slow: its code has to be loaded */
    time_whole(begin, end);
    whole.ahead = 1 + (int)(AHEAD_MS / time_whole(begin, end));
    for (int w = 0; w < WAY_COUNT; ++w) {
        enum way way = WAYS[w].way;
        choose(&way, p.M, p.N, p.K, p.element, p.product, WAYS[w].across);
        if (way != WAYS[w].way)
            continue; /* these GPUs are not peers */
        scatter(whole.A, whole.B, NULL);
        for (int i = -2; i < ROUNDS; ++i) {
            const int at = i < 0 ? 0 : i;
            const double many = time_divided(way, begin, end);
            alone[at] = time_whole(begin, end);
            shares[at] = alone[at] / (many * p.gpus);
            const double fetches = time_fetches(way, begin, end);
            link[at] = bytes_received() / fetches * 1e-6;
            hidden[at] = (fetches + time_products(begin, end) - many) / fetches;
        }
        if (w == 0)
            figures[0] = (struct figure){"one GPU", median(alone), "ms", NULL};
        figures[count++] = (struct figure){WAYS[w].name, median(shares), SHARE, NULL};
        if (WAYS[w].link)
            figures[count++] =
                (struct figure){WAYS[w].link, median(link), "GB/s into each GPU", NULL};
        if (WAYS[w].hidden)
            figures[count++] = (struct figure){WAYS[w].hidden, median(hidden),
                                               "of the fetches' time", NULL};
    }
    if (p.M % p.gpus == 0 && p.K % p.gpus == 0) {
        enum way way = NCCL_FIRST;
        choose(&way, p.M, p.N, p.K, p.element, p.product, 1);
        scatter(whole.A, whole.B, NULL);
        make_libraries(&libraries, whole.B);
        for (int i = -2; i < ROUNDS; ++i) {
            const int at = i < 0 ? 0 : i;
            const double many = time_libraries(&libraries, begin, end);
            alone[at] = time_whole(begin, end);
            shares[at] = alone[at] / (many * p.gpus);
        }
        free_libraries(&libraries);
        figures[count++] =
            (struct figure){"cuBLAS after ncclAllGather", median(shares), SHARE, NULL};
    }
    CUDA_CHECK(cudaEventDestroy(begin));
    CUDA_CHECK(cudaEventDestroy(end));
    CUDA_CHECK(cudaFree(whole.A));
    CUDA_CHECK(cudaFree(whole.B));
    CUDA_CHECK(cudaFree(whole.C));
    return count;
}

#endif
