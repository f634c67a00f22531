/*
 * Chapter 19: many GPUs.
 *
 * What changes against one GPU: each of P has a P-th of A's rows, of B's columns and of C.
 * None has all that its part of C needs, so pieces of A and B travel, and while one is
 * multiplied, the next is on its way.
 *
 *     4 GPUs as a grid of 2 x 2. GPU 1 has the pieces A1 and B1, and its tile of C needs
 *     A0 of GPU 0 and B3 of GPU 3 besides:
 *
 *                    B0  B2   |  B1  B3
 *             A0   ---------- | ----------      GPU 1:  A1 B1   at once
 *             A1     GPU 0    |   GPU 1                 A1 B3   when B3 has come
 *             ----------------+-----------              A0 B1, A0 B3   when A0 has come
 *             A2     GPU 2    |   GPU 3
 *             A3              |
 *
 * Run it:  make chapter19 && ./chapter19                  (all GPUs that are here)
 *          make chapter19 && EMULATE=h200:3 ./chapter19   (three emulated ones, not four)
 */
#include "matmul.h"

#include "gpus.h"
#include "one_gpu.h"

#include <cuda_bf16.h>

static int wanted_gpus; // --gpus; 0: all

// How pieces travel. NCCL's kernels run on the same multiprocessors as the products; copy
// engines are beside them, but only GPUs that are peers have them for this.
enum way { NCCL_FIRST, NCCL_MEANWHILE, COPY_ENGINES };

// A piece that a GPU needs, its own first: then B's and A's in turn. Each GPU begins with
// another neighbour of its column and its row, so in each round every GPU sends as much as
// it receives.
struct arrival {
    bool of_A;
    int piece; // and the GPU that has it
};

static int list_arrivals(int g, struct arrival *list)
{
    const int row = g / plan.across, col = g % plan.across;
    int count = 0;
    for (int i = 0; i < plan.down || i < plan.across; ++i) {
        if (i < plan.down)
            list[count++] =
                (struct arrival){false, (row + i) % plan.down * plan.across + col};
        if (i < plan.across)
            list[count++] =
                (struct arrival){true, row * plan.across + (col + i) % plan.across};
    }
    return count;
}

static char *place_of(int g, struct arrival a)
{
    return a.of_A ? gpus[g].A[a.piece] : gpus[g].B[a.piece];
}

static size_t bytes_of(struct arrival a)
{
    return a.of_A ? A_bytes(a.piece) : B_bytes(a.piece);
}

// 1. Send for arrival i of every GPU. The copy engine fetches the piece from where it is;
//    nothing on the other GPU takes part.
static void fetch_by_copy_engine(struct arrival list[][2 * MOST], int i)
{
    for (int g = 0; g < plan.gpus; ++g) {
        const struct arrival a = list[g][i];
        CUDA_CHECK(cudaSetDevice(g));
        if (bytes_of(a) > 0)
            CUDA_CHECK(cudaMemcpyPeerAsync(place_of(g, a), g, place_of(a.piece, a),
                                           a.piece, bytes_of(a), gpus[g].copies));
        CUDA_CHECK(cudaEventRecord(gpus[g].come[i], gpus[g].copies));
    }
}

//    With NCCL both sides call: all sends and receives of a round are one group, or each
//    would wait for the next.
static void fetch_by_nccl(struct arrival list[][2 * MOST], int i)
{
    NCCL_CHECK(ncclGroupStart());
    for (int g = 0; g < plan.gpus; ++g) {
        const struct arrival a = list[g][i];
        if (bytes_of(a) == 0)
            continue;
        NCCL_CHECK(ncclSend(place_of(a.piece, a), bytes_of(a), ncclChar, g,
                            gpus[a.piece].comm, gpus[a.piece].copies));
        NCCL_CHECK(ncclRecv(place_of(g, a), bytes_of(a), ncclChar, a.piece, gpus[g].comm,
                            gpus[g].copies));
    }
    NCCL_CHECK(ncclGroupEnd());
    for (int g = 0; g < plan.gpus; ++g) {
        CUDA_CHECK(cudaSetDevice(g));
        CUDA_CHECK(cudaEventRecord(gpus[g].come[i], gpus[g].copies));
    }
}

// 2. Multiply arrival i with every piece of the other matrix that came before it.
static void multiply(int g, const struct arrival *list, int i, float alpha, float beta)
{
    for (int k = 0; k < i; ++k) {
        if (list[k].of_A == list[i].of_A)
            continue;
        const int a = list[i].of_A ? list[i].piece : list[k].piece;
        const int b = list[i].of_A ? list[k].piece : list[i].piece;
        if (plan.product && rows_of(a) > 0 && cols_of(b) > 0)
            plan.product(rows_of(a), cols_of(b), plan.K, alpha, gpus[g].A[a],
                         gpus[g].B[b], beta, gpus[g].C[a][b]);
    }
}

