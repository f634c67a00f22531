// Graphs whose nodes run or do not, by what kernels before them have found: if, while, switch;
// and graphs captured into others.
#include "check.h"

__global__ void ask(const int *x, cudaGraphConditionalHandle condition)
{
    cudaGraphSetConditional(condition, unsigned(*x));
}

__global__ void add(int *x, int by)
{
    *x += by;
}

__global__ void count_down(int *x, int *rounds, cudaGraphConditionalHandle condition)
{
    ++*rounds;
    cudaGraphSetConditional(condition, unsigned(--*x));
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t after, void *kernel,
                                  void **arguments)
{
    cudaGraphNode_t node;
    cudaGraphNodeParams what = {};
    what.type = cudaGraphNodeTypeKernel;
    what.kernel.func = kernel;
    what.kernel.gridDim = what.kernel.blockDim = dim3(1);
    what.kernel.kernelParams = arguments;
    CHECK(cudaGraphAddNode(&node, graph, &after, nullptr, after ? 1 : 0, &what));
    return node;
}

// The node's graphs.
static cudaGraph_t *add_condition(cudaGraph_t graph, cudaGraphNode_t after,
                                  cudaGraphConditionalHandle condition,
                                  cudaGraphConditionalNodeType type, unsigned size)
{
    cudaGraphNode_t node;
    cudaGraphNodeParams what = {};
    what.type = cudaGraphNodeTypeConditional;
    what.conditional.handle = condition;
    what.conditional.type = type;
    what.conditional.size = size;
    CHECK(cudaGraphAddNode(&node, graph, &after, nullptr, after ? 1 : 0, &what));
    cudaGraphNodeType its;
    CHECK(cudaGraphNodeGetType(node, &its));
    EXPECT(its == cudaGraphNodeTypeConditional);
    return what.conditional.phGraph_out;
}

// What `out` is after a launch where `x` was `value`.
static int result(cudaGraphExec_t exec, int *d_x, int *d_out, int value)
{
    int out = 0;
    CHECK(cudaMemcpy(d_x, &value, sizeof value, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_out, 0, sizeof out));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost));
    return out;
}

static void choose(int *d_x, int *d_out, cudaGraphConditionalNodeType type, unsigned size,
                   const int (&want)[4])
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle condition;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphConditionalHandleCreate(&condition, graph));
    void *asked[] = {&d_x, &condition};
    const cudaGraphNode_t first = add_kernel(graph, nullptr, (void *)ask, asked);
    cudaGraph_t *const bodies = add_condition(graph, first, condition, type, size);
    for (unsigned i = 0; i < size; i++) {
        int by = 10 + int(i);
        void *arguments[] = {&d_out, &by};
        add_kernel(bodies[i], nullptr, (void *)add, arguments);
    }
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    for (int value = 0; value < 4; value++)
        EXPECT(result(exec, d_x, d_out, value) == want[value]);
    CHECK(cudaGraphExecDestroy(exec));
}

// A loop in a captured stream, whose body is captured, too. It begins anew at each launch.
static void loop(int *d_x, int *d_out)
{
    cudaStream_t stream;
    cudaGraph_t graph, whole;
    cudaGraphExec_t exec;
    cudaGraphConditionalHandle condition;
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *after;
    size_t count;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<1, 1, 0, stream>>>(d_out, 100);
    CHECK(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &after, nullptr,
                                   &count));
    EXPECT(status == cudaStreamCaptureStatusActive && count == 1);
    CHECK(cudaGraphConditionalHandleCreate(&condition, graph, 1,
                                           cudaGraphCondAssignDefault));
    cudaGraphNode_t node;
    cudaGraphNodeParams what = {};
    what.type = cudaGraphNodeTypeConditional;
    what.conditional.handle = condition;
    what.conditional.type = cudaGraphCondTypeWhile;
    what.conditional.size = 1;
    CHECK(cudaGraphAddNode(&node, graph, after, nullptr, count, &what));
    CHECK(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1,
                                              cudaStreamSetCaptureDependencies));
    add<<<1, 1, 0, stream>>>(d_out, 1000);
    CHECK(cudaStreamEndCapture(stream, &whole));
    EXPECT(whole == graph);
    CHECK(cudaStreamBeginCaptureToGraph(stream, what.conditional.phGraph_out[0], nullptr,
                                        nullptr, 0, cudaStreamCaptureModeGlobal));
    count_down<<<1, 1, 0, stream>>>(d_x, d_out, condition);
    CHECK(cudaStreamEndCapture(stream, nullptr));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int value = 1; value < 8; value += 3)
        EXPECT(result(exec, d_x, d_out, value) == 1100 + value);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
}

int main()
{
    int *d_x, *d_out;
    CHECK(cudaMalloc(&d_x, sizeof *d_x));
    CHECK(cudaMalloc(&d_out, sizeof *d_out));
    choose(d_x, d_out, cudaGraphCondTypeIf, 1, {0, 10, 10, 10});
    choose(d_x, d_out, cudaGraphCondTypeIf, 2, {11, 10, 10, 10});
    choose(d_x, d_out, cudaGraphCondTypeSwitch, 3, {10, 11, 12, 0});
    loop(d_x, d_out);
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_out));
    return pass();
}
