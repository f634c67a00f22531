// What nodes of graphs do can be asked for and changed, in the graph and in what is launched;
// nodes rest, record events, go; a graph keeps what it needs, and can be drawn.
#include "check.h"

#include <string.h>
#include <unistd.h>

enum { N = 16 };

__device__ int variable[N];

__global__ void add(int *x, int value)
{
    x[threadIdx.x] += value;
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

static struct cudaMemsetParams filling(int *x, unsigned value)
{
    struct cudaMemsetParams fill = {};
    fill.dst = x;
    fill.elementSize = sizeof *x;
    fill.value = value;
    fill.width = N;
    fill.height = 1;
    return fill;
}

static struct cudaKernelNodeParams adding(void **arguments)
{
    struct cudaKernelNodeParams launch = {};
    launch.func = (void *)add;
    launch.gridDim = dim3(1);
    launch.blockDim = dim3(N);
    launch.kernelParams = arguments;
    return launch;
}

// Fill, add, copy back, call the host.
struct chain {
    cudaGraph_t graph;
    cudaGraphNode_t fill, kernel, copy, host;
};

static chain new_chain(int *x, int *back, int *calls)
{
    chain c;
    CHECK(cudaGraphCreate(&c.graph, 0));
    const struct cudaMemsetParams fill = filling(x, 7);
    int value = 3;
    void *arguments[] = {&x, &value};
    const struct cudaKernelNodeParams launch = adding(arguments);
    const struct cudaHostNodeParams call = {count_up, calls};
    CHECK(cudaGraphAddMemsetNode(&c.fill, c.graph, NULL, 0, &fill));
    CHECK(cudaGraphAddKernelNode(&c.kernel, c.graph, &c.fill, 1, &launch));
    CHECK(cudaGraphAddMemcpyNode1D(&c.copy, c.graph, &c.kernel, 1, back, x, N * sizeof *x,
                                   cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddHostNode(&c.host, c.graph, &c.copy, 1, &call));
    return c;
}

static void run(cudaGraphExec_t exec)
{
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaStreamSynchronize(0));
}

static void refused(cudaError_t error)
{
    EXPECT(error == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
}

static void asked_and_changed(int *x, int *y, int *back)
{
    int calls = 0, others = 0;
    const chain c = new_chain(x, back, &calls);
    struct cudaMemcpy3DParms copy;
    struct cudaMemsetParams fill;
    struct cudaHostNodeParams call;
    CHECK(cudaGraphMemcpyNodeGetParams(c.copy, &copy));
    EXPECT(copy.srcPtr.ptr == x && copy.dstPtr.ptr == back);
    EXPECT(copy.extent.width == N * sizeof *x && copy.extent.height == 1 &&
           copy.extent.depth == 1 && copy.kind == cudaMemcpyDeviceToHost);
    refused(cudaGraphMemcpyNodeGetParams(c.fill, &copy));
    CHECK(cudaGraphMemsetNodeGetParams(c.fill, &fill));
    EXPECT(fill.dst == x && fill.value == 7 && fill.elementSize == sizeof *x &&
           fill.width == N && fill.height == 1);
    CHECK(cudaGraphHostNodeGetParams(c.host, &call));
    EXPECT(call.fn == count_up && call.userData == &calls);

    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, c.graph, 0));
    fill.value = 20;
    CHECK(cudaGraphExecMemsetNodeSetParams(exec, c.fill, &fill));
    call.userData = &others;
    CHECK(cudaGraphExecHostNodeSetParams(exec, c.host, &call));
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, c.copy, back, x, sizeof *x,
                                             cudaMemcpyDeviceToHost));
    memset(back, 0, N * sizeof *back);
    run(exec);
    EXPECT(back[0] == 23 && back[1] == 0 && calls == 0 && others == 1);
    // Not to another side, not of nothing, not what is no copy.
    refused(cudaGraphExecMemcpyNodeSetParams1D(exec, c.copy, x, back, sizeof *x,
                                               cudaMemcpyHostToDevice));
    refused(cudaGraphExecMemcpyNodeSetParams1D(exec, c.copy, y, x, sizeof *x,
                                               cudaMemcpyDeviceToDevice));
    refused(cudaGraphExecMemcpyNodeSetParams1D(exec, c.copy, back, x, 0,
                                               cudaMemcpyDeviceToHost));
    refused(cudaGraphExecMemcpyNodeSetParams1D(exec, c.fill, back, x, sizeof *x,
                                               cudaMemcpyDeviceToHost));
    fill.height = 2;
    fill.pitch = N * sizeof *x;
    refused(cudaGraphExecMemsetNodeSetParams(exec, c.fill, &fill));
    run(exec); // as before
    EXPECT(back[0] == 23 && others == 2);
    CHECK(cudaGraphExecDestroy(exec));

    // The graph itself has stayed as it was; now it changes, by the call for all types, too.
    struct cudaGraphNodeParams any = {};
    any.type = cudaGraphNodeTypeMemset;
    fill = filling(y, 30);
    memcpy(&any.memset, &fill, sizeof fill);
    CHECK(cudaGraphNodeSetParams(c.fill, &any));
    refused(cudaGraphNodeSetParams(c.copy, &any));
    CHECK(cudaGraphMemcpyNodeSetParams1D(c.copy, y, x, N * sizeof *x,
                                         cudaMemcpyDeviceToDevice));
    CHECK(cudaGraphMemcpyNodeSetParams1D(c.copy, back, y, N * sizeof *x,
                                         cudaMemcpyDeviceToHost));
    CHECK(cudaGraphInstantiate(&exec, c.graph, 0));
    run(exec);
    EXPECT(all_are(back, 30) && calls == 1);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(c.graph));
}