// 3. The whole product, of pieces that are in their places on every GPU. Fetches are
//    enqueued ahead of all products: they wait for nothing but each other.
static void multiply_divided(enum way way, float alpha, float beta)
{
    struct arrival list[MOST][2 * MOST];
    const int count = list_arrivals(0, list[0]);
    for (int g = 0; g < plan.gpus; ++g) {
        list_arrivals(g, list[g]);
        CUDA_CHECK(cudaSetDevice(g));
        CUDA_CHECK(cudaEventRecord(gpus[g].ready, 0));
        CUDA_CHECK(cudaStreamWaitEvent(gpus[g].copies, gpus[g].ready, 0));
    }
    for (int i = 2; i < count; ++i)
        (way == COPY_ENGINES ? fetch_by_copy_engine : fetch_by_nccl)(list, i);
    for (int i = 1; i < count; ++i)
        for (int g = 0; g < plan.gpus; ++g) {
            const int awaited = way == NCCL_FIRST ? count - 1 : i;
            CUDA_CHECK(cudaSetDevice(g));
            if (awaited >= 2)
                CUDA_CHECK(cudaStreamWaitEvent(0, gpus[g].come[awaited], 0));
            multiply(g, list[g], i, alpha, beta);
        }
    CUDA_CHECK(cudaSetDevice(0));
}

/* ---- the same on whole matrices, and how long it takes ---- */

static void choose(enum way *way, int M, int N, int K, size_t element,
                   piece_product *product, int across)
{
    int here;
    CUDA_CHECK(cudaGetDeviceCount(&here));
    if (wanted_gpus > here || here > MOST) {
        fprintf(stderr, "--gpus %d: there %s %d here, and %d is the most\n", wanted_gpus,
                here == 1 ? "is" : "are", here, MOST);
        exit(3);
    }
    const int count = wanted_gpus ? wanted_gpus : here;
    struct plan wanted;
    memset(&wanted, 0, sizeof wanted); // plans are compared byte by byte
    wanted.gpus = count;
    wanted.across = across ? across : squarest(count);
    wanted.down = count / wanted.across;
    wanted.M = M;
    wanted.N = N;
    wanted.K = K;
    wanted.element = element;
    wanted.product = product;
    make_pieces(&wanted);
    if (*way == COPY_ENGINES && !all_are_peers(count))
        *way = NCCL_MEANWHILE;
}

static void matmul_by(enum way way, int across, size_t element, piece_product *product,
                      int M, int N, int K, float alpha, const void *A, const void *B,
                      float beta, void *C)
{
    choose(&way, M, N, K, element, product, across);
    scatter((const char *)A, (const char *)B, beta != 0.0f ? (const char *)C : NULL);
    start_together();
    multiply_divided(way, alpha, beta);
    finish_together();
    gather((char *)C);
}

// C = alpha * A * B + beta * C on device pointers of GPU 0, row-major and packed.
static void matmul(int M, int N, int K, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    matmul_by(COPY_ENGINES, 0, sizeof *C, product_fp32, M, N, K, alpha, A, B, beta, C);
}

static void matmul_bf16(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                        const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    matmul_by(COPY_ENGINES, 0, sizeof *C, product_bf16, M, N, K, alpha, A, B, beta, C);
}

// Every other way, for the checks: in rows alone, by NCCL.
static void in_rows(int M, int N, int K, float alpha, const float *A, const float *B,
                    float beta, float *C)
{
    matmul_by(NCCL_MEANWHILE, 1, sizeof *C, product_fp32, M, N, K, alpha, A, B, beta, C);
}

static void in_rows_bf16(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                         const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    matmul_by(NCCL_MEANWHILE, 1, sizeof *C, product_bf16, M, N, K, alpha, A, B, beta, C);
}

static void gathered_first(int M, int N, int K, float alpha, const float *A,
                           const float *B, float beta, float *C)
{
    matmul_by(NCCL_FIRST, 0, sizeof *C, product_fp32, M, N, K, alpha, A, B, beta, C);
}

static void gathered_first_bf16(int M, int N, int K, float alpha, const __nv_bfloat16 *A,
                                const __nv_bfloat16 *B, float beta, __nv_bfloat16 *C)
{
    matmul_by(NCCL_FIRST, 0, sizeof *C, product_bf16, M, N, K, alpha, A, B, beta, C);
}

static const struct product PRODUCTS[] = {
    {200, 133, 45, 1.5f, -0.5f, in_rows, NULL, USUAL, in_rows_bf16},
    {131, 259, 70, 2.0f, 0.0f, gathered_first, NULL, USUAL, gathered_first_bf16},
    {3, 2, 9, 1.0f, 0.0f}, // fewer rows and columns than GPUs
};

#include "speed.h"

int main(int argc, char **argv)
{
#ifdef __CUDA_EMULATED__
    setenv("EMULATE", "h200:4", 0); // where there is no GPU, there may as well be four
#endif
    const struct chapter chapter = {
        .number = 19,
        .title = "many GPUs: multiply what has come",
        .about = "copies",
        .launch = matmul,
        .launch_bf16 = matmul_bf16,
        .several_gpus = true,
        .min_capability = 90,
        .products = PRODUCTS,
        .product_count = sizeof PRODUCTS / sizeof *PRODUCTS,
        .measure_more = measure_speed,
        .own_option = "--gpus",
        .own_value = &wanted_gpus,
        .more_help = "    --gpus P       divide the product among P GPUs, not all\n",
    };
    return chapter_main(argc, argv, &chapter);
}
