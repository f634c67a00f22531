// What a program sets for streams, launches and the kernels of graphs it can ask for again; of
// a graph's kernel the cluster counts, too.
// BUILD: -arch=sm_90
#include "check.h"
#include <cooperative_groups.h>

__global__ void rank_in_cluster(unsigned *out)
{
    if (threadIdx.x == 0)
        out[blockIdx.x] = cooperative_groups::this_cluster().block_rank();
}

static void streams()
{
    cudaStream_t stream, other;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&other));
    float *data;
    CHECK(cudaMalloc(&data, 4096));
    cudaStreamAttrValue value = {}, got = {};
    value.accessPolicyWindow.base_ptr = data;
    value.accessPolicyWindow.num_bytes = 4096;
    value.accessPolicyWindow.hitRatio = 0.5f;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
    CHECK(cudaStreamCopyAttributes(other, stream));
    CHECK(cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &got));
    EXPECT(got.accessPolicyWindow.base_ptr == data);
    EXPECT(got.accessPolicyWindow.hitProp == cudaAccessPropertyPersisting);

    CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &got));
    EXPECT(got.syncPolicy == cudaSyncPolicyAuto);
    value.syncPolicy = cudaSyncPolicyBlockingSync;
    CHECK(
        cudaStreamSetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &value));
    CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &got));
    EXPECT(got.syncPolicy == cudaSyncPolicyBlockingSync);

    value.memSyncDomain = cudaLaunchMemSyncDomainRemote;
    CHECK(cudaStreamSetAttribute(stream, cudaLaunchAttributeMemSyncDomain, &value));
    EXPECT(cudaStreamGetAttribute(stream, cudaStreamAttributeMemSyncDomain, nullptr) ==
           cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaFree(data));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(other));
}

static void kernels_of_graphs()
{
    enum { BLOCKS = 8 };
    unsigned *out, ranks[BLOCKS];
    CHECK(cudaMalloc(&out, sizeof ranks));
    cudaGraph_t graph;
    cudaGraphNode_t node, twin;
    CHECK(cudaGraphCreate(&graph, 0));
    void *arguments[] = {&out};
    cudaKernelNodeParams kernel = {};
    kernel.func = (void *)rank_in_cluster;
    kernel.gridDim = dim3(BLOCKS);
    kernel.blockDim = dim3(32);
    kernel.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel));
    CHECK(cudaGraphAddKernelNode(&twin, graph, &node, 1, &kernel));

    cudaKernelNodeAttrValue value = {}, got = {};
    CHECK(
        cudaGraphKernelNodeGetAttribute(node, cudaKernelNodeAttributeCooperative, &got));
    EXPECT(got.cooperative == 0);
    value.clusterDim.x = 4;
    value.clusterDim.y = value.clusterDim.z = 1;
    CHECK(cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributeClusterDimension,
                                          &value));
    CHECK(cudaGraphKernelNodeCopyAttributes(twin, node));
    CHECK(cudaGraphKernelNodeGetAttribute(twin, cudaKernelNodeAttributeClusterDimension,
                                          &got));
    EXPECT(got.clusterDim.x == 4 && got.clusterDim.z == 1);
    value = {};
    value.accessPolicyWindow.base_ptr = out;
    value.accessPolicyWindow.num_bytes = sizeof ranks;
    value.accessPolicyWindow.hitRatio = 1.0f;
    CHECK(cudaGraphKernelNodeSetAttribute(node, cudaKernelNodeAttributeAccessPolicyWindow,
                                          &value));
    CHECK(cudaGraphKernelNodeGetAttribute(node, cudaKernelNodeAttributeAccessPolicyWindow,
                                          &got));
    EXPECT(got.accessPolicyWindow.base_ptr == out);

    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, 0));
    CHECK(cudaMemcpy(ranks, out, sizeof ranks, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BLOCKS; i++) EXPECT(ranks[i] == i % 4u);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaFree(out));
}

int main()
{
    streams();
    kernels_of_graphs();
    return pass();
}
