// What ranks do together with NCCL: collectives, sends and receives; one thread for all of
// them, and a thread for each.
// BUILD: -lnccl
// EMULATE: h200:3
#include "check.h"

#include <nccl.h>
#include <pthread.h>

enum { RANKS = 3, COUNT = 50 };

#define NCCL(call)                                                                       \
    do {                                                                                 \
        const ncclResult_t result_ = (call);                                             \
        if (result_ != ncclSuccess) {                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,                           \
                    ncclGetErrorString(result_));                                        \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

static ncclComm_t comms[RANKS];
static cudaStream_t streams[RANKS];
static int *mine[RANKS], *gathered[RANKS];
static ncclUniqueId id;

static int value(int rank, int i)
{
    return 100 * rank + i;
}

static void fill(int rank)
{
    int host[RANKS * COUNT];
    for (int i = 0; i < RANKS * COUNT; i++) host[i] = value(rank, i);
    CHECK(cudaMemcpy(mine[rank], host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(gathered[rank], 0, sizeof host));
    CHECK(cudaDeviceSynchronize());
}

static const int *result(int rank)
{
    static int host[RANKS * COUNT];
    CHECK(cudaSetDevice(rank));
    CHECK(cudaStreamSynchronize(streams[rank]));
    CHECK(cudaMemcpy(host, gathered[rank], sizeof host, cudaMemcpyDeviceToHost));
    return host;
}

static void *thread_of_rank(void *p)
{
    const int r = (int)(size_t)p;
    ncclComm_t comm;
    CHECK(cudaSetDevice(r));
    NCCL(ncclCommInitRank(&comm, RANKS, id, r));
    NCCL(ncclAllReduce(mine[r], gathered[r], COUNT, ncclInt, ncclMax, comm, streams[r]));
    CHECK(cudaStreamSynchronize(streams[r]));
    NCCL(ncclCommDestroy(comm));
    return NULL;
}

int main(void)
{
    int count;
    CHECK(cudaGetDeviceCount(&count));
    if (count < RANKS) return pass(); // on a machine with fewer
    NCCL(ncclCommInitAll(comms, RANKS, NULL));
    for (int r = 0; r < RANKS; r++) {
        CHECK(cudaSetDevice(r));
        CHECK(cudaStreamCreateWithFlags(&streams[r], cudaStreamNonBlocking));
        CHECK(cudaMalloc(&mine[r], RANKS * COUNT * sizeof(int)));
        CHECK(cudaMalloc(&gathered[r], RANKS * COUNT * sizeof(int)));
        fill(r);
        int got;
        NCCL(ncclCommUserRank(comms[r], &got));
        EXPECT(got == r);
        NCCL(ncclCommCount(comms[r], &got));
        EXPECT(got == RANKS);
    }

    NCCL(ncclGroupStart());
    for (int r = 0; r < RANKS; r++)
        NCCL(ncclAllGather(mine[r], gathered[r], COUNT, ncclInt, comms[r], streams[r]));
    NCCL(ncclGroupEnd());
    for (int r = 0; r < RANKS; r++)
        for (int i = 0; i < RANKS * COUNT; i++)
            EXPECT(result(r)[i] == value(i / COUNT, i % COUNT));

    NCCL(ncclGroupStart());
    for (int r = 0; r < RANKS; r++)
        NCCL(ncclReduceScatter(mine[r], gathered[r], COUNT, ncclInt, ncclSum, comms[r],
                               streams[r]));
    NCCL(ncclGroupEnd());
    for (int r = 0; r < RANKS; r++)
        for (int i = 0; i < COUNT; i++) EXPECT(result(r)[i] == 300 + 3 * (r * COUNT + i));

    NCCL(ncclGroupStart());
    for (int r = 0; r < RANKS; r++)
        NCCL(
            ncclBroadcast(mine[r], gathered[r], COUNT, ncclInt, 2, comms[r], streams[r]));
    NCCL(ncclGroupEnd());
    for (int r = 0; r < RANKS; r++) EXPECT(result(r)[7] == value(2, 7));

    // Each sends to the next, in one group: no order of the calls can block.
    NCCL(ncclGroupStart());
    for (int r = 0; r < RANKS; r++) {
        const int next = (r + 1) % RANKS, last = (r + RANKS - 1) % RANKS;
        NCCL(ncclSend(mine[r], COUNT, ncclInt, next, comms[r], streams[r]));
        NCCL(ncclRecv(gathered[r], COUNT, ncclInt, last, comms[r], streams[r]));
    }
    NCCL(ncclGroupEnd());
    for (int r = 0; r < RANKS; r++)
        EXPECT(result(r)[5] == value((r + RANKS - 1) % RANKS, 5));

    NCCL(ncclGetUniqueId(&id));
    pthread_t threads[RANKS];
    for (int r = 0; r < RANKS; r++)
        EXPECT(pthread_create(&threads[r], NULL, thread_of_rank, (void *)(size_t)r) == 0);
    for (int r = 0; r < RANKS; r++) EXPECT(pthread_join(threads[r], NULL) == 0);
    for (int r = 0; r < RANKS; r++) EXPECT(result(r)[9] == value(RANKS - 1, 9));

    for (int r = 0; r < RANKS; r++) {
        NCCL(ncclCommDestroy(comms[r]));
        CHECK(cudaFree(mine[r]));
        CHECK(cudaFree(gathered[r]));
        CHECK(cudaStreamDestroy(streams[r]));
    }
    return pass();
}
