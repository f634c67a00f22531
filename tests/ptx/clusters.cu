// Blocks of a cluster: who they are, their barrier, each other's shared memory, mbarriers of
// another block, copies to several blocks at once.
#include "ptx.h"

#include <cooperative_groups.h>
#include <cuda.h>

static __device__ unsigned address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ void sync_cluster(void)
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
}

static __device__ unsigned rank_of_block(void)
{
    unsigned r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}

static __device__ unsigned in_block(unsigned shared, unsigned rank)
{
    unsigned r;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(r)
                 : "r"(shared), "r"(rank));
    return r;
}

static __device__ void wait(unsigned b, unsigned parity)
{
    unsigned p;
    do
        asm volatile(
            "{.reg .pred p;\n"
            "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
            "selp.u32 %0, 1, 0, p;}"
            : "=r"(p)
            : "r"(b), "r"(parity)
            : "memory");
    while (!p);
}

__global__ void __cluster_dims__(2, 2) places(void)
{
    unsigned x, y, nx, ny, cx, blocks, clusters, explicit_one;
    asm("mov.u32 %0, %%cluster_ctaid.x; mov.u32 %1, %%cluster_ctaid.y;\n"
        "mov.u32 %2, %%cluster_nctaid.x; mov.u32 %3, %%cluster_nctaid.y;\n"
        "mov.u32 %4, %%clusterid.x; mov.u32 %5, %%cluster_nctarank;\n"
        "mov.u32 %6, %%nclusterid.x;\n"
        "{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %7, 1, 0, p;}"
        : "=r"(x), "=r"(y), "=r"(nx), "=r"(ny), "=r"(cx), "=r"(blocks), "=r"(clusters),
          "=r"(explicit_one));
    IS(x, blockIdx.x % 2);
    IS(y, blockIdx.y % 2);
    IS(nx * 10 + ny, 22);
    IS(cx, blockIdx.x / 2);
    IS(blocks, 4);
    IS(clusters, gridDim.x / 2);
    IS(explicit_one, 1);
    IS(rank_of_block(), x + 2 * y);
}

// Every block writes into the next one's memory, and reads what it got.
__global__ void __cluster_dims__(4, 1, 1) neighbours(void)
{
    __shared__ unsigned box[32], count;
    extern __shared__ unsigned more[];
    const unsigned rank = rank_of_block(), next = (rank + 1) % 4, before = (rank + 3) % 4;
    const unsigned t = threadIdx.x;
    box[t] = 1000;
    more[t] = rank;
    if (t == 0) count = 0;
    sync_cluster();
    asm volatile(
        "st.shared::cluster.u32 [%0], %1;" ::"r"(in_block(address(&box[t]), next)),
        "r"(100 * rank + t)
        : "memory");
    unsigned theirs, owner;
    asm volatile("ld.shared::cluster.u32 %0, [%1];"
                 : "=r"(theirs)
                 : "r"(in_block(address(&more[t]), next)));
    IS(theirs, next);
    asm volatile(
        "red.shared::cluster.add.u32 [%0], 1;" ::"r"(in_block(address(&count), 0))
        : "memory");
    unsigned long long generic;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(&more[t]), "r"(before));
    asm volatile("getctarank.u64 %0, %1;" : "=r"(owner) : "l"(generic));
    IS(owner, before);
    IS(*(unsigned *)generic, before);
    asm volatile("getctarank.shared::cluster.u32 %0, %1;"
                 : "=r"(owner)
                 : "r"(in_block(address(box), 3)));
    IS(owner, 3);
    sync_cluster();
    IS(box[t], 100 * before + t);
    if (rank == 0) IS(count, 4 * blockDim.x);
}

// Arrivals at, and bytes for, a barrier of block 0.
__global__ void arrivals(void)
{
    __shared__ __align__(8) unsigned long long barrier[2];
    __shared__ __align__(16) unsigned box[4], sum;
    const unsigned rank = rank_of_block(), b = address(barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n"
                     "mbarrier.init.shared::cta.b64 [%0 + 8], 1;\n"
                     "fence.mbarrier_init.release.cluster;" ::"r"(b),
                     "r"(2)
                     : "memory");
        sum = 0;
    }
    sync_cluster();
    if (rank == 0 && threadIdx.x == 0)
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 24;" ::"r"(b + 8)
                     : "memory");
    if (threadIdx.x == 0)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                         in_block(b, 0))
                     : "memory");
    if (rank == 1 && threadIdx.x == 0)
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32"
            " [%0], {1, 2, 3, %3}, [%2];\n"
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes"
            ".add.u32 [%1], 5, [%2];\n"
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes"
            ".add.u32 [%1], 6, [%2];" ::"r"(in_block(address(box), 0)),
            "r"(in_block(address(&sum), 0)), "r"(in_block(b + 8, 0)), "r"(4)
            : "memory");
    if (rank == 0) {
        wait(b, 0);
        wait(b + 8, 0);
        IS(box[0] + 10 * box[1] + 100 * box[2] + 1000 * box[3], 4321);
        IS(sum, 11);
    }
    sync_cluster();
}

