// Graphs that allocate: by nodes, by what is captured, with and without a node that frees.
#include "check.h"

#include <stdint.h>

enum { N = 1000 };

__global__ void square(const int *from, int *to)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < N) to[i] = from[i] * from[i];
}

__global__ void add(int *x, const int *y)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < N) x[i] += y[i];
}

static uint64_t attribute(cudaGraphMemAttributeType which)
{
    uint64_t value = 0;
    CHECK(cudaDeviceGetGraphMemAttribute(0, which, &value));
    return value;
}

static void by_nodes(int *numbers)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t allocated, squared, added, freed;
    cudaMemAllocNodeParams memory = {};
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location.type = cudaMemLocationTypeDevice;
    memory.poolProps.location.id = 0;
    memory.bytesize = N * sizeof(int);

    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemAllocNode(&allocated, graph, NULL, 0, &memory));
    EXPECT(memory.dptr != NULL);
    cudaKernelNodeParams kernel = {};
    kernel.gridDim = dim3(4);
    kernel.blockDim = dim3(256);
    void *square_arguments[] = {&numbers, &memory.dptr},
         *add_arguments[] = {&numbers, &memory.dptr};
    kernel.func = (void *)square;
    kernel.kernelParams = square_arguments;
    CHECK(cudaGraphAddKernelNode(&squared, graph, &allocated, 1, &kernel));
    kernel.func = (void *)add;
    kernel.kernelParams = add_arguments;
    CHECK(cudaGraphAddKernelNode(&added, graph, &squared, 1, &kernel));
    CHECK(cudaGraphAddMemFreeNode(&freed, graph, &added, 1, memory.dptr));

    cudaGraphNodeType type;
    void *pointer = NULL;
    cudaMemAllocNodeParams told;
    CHECK(cudaGraphNodeGetType(allocated, &type));
    EXPECT(type == cudaGraphNodeTypeMemAlloc);
    CHECK(cudaGraphMemAllocNodeGetParams(allocated, &told));
    CHECK(cudaGraphMemFreeNodeGetParams(freed, &pointer));
    EXPECT(told.bytesize == N * sizeof(int) && told.dptr == pointer);

    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    for (int i = 0; i < N; i++) numbers[i] = i % 10;
    for (int launch = 0; launch < 2; launch++) CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) {
        const int once = i % 10 + i % 10 * (i % 10);
        EXPECT(numbers[i] == once + once * once);
    }
    EXPECT(attribute(cudaGraphMemAttrUsedMemCurrent) <=
           attribute(cudaGraphMemAttrReservedMemCurrent));
    EXPECT(attribute(cudaGraphMemAttrUsedMemHigh) >= N * sizeof(int));
    CHECK(cudaDeviceGraphMemTrim(0));
    EXPECT(attribute(cudaGraphMemAttrReservedMemCurrent) == 0);
    CHECK(cudaGraphExecDestroy(exec));
}

/* Memory that a graph leaves is the program's to free, or the next launch's. */
static void captured(int *numbers, bool automatically)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *squares, *passing, got[N];
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&squares, N * sizeof(int), stream));
    CHECK(cudaMallocAsync(&passing, N * sizeof(int), stream));
    EXPECT(squares != passing);
    CHECK(cudaMemcpyAsync(passing, numbers, N * sizeof(int), cudaMemcpyDefault, stream));
    square<<<4, 256, 0, stream>>>(passing, squares);
    CHECK(cudaFreeAsync(passing, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiateWithFlags(
        &exec, graph, automatically ? cudaGraphInstantiateFlagAutoFreeOnLaunch : 0));
    CHECK(cudaGraphDestroy(graph));
    for (int launch = 1; launch <= 3; launch++) {
        for (int i = 0; i < N; i++) numbers[i] = launch * i;
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaMemcpyAsync(got, squares, sizeof got, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < N; i++) EXPECT(got[i] == launch * i * launch * i);
        EXPECT(attribute(cudaGraphMemAttrUsedMemCurrent) >= N * sizeof(int));
        if (automatically) continue;
        EXPECT(cudaGraphLaunch(exec, stream) == cudaErrorInvalidValue);
        EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
        if (launch % 2)
            CHECK(cudaFree(squares));
        else
            CHECK(cudaFreeAsync(squares, stream));
    }
    if (automatically) CHECK(cudaFreeAsync(squares, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaStreamDestroy(stream));
}

int main()
{
    int *numbers;
    CHECK(cudaMallocManaged(&numbers, N * sizeof *numbers));
    by_nodes(numbers);
    captured(numbers, false);
    captured(numbers, true);
    CHECK(cudaFree(numbers));
    return pass();
}
