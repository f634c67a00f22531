// Clusters through CUDA's own functions and through cooperative groups; barriers in two
// steps; what one thread of a group does; how large clusters may be.
// BUILD: -arch=sm_90
#include <cooperative_groups.h>
#include <utility>

#include "check.h"

namespace cg = cooperative_groups;

enum { THREADS = 64, BLOCKS = 8, CLUSTER = 4 };

__global__ void __cluster_dims__(2, 2, 1) places(int *ranks, int *sums, int *calls)
{
    __shared__ int box;
    const cg::cluster_group cluster = cg::this_cluster();
    const cg::grid_group grid = cg::this_grid();
    const cg::thread_block block = cg::this_thread_block();
    const unsigned rank = __clusterRelativeBlockRank();
    const dim3 at = cluster.thread_index(), extent = cluster.dim_threads();

    if (threadIdx.x == 0) box = (int)rank + 1;
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
    const unsigned next = (rank + 1) % __clusterSizeInBlocks();
    int *const other = (int *)__cluster_map_shared_rank(&box, next);
    const bool right =
        *other == (int)next + 1 && __cluster_query_shared_rank(other) == next &&
        __clusterDim().x == 2 && __clusterDim().y == 2 &&
        __clusterGridDimInClusters().x == 2 && __clusterIdx().x == blockIdx.x / 2 &&
        grid.num_clusters() == 2 && grid.dim_clusters().x == 2 &&
        grid.cluster_index().x == blockIdx.x / 2 && extent.x == 2 * THREADS &&
        extent.y == 2 && at.x == blockIdx.x % 2 * THREADS + threadIdx.x &&
        at.y == blockIdx.y;
    auto token = cluster.barrier_arrive();
    if (threadIdx.x == 0 && right)
        ranks[blockIdx.y * gridDim.x + blockIdx.x] =
            (int)(10 * grid.cluster_rank() + rank);
    cluster.barrier_wait(std::move(token));
    cluster.barrier_arrive();
    cluster.barrier_wait();

    __shared__ int values[THREADS];
    values[threadIdx.x] = (int)threadIdx.x;
    auto passed = block.barrier_arrive();
    block.barrier_wait(std::move(passed));
    const auto warp = cg::tiled_partition<32>(block);
    cg::invoke_one(warp, [&](int more) { atomicAdd(calls, more); }, 2);
    if (blockIdx.x + blockIdx.y == 0)
        sums[threadIdx.x] = values[THREADS - 1 - threadIdx.x];
}

__global__ void two_steps(int *numbers)
{
    const cg::grid_group grid = cg::this_grid();
    numbers[grid.thread_rank()] = (int)grid.thread_rank();
    auto token = grid.barrier_arrive();
    grid.barrier_wait(std::move(token));
    const int other = numbers[grid.size() - 1 - grid.thread_rank()];
    grid.sync();
    numbers[grid.thread_rank()] = other;
}

__global__ void count(int *sizes)
{
    if (threadIdx.x == 0) sizes[blockIdx.x] = (int)cg::this_cluster().num_blocks();
}

// How many fit; more than 8 blocks have to be asked for.
static void wide_clusters(int *sizes)
{
    cudaLaunchAttribute cluster;
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 4;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t launch = {};
    launch.gridDim = dim3(16);
    launch.blockDim = dim3(1024);
    launch.attrs = &cluster;
    launch.numAttrs = 1;
    int clusters = 0, single = 0, widest = 0;
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, count, &launch));
    launch.numAttrs = 0;
    CHECK(cudaOccupancyMaxActiveClusters(&single, count, &launch));
    launch.numAttrs = 1;
    EXPECT(clusters > 0 && 4 * clusters <= single);
    CHECK(cudaOccupancyMaxPotentialClusterSize(&widest, count, &launch));
    EXPECT(widest == 8);

    cluster.val.clusterDim.x = 16;
    EXPECT(cudaLaunchKernelEx(&launch, count, sizes) == cudaErrorInvalidClusterSize);
    EXPECT(cudaGetLastError() == cudaErrorInvalidClusterSize);
    CHECK(cudaFuncSetAttribute(count, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    CHECK(cudaOccupancyMaxPotentialClusterSize(&widest, count, &launch));
    CHECK(cudaOccupancyMaxActiveClusters(&clusters, count, &launch));
    EXPECT(widest == 16 && clusters > 0);
    CHECK(cudaLaunchKernelEx(&launch, count, sizes));
    CHECK(cudaDeviceSynchronize());
    EXPECT(sizes[0] == 16 && sizes[15] == 16);
}

int main()
{
    int *ranks, *sums, *calls, *numbers;
    CHECK(cudaMallocManaged(&ranks, BLOCKS * sizeof *ranks));
    CHECK(cudaMallocManaged(&sums, THREADS * sizeof *sums));
    CHECK(cudaMallocManaged(&calls, sizeof *calls));
    CHECK(cudaMallocManaged(&numbers, BLOCKS * THREADS * sizeof *numbers));
    *calls = 0;
    for (int i = 0; i < BLOCKS; i++) ranks[i] = -1;
    places<<<dim3(4, 2), THREADS>>>(ranks, sums, calls);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < BLOCKS; i++)
        EXPECT(ranks[i] == 10 * (i % 4 / 2) + i % 2 + 2 * (i / 4));
    for (int i = 0; i < THREADS; i++) EXPECT(sums[i] == THREADS - 1 - i);
    EXPECT(*calls == 2 * BLOCKS * THREADS / 32);

    void *arguments[] = {&numbers};
    CHECK(cudaLaunchCooperativeKernel((void *)two_steps, BLOCKS, THREADS, arguments));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < BLOCKS * THREADS; i++)
        EXPECT(numbers[i] == BLOCKS * THREADS - 1 - i);
    wide_clusters(numbers);
    CHECK(cudaFree(ranks));
    CHECK(cudaFree(sums));
    CHECK(cudaFree(calls));
    CHECK(cudaFree(numbers));
    return pass();
}
