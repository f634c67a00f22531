// A graph allocates, and frees before the last of its kernels that use the memory.
// EXPECT: use after free
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 7;
}

__global__ void sum(const int *data, int n, int *total)
{
    int all = 0;
    for (int i = 0; i < n; i++) all += data[i]; // FAULT
    *total = all;
}

int main(void)
{
    int n = 100, *total;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t allocating, filling, summing, freeing;
    cudaMalloc(&total, sizeof *total);
    cudaMemAllocNodeParams memory = {};
    memory.poolProps.allocType = cudaMemAllocationTypePinned;
    memory.poolProps.location.type = cudaMemLocationTypeDevice;
    memory.bytesize = (size_t)n * sizeof(int);
    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemAllocNode(&allocating, graph, NULL, 0, &memory);
    void *fill_arguments[] = {&memory.dptr},
         *sum_arguments[] = {&memory.dptr, &n, &total};
    cudaKernelNodeParams first = {}, second = {};
    first.func = (void *)fill;
    first.gridDim = dim3(1);
    first.blockDim = dim3((unsigned)n);
    first.kernelParams = fill_arguments;
    second.func = (void *)sum;
    second.gridDim = second.blockDim = dim3(1);
    second.kernelParams = sum_arguments;
    cudaGraphAddKernelNode(&filling, graph, &allocating, 1, &first);
#ifdef FIXED
    cudaGraphAddKernelNode(&summing, graph, &filling, 1, &second);
    cudaGraphAddMemFreeNode(&freeing, graph, &summing, 1, memory.dptr);
#else
    cudaGraphAddMemFreeNode(&freeing, graph, &filling, 1, memory.dptr);
    cudaGraphAddKernelNode(&summing, graph, &freeing, 1, &second);
#endif
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    const int status = finish();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaFree(total);
    return status;
}
