/* How much faster P GPUs are than one, on pieces that are in their places. */
#ifndef SPEED_H
#define SPEED_H

enum { ROUNDS = 7 };

/* Milliseconds of one division, from when all GPUs may begin until the last has ended. */
static double time_divided(enum way way, cudaEvent_t begin, cudaEvent_t end)
{
    float ms;
    CUDA_CHECK(cudaEventRecord(begin, 0));
    start_together();
    multiply_divided(way, 1.0f, 0.0f);
    finish_together();
    CUDA_CHECK(cudaEventRecord(end, 0));
    CUDA_CHECK(cudaEventSynchronize(end));
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms;
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
    int rows; /* divide by rows only */
} WAYS[4] = {
    {"NCCL, then multiply", NCCL_FIRST, 0},
    {"NCCL meanwhile", NCCL_MEANWHILE, 0},
    {"copy engines", COPY_ENGINES, 0},
    {"copy engines, rows", COPY_ENGINES, 1},
};

/* Measures the last product that was launched. In each round the ways take turns with one
 * GPU, which has the matrices whole. */
static int measure_speed(struct figure *figures, int room)
{
    enum { COUNT = 4 };
    const struct plan p = plan;
    double shares[ROUNDS];
    char *A, *B, *C;
    cudaEvent_t begin, end;
    if (p.gpus < 2 || room < COUNT)
        return 0;
    const size_t a = (size_t)p.M * p.K, b = (size_t)p.K * p.N, c = (size_t)p.M * p.N;
    CUDA_CHECK(cudaMalloc((void **)&A, a * p.element));
    CUDA_CHECK(cudaMalloc((void **)&B, b * p.element));
    CUDA_CHECK(cudaMalloc((void **)&C, c * p.element));
    gather_inputs(A, B);
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    for (int w = 0; w < COUNT; ++w) {
        enum way way = WAYS[w].way;
        choose(&way, p.M, p.N, p.K, p.element, p.product, WAYS[w].rows);
        scatter(A, B, NULL);
        for (int i = -2; i < ROUNDS; ++i) {
            float ms;
            const double many = time_divided(way, begin, end);
            CUDA_CHECK(cudaEventRecord(begin, 0));
            p.product(p.M, p.N, p.K, 1.0f, A, B, 0.0f, C);
            CUDA_CHECK(cudaEventRecord(end, 0));
            CUDA_CHECK(cudaEventSynchronize(end));
            CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
            if (i >= 0)
                shares[i] = ms / (many * p.gpus);
        }
        qsort(shares, ROUNDS, sizeof(double), compare_times);
        figures[w] =
            (struct figure){WAYS[w].name, shares[ROUNDS / 2], "of P times one GPU", NULL};
    }
    CUDA_CHECK(cudaEventDestroy(begin));
    CUDA_CHECK(cudaEventDestroy(end));
    CUDA_CHECK(cudaFree(A));
    CUDA_CHECK(cudaFree(B));
    CUDA_CHECK(cudaFree(C));
    return COUNT;
}

#endif