static void to_and_from_variables(int *back)
{
    cudaGraph_t graph;
    cudaGraphNode_t in, out;
    cudaGraphExec_t exec;
    int values[N];
    for (int i = 0; i < N; i++) values[i] = 5;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&in, graph, NULL, 0, variable, values,
                                         sizeof values, 0, cudaMemcpyHostToDevice));
    CHECK(cudaGraphAddMemcpyNodeFromSymbol(&out, graph, &in, 1, back, variable,
                                           sizeof values, 0, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    run(exec);
    EXPECT(all_are(back, 5));
    const int other = 9;
    CHECK(cudaGraphExecMemcpyNodeSetParamsToSymbol(
        exec, in, variable, &other, sizeof other, sizeof other, cudaMemcpyHostToDevice));
    run(exec);
    EXPECT(back[0] == 5 && back[1] == 9 && back[2] == 5);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
}

static void at_rest(int *x, int *back)
{
    int calls = 0;
    unsigned enabled = 9;
    const chain c = new_chain(x, back, &calls);
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, c.graph, 0));
    CHECK(cudaGraphNodeGetEnabled(exec, c.kernel, &enabled));
    EXPECT(enabled == 1);
    CHECK(cudaGraphNodeSetEnabled(exec, c.kernel, 0));
    CHECK(cudaGraphNodeGetEnabled(exec, c.kernel, &enabled));
    EXPECT(enabled == 0);
    run(exec);
    EXPECT(all_are(back, 7) && calls == 1);
    CHECK(cudaGraphNodeSetEnabled(exec, c.kernel, 1));
    CHECK(cudaGraphNodeSetEnabled(exec, c.fill, 0));
    run(exec);
    EXPECT(all_are(back, 10));
    refused(cudaGraphNodeSetEnabled(exec, c.host, 0));
    refused(cudaGraphNodeGetEnabled(exec, c.host, &enabled));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(c.graph));
}

