/* What chapter 19's GPUs have: streams, events, communicators, pieces of the matrices. Here
 * is how they get all that, and how whole matrices on GPU 0 become pieces and back. None of
 * it is timed: in a program that needs several GPUs, matrices live in pieces. */
#ifndef GPUS_H
#define GPUS_H

#include "matmul.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<nccl.h>)
#include <nccl.h>
/* Without the library these are NULL, and the program says so when it needs them. */
#pragma weak ncclCommInitAll
#pragma weak ncclCommDestroy
#pragma weak ncclGroupStart
#pragma weak ncclGroupEnd
#pragma weak ncclSend
#pragma weak ncclRecv
#pragma weak ncclAllGather
#pragma weak ncclGetErrorString
#else
#error                                                                                   \
    "nccl.h is missing: it comes with NCCL (Debian: apt install libnccl-dev), see developer.nvidia.com/nccl"
#endif

enum { MOST = 16 }; // GPUs

/* The product of two pieces on the current GPU, in its default stream. */
typedef void piece_product(int M, int N, int K, float alpha, const void *A, const void *B,
                           float beta, void *C);

/* How a product is divided: C into a grid of `down` x `across` tiles, one for each GPU;
 * A's rows and B's columns into as many pieces as there are GPUs. */
struct plan {
    int gpus, down, across;
    int M, N, K;
    size_t element; /* bytes */
    piece_product *product;
};

struct gpu {
    ncclComm_t comm;
    cudaStream_t copies;        /* pieces come here; products are in the default stream */
    cudaEvent_t ready, done;    /* its own pieces are there; its products are done */
    cudaEvent_t come[2 * MOST]; /* one for each piece that comes, in their order */
    char *A[MOST], *B[MOST];    /* pieces by number; NULL: not needed here */
    char *C[MOST][MOST];        /* A's piece times B's piece; NULL: another GPU's */
};

static struct gpu gpus[MOST];
static int gpu_count;    /* that have streams */
static struct plan plan; /* for which they have memory */

/* The first row of A's piece p, or column of B's, if there are `whole` of them; the last
 * piece ends where piece P would begin. */
static inline size_t first_of(int whole, int p)
{
    return (size_t)((long long)whole * p / plan.gpus);
}

static inline int rows_of(int p)
{
    return (int)(first_of(plan.M, p + 1) - first_of(plan.M, p));
}

static inline int cols_of(int p)
{
    return (int)(first_of(plan.N, p + 1) - first_of(plan.N, p));
}

static inline size_t A_bytes(int p)
{
    return (size_t)rows_of(p) * plan.K * plan.element;
}

static inline size_t B_bytes(int p)
{
    return (size_t)cols_of(p) * plan.K * plan.element;
}

static inline size_t C_bytes(int a, int b)
{
    return (size_t)rows_of(a) * cols_of(b) * plan.element;
}

#define NCCL_CHECK(call) nccl_check((call), #call)
static inline void nccl_check(ncclResult_t result, const char *call)
{
    if (result == ncclSuccess)
        return;
    fprintf(stderr, "NCCL: %s: %s\n", call, ncclGetErrorString(result));
    exit(3);
}

/* Whether every GPU of the plan can copy from every other without passing the host. */
static inline bool all_are_peers(int count)
{
    for (int g = 0; g < count; ++g)
        for (int other = 0; other < count; ++other) {
            int can = 1;
            if (g != other)
                CUDA_CHECK(cudaDeviceCanAccessPeer(&can, g, other));
            if (!can)
                return false;
        }
    return true;
}

static void free_pieces(void);

static inline void make_gpus(int count)
{
    ncclComm_t comms[MOST];
    if (gpu_count == 0)
        atexit(free_pieces);
    if (gpu_count >= count)
        return;
    if (!ncclCommInitAll) {
        fprintf(stderr, "NCCL is missing: this program was linked without libnccl "
                        "(Debian: apt install libnccl2 libnccl-dev)\n");
        exit(3);
    }
    const bool peers = all_are_peers(count);
    for (int g = gpu_count; g < count; ++g) {
        CUDA_CHECK(cudaSetDevice(g));
        CUDA_CHECK(cudaStreamCreateWithFlags(&gpus[g].copies, cudaStreamNonBlocking));
        CUDA_CHECK(cudaEventCreateWithFlags(&gpus[g].ready, cudaEventDisableTiming));
        CUDA_CHECK(cudaEventCreateWithFlags(&gpus[g].done, cudaEventDisableTiming));
        for (int i = 0; i < 2 * MOST; ++i)
            CUDA_CHECK(
                cudaEventCreateWithFlags(&gpus[g].come[i], cudaEventDisableTiming));
        for (int other = 0; peers && other < count; ++other)
            if (other != g)
                cudaDeviceEnablePeerAccess(other, 0); // or it is enabled already
        cudaGetLastError();
    }
    for (int g = 0; g < gpu_count; ++g)
        NCCL_CHECK(ncclCommDestroy(gpus[g].comm));
    // No copies by NVLink's switches (multicast, NVLS), unless the reader's environment says
    // so: what the README counts is what GPUs send one another. NCCL User Guide.
    setenv("NCCL_NVLS_ENABLE", "0", 0);
    NCCL_CHECK(ncclCommInitAll(comms, count, NULL));
    for (int g = 0; g < count; ++g)
        gpus[g].comm = comms[g];
    gpu_count = count;
    CUDA_CHECK(cudaSetDevice(0));
}

/* The divisor of P nearest below its root: how many tiles lie side by side. */
static inline int squarest(int count)
{
    int across = 1;
    for (int d = 1; d * d <= count; ++d)
        if (count % d == 0)
            across = d;
    return across;
}

