// A graph has two kernels that touch the same memory, and no edge between them.
// EXPECT: a kernel in another stream wrote it at
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 7; // OTHER
}

__global__ void sum(const int *data, int n, int *total)
{
    int all = 0;
    for (int i = 0; i < n; i++) all += data[i]; // FAULT
    *total = all;
}

int main(void)
{
    int n = 100, *data, *total;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t filling, summing;
    cudaMalloc(&data, (size_t)n * sizeof *data);
    cudaMalloc(&total, sizeof *total);
    void *fill_arguments[] = {&data}, *sum_arguments[] = {&data, &n, &total};
    struct cudaKernelNodeParams first = {}, second = {};
    first.func = (void *)fill;
    first.gridDim = dim3(1);
    first.blockDim = dim3((unsigned)n);
    first.kernelParams = fill_arguments;
    second.func = (void *)sum;
    second.gridDim = second.blockDim = dim3(1);
    second.kernelParams = sum_arguments;
    cudaGraphCreate(&graph, 0);
    cudaGraphAddKernelNode(&filling, graph, NULL, 0, &first);
#ifdef FIXED
    cudaGraphAddKernelNode(&summing, graph, &filling, 1, &second);
#else
    cudaGraphAddKernelNode(&summing, graph, NULL, 0, &second);
#endif
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, 0);
    const int status = finish();
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaFree(data);
    cudaFree(total);
    return status;
}
