/* How much faster P GPUs are than one, on pieces that are in their places. */
#ifndef SPEED_H
#define SPEED_H

enum { ROUNDS = 7 };

/* Milliseconds since `begin`, on the GPU. */
static double elapsed(cudaEvent_t begin, cudaEvent_t end)
{
    float ms;
    CUDA_CHECK(cudaEventRecord(end, 0));
    CUDA_CHECK(cudaEventSynchronize(end));
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
}

/* Milliseconds of one division, from when all GPUs may begin until the last has ended. */
static double time_divided(enum way way, cudaEvent_t begin, cudaEvent_t end)
{
    CUDA_CHECK(cudaEventRecord(begin, 0));
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

/* What is measured. */
static const struct measured_way {
    const char *name;
    enum way way;
    int across; /* tiles of C side by side; 0: the squarest grid */
} WAYS[] = {
    {"NCCL, then multiply", NCCL_FIRST, 1},
    {"NCCL meanwhile", NCCL_MEANWHILE, 1},
    {"copy engines", COPY_ENGINES, 1},
    {"copy engines, grid", COPY_ENGINES, 0},
};
enum { WAY_COUNT = 4 };

/* Milliseconds for the fetches alone, without a product. */
static double time_fetches(enum way way, cudaEvent_t begin, cudaEvent_t end)
{
    piece_product *const product = plan.product;
    plan.product = NULL;
    const double ms = time_divided(way, begin, end);
    plan.product = product;
    return ms;
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

/* Measures the last product that was launched: one GPU, which has the matrices whole, in
 * milliseconds; the ways to divide the product, each in turns with it, as the share of P
 * times its speed; and what the links carry when nothing else is done. */
static int measure_speed(struct figure *figures, int room)
{
    const struct plan p = plan;
    double alone[ROUNDS], shares[ROUNDS], link[ROUNDS];
    char *A, *B, *C;
    cudaEvent_t begin, end;
    int count = 1;
    if (p.gpus < 2 || room < WAY_COUNT + 3)
        return 0;
    CUDA_CHECK(cudaMalloc((void **)&A, (size_t)p.M * p.K * p.element));
    CUDA_CHECK(cudaMalloc((void **)&B, (size_t)p.K * p.N * p.element));
    CUDA_CHECK(cudaMalloc((void **)&C, (size_t)p.M * p.N * p.element));
    gather_inputs(A, B);
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    for (int w = 0; w < WAY_COUNT; ++w) {
        enum way way = WAYS[w].way;
        choose(&way, p.M, p.N, p.K, p.element, p.product, WAYS[w].across);
        scatter(A, B, NULL);
        for (int i = -2; i < ROUNDS; ++i) {
            const int at = i < 0 ? 0 : i;
            const double many = time_divided(way, begin, end);
            CUDA_CHECK(cudaEventRecord(begin, 0));
            p.product(p.M, p.N, p.K, 1.0f, A, B, 0.0f, C);
            alone[at] = elapsed(begin, end);
            shares[at] = alone[at] / (many * p.gpus);
            link[at] = bytes_received() / time_fetches(way, begin, end) * 1e-6;
        }
        qsort(alone, ROUNDS, sizeof(double), compare_times);
        qsort(shares, ROUNDS, sizeof(double), compare_times);
        qsort(link, ROUNDS, sizeof(double), compare_times);
        if (w == 0)
            figures[0] = (struct figure){"one GPU", alone[ROUNDS / 2], "ms", NULL};
        figures[count++] =
            (struct figure){WAYS[w].name, shares[ROUNDS / 2], "of P times one GPU", NULL};
        if (way == WAYS[w].way && WAYS[w].across == 1 && way != NCCL_MEANWHILE)
            figures[count++] =
                (struct figure){way == COPY_ENGINES ? "link, copy engines" : "link, NCCL",
                                link[ROUNDS / 2], "GB/s into each GPU", NULL};
    }
    CUDA_CHECK(cudaEventDestroy(begin));
    CUDA_CHECK(cudaEventDestroy(end));
    CUDA_CHECK(cudaFree(A));
    CUDA_CHECK(cudaFree(B));
    CUDA_CHECK(cudaFree(C));
    return count;
}

#endif
