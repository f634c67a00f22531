// Graphs: captured from streams that fork and join, built node by node, cloned, updated,
// asked for what they launch.
#include "check.h"

enum { N = 1000 };

__global__ void add(int *x, int n, int value)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) x[i] += value;
}

template <typename T> __global__ void scale(const T *from, T *to, int n, T factor)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) to[i] = from[i] * factor;
}

static void CUDART_CB count_up(void *calls)
{
    ++*(int *)calls;
}

static int all_are(const int *x, int value)
{
    for (int i = 0; i < N; i++)
        if (x[i] != value) return 0;
    return 1;
}

static void captured(int *a, int *b, int *host)
{
    cudaStream_t first, second;
    cudaEvent_t forked, joined;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    CHECK(cudaMemset(a, 0, N * sizeof *a));
    CHECK(cudaMemset(b, 0, N * sizeof *b));
    CHECK(cudaDeviceSynchronize());

    int value = 5, calls = 0;
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamIsCapturing(first, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    add<<<4, 256, 0, first>>>(a, N, value);
    value = 1000; // what was passed counts
    CHECK(cudaEventRecord(forked, first));
    CHECK(cudaStreamWaitEvent(second, forked, 0));
    scale<int><<<4, 256, 0, second>>>(a, b, N, 3);
    CHECK(cudaEventRecord(joined, second));
    CHECK(cudaLaunchHostFunc(first, count_up, &calls));
    CHECK(cudaStreamWaitEvent(first, joined, 0));
    CHECK(cudaMemcpyAsync(host, b, N * sizeof *b, cudaMemcpyDeviceToHost, first));
    CHECK(cudaStreamEndCapture(first, &graph));
    CHECK(cudaStreamIsCapturing(second, &status));
    EXPECT(status == cudaStreamCaptureStatusNone && calls == 0);

    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
    EXPECT(nodes == 4);
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    for (int i = 1; i <= 3; i++) {
        CHECK(cudaGraphLaunch(exec, first));
        CHECK(cudaStreamSynchronize(first));
        EXPECT(all_are(host, 15 * i) && calls == i);
    }
    CHECK(cudaGraphExecDestroy(exec));

    // What cannot be captured spoils the capture.
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(b, 0, N * sizeof *b, first));
    EXPECT(cudaStreamSynchronize(first) == cudaErrorStreamCaptureUnsupported);
    EXPECT(cudaGetLastError() == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamIsCapturing(first, &status));
    EXPECT(status == cudaStreamCaptureStatusInvalidated);
    EXPECT(cudaMemsetAsync(b, 0, N * sizeof *b, first) ==
           cudaErrorStreamCaptureInvalidated);
    EXPECT(cudaStreamEndCapture(first, &graph) == cudaErrorStreamCaptureInvalidated);
    EXPECT(graph == NULL && cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaStreamIsCapturing(first, &status));
    EXPECT(status == cudaStreamCaptureStatusNone);

    // A stream that is left behind.
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    CHECK(cudaEventRecord(forked, first));
    CHECK(cudaStreamWaitEvent(second, forked, 0));
    add<<<4, 256, 0, second>>>(a, N, 1);
    EXPECT(cudaStreamEndCapture(first, &graph) == cudaErrorStreamCaptureUnjoined);
    EXPECT(cudaGetLastError() == cudaErrorStreamCaptureUnjoined);
    CHECK(cudaEventDestroy(forked));
    CHECK(cudaEventDestroy(joined));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
}