// A graph that waits for what another stream has recorded, and records what that one waits
// for: nothing else orders the two.
static void events(int *x, int *back)
{
    cudaStream_t other, captured;
    cudaEvent_t before, after, event;
    cudaGraph_t graph;
    cudaGraphNode_t wait, kernel, record;
    cudaGraphExec_t exec;
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&captured, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&before, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&after, cudaEventDisableTiming));
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddEventWaitNode(&wait, graph, NULL, 0, before));
    int value = 1;
    void *arguments[] = {&x, &value};
    const struct cudaKernelNodeParams launch = adding(arguments);
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &wait, 1, &launch));
    CHECK(cudaGraphAddEventRecordNode(&record, graph, &kernel, 1, before));
    CHECK(cudaGraphEventRecordNodeSetEvent(record, after));
    CHECK(cudaGraphEventRecordNodeGetEvent(record, &event));
    EXPECT(event == after);
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(wait, &type));
    EXPECT(type == cudaGraphNodeTypeWaitEvent);
    refused(cudaGraphEventRecordNodeSetEvent(wait, after));
    refused(cudaGraphAddEventRecordNode(&record, graph, NULL, 0, NULL));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 1; i <= 2; i++) {
        CHECK(cudaMemsetAsync(x, 0, N * sizeof *x, other));
        CHECK(cudaEventRecord(before, other));
        CHECK(cudaGraphLaunch(exec, captured));
        CHECK(cudaStreamWaitEvent(other, after, 0));
        CHECK(cudaMemcpyAsync(back, x, N * sizeof *x, cudaMemcpyDeviceToHost, other));
        CHECK(cudaStreamSynchronize(other));
        EXPECT(all_are(back, 1));
    }
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));

    // Captured, with the flag that says so.
    size_t nodes = 0;
    CHECK(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamWaitEvent(captured, before, cudaEventWaitExternal));
    CHECK(cudaEventRecordWithFlags(after, captured, cudaEventRecordExternal));
    CHECK(cudaStreamEndCapture(captured, &graph));
    CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
    EXPECT(nodes == 2);
    EXPECT(cudaEventRecordWithFlags(after, captured, cudaEventRecordExternal) ==
           cudaErrorIllegalState);
    EXPECT(cudaStreamWaitEvent(captured, before, cudaEventWaitExternal) ==
           cudaErrorIllegalState);
    EXPECT(cudaGetLastError() == cudaErrorIllegalState);
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(before));
    CHECK(cudaEventDestroy(after));
    CHECK(cudaStreamDestroy(other));
    CHECK(cudaStreamDestroy(captured));
}

static void edges_and_clones(int *x, int *back)
{
    int calls = 0;
    const chain c = new_chain(x, back, &calls);
    cudaGraph_t clone, child, inner;
    cudaGraphNode_t node, part;
    cudaGraphExec_t exec;
    CHECK(cudaGraphClone(&clone, c.graph));
    CHECK(cudaGraphNodeFindInClone(&node, c.host, clone));
    EXPECT(node != c.host);
    refused(cudaGraphNodeFindInClone(&part, c.host, c.graph));
    CHECK(cudaGraphRemoveDependencies(c.graph, &c.copy, &c.host, NULL, 1));
    refused(cudaGraphRemoveDependencies(c.graph, &c.copy, &c.host, NULL, 1));
    CHECK(cudaGraphDestroyNode(c.host));
    size_t count = 0;
    CHECK(cudaGraphGetNodes(c.graph, NULL, &count));
    EXPECT(count == 3);
    CHECK(cudaGraphGetEdges(c.graph, NULL, NULL, NULL, &count));
    EXPECT(count == 2);

    // The graph inside another one: its copy, with new parameters for what is launched.
    CHECK(cudaGraphCreate(&child, 0));
    CHECK(cudaGraphAddChildGraphNode(&part, child, NULL, 0, c.graph));
    CHECK(cudaGraphChildGraphNodeGetGraph(part, &inner));
    EXPECT(inner != c.graph);
    CHECK(cudaGraphInstantiate(&exec, child, 0));
    const struct cudaMemsetParams fill = filling(x, 50);
    CHECK(cudaGraphMemsetNodeSetParams(c.fill, &fill));
    CHECK(cudaGraphExecChildGraphNodeSetParams(exec, part, c.graph));
    run(exec);
    EXPECT(all_are(back, 53) && calls == 0);
    refused(cudaGraphExecChildGraphNodeSetParams(exec, part, clone));
    CHECK(cudaGraphExecDestroy(exec));

    cudaGraphInstantiateParams how = {};
    how.flags = cudaGraphInstantiateFlagUpload | cudaGraphInstantiateFlagAutoFreeOnLaunch;
    CHECK(cudaGraphInstantiateWithParams(&exec, c.graph, &how));
    EXPECT(how.result_out == cudaGraphInstantiateSuccess && how.errNode_out == NULL);
    unsigned long long flags = 0;
    CHECK(cudaGraphExecGetFlags(exec, &flags));
    EXPECT(flags == cudaGraphInstantiateFlagAutoFreeOnLaunch);
    CHECK(cudaGraphExecDestroy(exec));
    how.flags = cudaGraphInstantiateFlagDeviceLaunch; // a kernel cannot call the host
    refused(cudaGraphInstantiateWithParams(&exec, clone, &how));
    EXPECT(how.result_out == cudaGraphInstantiateNodeOperationNotSupported &&
           how.errNode_out == node);
    how.flags = 1024;
    refused(cudaGraphInstantiateWithParams(&exec, c.graph, &how));
    EXPECT(how.result_out == cudaGraphInstantiateError);
    CHECK(cudaGraphDestroy(child));
    CHECK(cudaGraphDestroy(clone));
    CHECK(cudaGraphDestroy(c.graph));
}