/* Whether GPU g's tile of C needs A's piece, or B's. */
static inline bool needs_A(int g, int piece)
{
    return piece / plan.across == g / plan.across;
}

static inline bool needs_B(int g, int piece)
{
    return piece % plan.across == g % plan.across;
}

static void free_pieces(void)
{
    for (int g = 0; g < plan.gpus; ++g) {
        CUDA_CHECK(cudaSetDevice(g));
        for (int a = 0; a < plan.gpus; ++a) {
            CUDA_CHECK(cudaFree(gpus[g].A[a]));
            CUDA_CHECK(cudaFree(gpus[g].B[a]));
            gpus[g].A[a] = gpus[g].B[a] = NULL;
            for (int b = 0; b < plan.gpus; ++b) {
                CUDA_CHECK(cudaFree(gpus[g].C[a][b]));
                gpus[g].C[a][b] = NULL;
            }
        }
    }
    plan.gpus = 0;
    CUDA_CHECK(cudaSetDevice(0));
}

static inline void make_pieces(const struct plan *wanted)
{
    if (memcmp(&plan, wanted, sizeof plan) == 0)
        return;
    free_pieces();
    make_gpus(wanted->gpus);
    plan = *wanted;
    for (int g = 0; g < plan.gpus; ++g) {
        CUDA_CHECK(cudaSetDevice(g));
        for (int a = 0; a < plan.gpus; ++a) {
            if (needs_A(g, a))
                CUDA_CHECK(cudaMalloc((void **)&gpus[g].A[a], A_bytes(a) + 1));
            if (needs_B(g, a))
                CUDA_CHECK(cudaMalloc((void **)&gpus[g].B[a], B_bytes(a) + 1));
            for (int b = 0; b < plan.gpus; ++b)
                if (needs_A(g, a) && needs_B(g, b))
                    CUDA_CHECK(cudaMalloc((void **)&gpus[g].C[a][b], C_bytes(a, b) + 1));
        }
    }
    CUDA_CHECK(cudaSetDevice(0));
}

/* The default stream of every GPU goes on when GPU 0's has come this far; and that of GPU 0
 * when all the others have. */
static inline void start_together(void)
{
    CUDA_CHECK(cudaEventRecord(gpus[0].done, 0));
    for (int g = 1; g < plan.gpus; ++g) {
        CUDA_CHECK(cudaSetDevice(g));
        CUDA_CHECK(cudaStreamWaitEvent(0, gpus[0].done, 0));
    }
    CUDA_CHECK(cudaSetDevice(0));
}

static inline void finish_together(void)
{
    for (int g = 1; g < plan.gpus; ++g) {
        CUDA_CHECK(cudaSetDevice(g));
        CUDA_CHECK(cudaEventRecord(gpus[g].done, 0));
    }
    CUDA_CHECK(cudaSetDevice(0));
    for (int g = 1; g < plan.gpus; ++g)
        CUDA_CHECK(cudaStreamWaitEvent(0, gpus[g].done, 0));
}

/* Copies a block of a matrix on GPU 0, whose rows are `row` bytes apart, to or from a piece
 * without gaps; enqueued on GPU 0. */
static inline void copy_block(char *to, size_t to_row, const char *from, size_t from_row,
                              size_t width, size_t rows)
{
    if (width > 0 && rows > 0)
        CUDA_CHECK(cudaMemcpy2DAsync(to, to_row, from, from_row, width, rows,
                                     cudaMemcpyDefault, 0));
}

static inline void scatter(const char *A, const char *B, const char *C)
{
    const size_t row = (size_t)plan.N * plan.element;
    for (int p = 0; p < plan.gpus; ++p) {
        const size_t width = cols_of(p) * plan.element;
        copy_block(gpus[p].A[p], A_bytes(p),
                   A + first_of(plan.M, p) * plan.K * plan.element, A_bytes(p),
                   A_bytes(p), 1);
        copy_block(gpus[p].B[p], width, B + first_of(plan.N, p) * plan.element, row,
                   width, plan.K);
        for (int a = 0; C && a < plan.gpus; ++a)
            for (int b = 0; b < plan.gpus; ++b)
                if (gpus[p].C[a][b])
                    copy_block(gpus[p].C[a][b], cols_of(b) * plan.element,
                               C + first_of(plan.M, a) * row +
                                   first_of(plan.N, b) * plan.element,
                               row, cols_of(b) * plan.element, rows_of(a));
    }
}

/* The inputs, whole again, from the pieces. */
static inline void gather_inputs(char *A, char *B)
{
    const size_t row = (size_t)plan.N * plan.element;
    for (int p = 0; p < plan.gpus; ++p) {
        const size_t width = cols_of(p) * plan.element;
        copy_block(A + first_of(plan.M, p) * plan.K * plan.element, A_bytes(p),
                   gpus[p].A[p], A_bytes(p), A_bytes(p), 1);
        copy_block(B + first_of(plan.N, p) * plan.element, row, gpus[p].B[p], width,
                   width, plan.K);
    }
}

static inline void gather(char *C)
{
    const size_t row = (size_t)plan.N * plan.element;
    for (int g = 0; g < plan.gpus; ++g)
        for (int a = 0; a < plan.gpus; ++a)
            for (int b = 0; b < plan.gpus; ++b)
                if (gpus[g].C[a][b])
                    copy_block(C + first_of(plan.M, a) * row +
                                   first_of(plan.N, b) * plan.element,
                               row, gpus[g].C[a][b], cols_of(b) * plan.element,
                               cols_of(b) * plan.element, rows_of(a));
}
#endif