// One block brings half a box for both; the other brings the other half.
__global__ void __cluster_dims__(2)
    multicast(const __grid_constant__ CUtensorMap map, const unsigned *data)
{
    __shared__ __align__(128) unsigned box[4][32];
    __shared__ __align__(8) unsigned long long barrier;
    const unsigned rank = rank_of_block(), b = address(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                     "fence.mbarrier_init.release.cluster;" ::"r"(b)
                     : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b),
                     "r"(512)
                     : "memory");
    }
    sync_cluster();
    if (threadIdx.x == 0 && rank == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global"
                     ".mbarrier::complete_tx::bytes.multicast::cluster"
                     " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(address(box)),
                     "l"(&map), "r"(b), "r"(0), "r"(0), "h"((unsigned short)3)
                     : "memory");
    if (threadIdx.x == 0 && rank == 1)
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
            ".multicast::cluster [%0], [%1], 256, [%2], %3;" ::"r"(address(box[2])),
            "l"(data + 64), "r"(b), "h"((unsigned short)3)
            : "memory");
    wait(b, 0);
    for (unsigned row = 0; row < 4; row++)
        IS(box[row][threadIdx.x], 32 * row + threadIdx.x);
    // And from block to block.
    sync_cluster();
    if (threadIdx.x == 0) {
        if (rank == 1)
            asm volatile(
                "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(b)
                : "memory");
        box[3][5] = 77;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    sync_cluster();
    if (threadIdx.x == 0 && rank == 0)
        asm volatile(
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
            " [%0], [%1], 128, [%2];" ::"r"(in_block(address(box[0]), 1)),
            "r"(address(box[3])), "r"(in_block(b, 1))
            : "memory");
    if (rank == 1) {
        wait(b, 1);
        IS(box[0][5], 77);
    }
    sync_cluster();
}

// The same in CUDA's own words.
__global__ void groups(void)
{
    __shared__ unsigned box;
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    const unsigned rank = cluster.block_rank();
    IS(cluster.num_blocks(), 2);
    IS(cluster.dim_blocks().y, 2);
    IS(cluster.block_index().y, blockIdx.y % 2);
    IS(cluster.num_threads(), 2 * blockDim.x);
    IS(cluster.thread_rank(), rank * blockDim.x + threadIdx.x);
    if (threadIdx.x == 0) box = rank;
    cluster.sync();
    IS(*cluster.map_shared_rank(&box, rank ^ 1), rank ^ 1);
    IS(cluster.query_shared_rank(cluster.map_shared_rank(&box, 1)), 1);
    cluster.sync();
}

typedef CUresult encode_tiled(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                              const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                              const cuuint32_t *, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion,
                              CUtensorMapFloatOOBfill);

static CUtensorMap map_of(unsigned *data)
{
    void *found;
    enum cudaDriverEntryPointQueryResult how;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                     cudaEnableDefault, &how);
    const cuuint64_t dims[2] = {32, 4}, strides[1] = {128};
    const cuuint32_t box[2] = {32, 2}, steps[2] = {1, 1};
    CUtensorMap map;
    memset(&map, 0, sizeof map);
    ((encode_tiled *)found)(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, data, dims, strides,
                            box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                            CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map;
}

int main(void)
{
    unsigned numbers[128], *data;
    for (unsigned i = 0; i < 128; i++) numbers[i] = i;
    cudaMalloc(&data, sizeof numbers);
    cudaMemcpy(data, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    places<<<dim3(4, 2), 32>>>();
    neighbours<<<8, 32, 128>>>();
    neighbours<<<4, 32, 128>>>();
    multicast<<<2, 32>>>(map_of(data), data);
    if (cudaGetLastError() != cudaSuccess) printf("a launch was refused\n");

    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[1] = {};
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = 2;
    attribute[0].val.clusterDim.y = 1;
    attribute[0].val.clusterDim.z = 1;
    config.gridDim = dim3(4);
    config.blockDim = dim3(64);
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaError_t error = cudaLaunchKernelEx(&config, arrivals);
    attribute[0].val.clusterDim.x = 1;
    attribute[0].val.clusterDim.y = 2;
    config.gridDim = dim3(3, 4);
    if (error == cudaSuccess) error = cudaLaunchKernelEx(&config, groups);
    if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));
    config.gridDim = dim3(3, 3); // no whole number of clusters
    if (cudaLaunchKernelEx(&config, groups) == cudaSuccess) printf("it was launched\n");
    cudaGetLastError();
    const int status = verdict();
    cudaFree(data);
    return status;
}
