// Many copies by one call; and who may use a pool's memory.
#include "check.h"

enum { N = 256, COPIES = 3 };

int main()
{
    int *device, *pinned, back[COPIES][N];
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&device, sizeof back));
    CHECK(cudaMallocHost(&pinned, sizeof back));
    for (int i = 0; i < COPIES * N; i++) pinned[i] = i;

    // In at once, each to another place; the first is read before the call comes back.
    int *to[COPIES];
    const int *from[COPIES];
    size_t sizes[COPIES], firsts[2] = {0, 1};
    cudaMemcpyAttributes how[2] = {};
    how[0].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    how[1].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    for (int i = 0; i < COPIES; i++) {
        to[i] = device + (COPIES - 1 - i) * N;
        from[i] = pinned + i * N;
        sizes[i] = N * sizeof(int);
    }
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, COPIES, how, firsts, 2, stream));
    for (int i = 0; i < N; i++) pinned[i] = -1;
    CHECK(cudaStreamSynchronize(stream));

    // And back, with one attribute for all.
    int *host[COPIES];
    for (int i = 0; i < COPIES; i++) host[i] = back[i];
    CHECK(cudaMemcpyBatchAsync(host, to, sizes, COPIES, how[1], stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < COPIES * N; i++) EXPECT(back[i / N][i % N] == i);

    // What an H200 refuses.
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, COPIES, how[1], 0) ==
           cudaErrorInvalidValue);
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, 0, how[1], stream) ==
           cudaErrorInvalidValue);
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, COPIES, how, firsts, 0, stream) ==
           cudaErrorInvalidValue);
    firsts[1] = 0;
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, COPIES, how, firsts, 2, stream) ==
           cudaErrorInvalidValue);
    firsts[1] = COPIES;
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, COPIES, how, firsts, 2, stream) ==
           cudaErrorInvalidValue);
    how[0].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, COPIES, how[0], stream) ==
           cudaErrorInvalidValue);
    sizes[1] = 0;
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, COPIES, how[1], stream) ==
           cudaErrorInvalidValue);
    sizes[1] = N * sizeof(int);

    // It cannot be captured, and leaves the capture as it is.
    cudaGraph_t graph;
    size_t nodes = 9;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    EXPECT(cudaMemcpyBatchAsync(to, from, sizes, COPIES, how[1], stream) ==
           cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaGetLastError() == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
    EXPECT(nodes == 0);
    CHECK(cudaGraphDestroy(graph));

    cudaMemPool_t pool;
    cudaMemAccessFlags flags;
    cudaMemLocation who = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolGetAccess(&flags, pool, &who));
    EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
    who.type = cudaMemLocationTypeHost;
    CHECK(cudaMemPoolGetAccess(&flags, pool, &who));
    EXPECT(flags == cudaMemAccessFlagsProtNone);
    who.type = cudaMemLocationTypeDevice;
    who.id = 99;
    EXPECT(cudaMemPoolGetAccess(&flags, pool, &who) == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);

    // Rows of an array, in a stream.
    cudaArray_t array;
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
    int rows[2][8], there[2][8] = {};
    for (int i = 0; i < 16; i++) rows[i / 8][i % 8] = i;
    CHECK(cudaMallocArray(&array, &desc, 8, 2));
    CHECK(cudaMemcpy2DToArrayAsync(array, 0, 0, rows, sizeof *rows, sizeof *rows, 2,
                                   cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpy2DFromArrayAsync(there, sizeof *there, array, 0, 0, sizeof *there, 2,
                                     cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 16; i++) EXPECT(there[i / 8][i % 8] == i);
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaStreamDestroy(stream));
    return pass();
}