static void by_hand(int *a, int *b, int *host)
{
    cudaGraph_t graph, clone, outer;
    cudaGraphNode_t zero, adding, scaling, back, child;
    cudaGraphExec_t exec;
    CHECK(cudaGraphCreate(&graph, 0));
    struct cudaMemsetParams set = {};
    set.dst = a;
    set.elementSize = sizeof *a;
    set.value = 7;
    set.width = N;
    set.height = 1;
    CHECK(cudaGraphAddMemsetNode(&zero, graph, NULL, 0, &set));

    int n = N, value = 2, factor = 10;
    void *add_arguments[] = {&a, &n, &value}, *scale_arguments[] = {&a, &b, &n, &factor};
    struct cudaKernelNodeParams launch = {};
    launch.func = (void *)add;
    launch.gridDim = dim3(4);
    launch.blockDim = dim3(256);
    launch.kernelParams = add_arguments;
    CHECK(cudaGraphAddKernelNode(&adding, graph, &zero, 1, &launch));
    struct cudaKernelNodeParams second = launch;
    second.func = (void *)scale<int>;
    second.kernelParams = scale_arguments;
    CHECK(cudaGraphAddKernelNode(&scaling, graph, &adding, 1, &second));
    CHECK(cudaGraphAddMemcpyNode1D(&back, graph, &scaling, 1, host, b, N * sizeof *b,
                                   cudaMemcpyDeviceToHost));
    value = factor = 0;
    cudaGraphNode_t from[3], to[3], one;
    size_t edges = 0;
    CHECK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &edges));
    EXPECT(edges == 3);
    CHECK(cudaGraphGetEdges(graph, from, to, NULL, &edges));
    EXPECT(edges == 3 && from[0] == zero && to[0] == adding && to[2] == back);
    edges = 1;
    CHECK(cudaGraphNodeGetDependencies(scaling, &one, NULL, &edges));
    EXPECT(edges == 1 && one == adding);
    CHECK(cudaGraphNodeGetDependentNodes(scaling, &one, NULL, &edges));
    EXPECT(edges == 1 && one == back);
    CHECK(cudaGraphNodeGetDependencies(zero, NULL, NULL, &edges));
    EXPECT(edges == 0);
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(scaling, &type));
    EXPECT(type == cudaGraphNodeTypeKernel);

    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(all_are(host, 90));
    value = 5;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, adding, &launch));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(all_are(host, 120));

    // Twice as a part of another graph: the second adds to 7 again.
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphCreate(&outer, 0));
    CHECK(cudaGraphAddChildGraphNode(&child, outer, NULL, 0, clone));
    CHECK(cudaGraphAddChildGraphNode(&child, outer, &child, 1, clone));
    CHECK(cudaGraphDestroy(clone));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphInstantiate(&exec, outer, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    EXPECT(all_are(host, 90));
    cudaGraphExecUpdateResult result;
    cudaGraphNode_t bad;
    CHECK(cudaGraphExecUpdate(exec, outer, &bad, &result));
    EXPECT(result == cudaGraphExecUpdateSuccess);
    EXPECT(cudaGraphExecUpdate(exec, graph, &bad, &result) ==
           cudaErrorGraphExecUpdateFailure);
    EXPECT(result == cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT(cudaGetLastError() == cudaErrorGraphExecUpdateFailure);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(outer));
    CHECK(cudaGraphDestroy(graph));
}

// What a node launches can be asked for, and changed: of nodes that were captured, too.
static void parameters(int *a, int *b, int *host)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t nodes[3];
    struct cudaKernelNodeParams adding, scaling, fill;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(a, 0, N * sizeof *a, stream));
    add<<<4, 256, 0, stream>>>(a, N, 5);
    scale<<<8, 128, 64, stream>>>(a, b, N, 3);
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t count = 3;
    CHECK(cudaGraphGetNodes(graph, nodes, &count));
    EXPECT(count == 3);
    EXPECT(cudaGraphKernelNodeGetParams(nodes[0], &fill) == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaGraphKernelNodeGetParams(nodes[1], &adding));
    EXPECT(adding.func == (void *)add && adding.gridDim.x == 4 &&
           adding.blockDim.x == 256);
    EXPECT(*(int **)adding.kernelParams[0] == a && *(int *)adding.kernelParams[2] == 5);
    CHECK(cudaGraphKernelNodeGetParams(nodes[2], &scaling));
    EXPECT(scaling.gridDim.x == 8 && scaling.sharedMemBytes == 64 && !scaling.extra);
    EXPECT(*(int **)scaling.kernelParams[1] == b && *(int *)scaling.kernelParams[3] == 3);

    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    int more = 7, factor = 2;
    adding.kernelParams[2] = &more;
    CHECK(cudaGraphKernelNodeSetParams(nodes[1], &adding)); // of the graph, not of exec
    scaling.kernelParams[3] = &factor;
    CHECK(cudaGraphExecKernelNodeSetParams(exec, nodes[2], &scaling));
    for (int changed = 0; changed < 2; changed++) {
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaMemcpyAsync(host, b, N * sizeof *b, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        EXPECT(all_are(host, changed ? 7 * 3 : 5 * 2));
        CHECK(cudaGraphExecDestroy(exec));
        CHECK(cudaGraphInstantiate(&exec, graph, 0));
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
}

int main()
{
    int *a, *b, *host;
    CHECK(cudaMalloc(&a, N * sizeof *a));
    CHECK(cudaMalloc(&b, N * sizeof *b));
    CHECK(cudaMallocHost(&host, N * sizeof *host));
    captured(a, b, host);
    by_hand(a, b, host);
    parameters(a, b, host);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFreeHost(host));
    return pass();
}