static void user_objects()
{
    static int gone; // outlives whoever calls count_up
    cudaUserObject_t object;
    cudaGraph_t graph, clone;
    cudaGraphExec_t exec;
    refused(cudaUserObjectCreate(&object, &gone, count_up, 1, 0));
    refused(cudaUserObjectCreate(&object, &gone, count_up, 0,
                                 cudaUserObjectNoDestructorSync));
    CHECK(cudaUserObjectCreate(&object, &gone, count_up, 1,
                               cudaUserObjectNoDestructorSync));
    CHECK(cudaGraphCreate(&graph, 0));
    refused(cudaGraphRetainUserObject(graph, object, 0, 0));
    CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    CHECK(cudaUserObjectRetain(object, 2));
    CHECK(cudaUserObjectRelease(object, 2));
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphReleaseUserObject(graph, object, 1));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphExecDestroy(exec));
    EXPECT(gone == 0); // the clone needs it
    CHECK(cudaGraphDestroy(clone));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 1000 && *(volatile int *)&gone == 0; i++) usleep(1000);
    EXPECT(*(volatile int *)&gone == 1);
}

static void drawn(int *x, int *back)
{
    char path[] = "/tmp/graph_nodes_XXXXXX", text[8192];
    const int file = mkstemp(path);
    int calls = 0;
    EXPECT(file >= 0);
    const chain c = new_chain(x, back, &calls);
    CHECK(cudaGraphDebugDotPrint(c.graph, path, cudaGraphDebugDotFlagsVerbose));
    CHECK(cudaGraphDebugDotPrint(c.graph, path, 0));
    const ssize_t length = read(file, text, sizeof text - 1);
    EXPECT(length > 0);
    text[length] = '\0';
    close(file);
    unlink(path);
    EXPECT(strncmp(text, "digraph dot {\n", 14) == 0);
    EXPECT(strstr(text, "MEMSET\n(7,64)") && strstr(text, "MEMCPY\n(DtoH,64)"));
    EXPECT(strstr(text, "add") && strstr(text, "HOST"));
    EXPECT(strstr(text, "\"graph_1_node_0\" -> \"graph_1_node_1\";"));
    EXPECT(cudaGraphDebugDotPrint(c.graph, "/nowhere/graph.dot", 0) ==
           cudaErrorOperatingSystem);
    EXPECT(cudaGetLastError() == cudaErrorOperatingSystem);
    CHECK(cudaGraphDestroy(c.graph));
}

int main()
{
    int *x, *y, *back;
    CHECK(cudaMalloc(&x, N * sizeof *x));
    CHECK(cudaMalloc(&y, N * sizeof *y));
    CHECK(cudaMallocHost(&back, N * sizeof *back));
    asked_and_changed(x, y, back);
    to_and_from_variables(back);
    at_rest(x, back);
    events(x, back);
    edges_and_clones(x, back);
    user_objects();
    drawn(x, back);
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaFreeHost(back));
    return pass();
}
