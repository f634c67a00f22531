// BUILD: -arch=sm_90
// Blocks of a cluster that use each other's shared memory, and how each knows that the others
// are done with its own when it ends.
#include "check.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

enum { N = 64, CLUSTERS = 3 };

#define PAIR __cluster_dims__(2, 1, 1)
#define ARRIVE asm volatile("barrier.cluster.arrive.release;" ::: "memory")
#define ARRIVE_RELAXED asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory")
#define WAIT asm volatile("barrier.cluster.wait.acquire;" ::: "memory")

__device__ static unsigned at(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ static void start(uint64_t *barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(barrier)),
                 "r"(arrivals));
}

__device__ static void arrive_at(uint64_t *barrier, int block)
{
    asm volatile("{\n"
                 ".reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n"
                 "}" ::"r"(at(barrier)),
                 "r"(block)
                 : "memory");
}

__device__ static void wait_for(uint64_t *barrier)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "AGAIN:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
                 "@!done bra AGAIN;\n"
                 "}" ::"r"(at(barrier))
                 : "memory");
}

// The barrier hands nothing over, and yet all have come.
__global__ void PAIR relaxed(int *out)
{
    __shared__ int own[N];
    const cg::cluster_group cluster = cg::this_cluster();
    own[threadIdx.x] = threadIdx.x;
    cluster.sync();
    out[blockIdx.x * N + threadIdx.x] =
        cluster.map_shared_rank(own, cluster.block_rank() ^ 1)[N - 1 - threadIdx.x];
    ARRIVE_RELAXED;
    WAIT;
}

// Threads that have ended are not waited for: their end counts.
__global__ void PAIR some_end(int *out)
{
    __shared__ int own[N];
    const cg::cluster_group cluster = cg::this_cluster();
    own[threadIdx.x] = threadIdx.x;
    cluster.sync();
    if (cluster.block_rank() == 1) {
        out[blockIdx.x * N + threadIdx.x] =
            cluster.map_shared_rank(own, 0)[N - 1 - threadIdx.x];
        return;
    }
    out[blockIdx.x * N + threadIdx.x] = N - 1 - threadIdx.x;
    ARRIVE;
    WAIT;
}

// All lanes have read when one of them has their sum, and tells.
__global__ void PAIR one_lane_tells(int *out)
{
    __shared__ int own[N];
    __shared__ uint64_t told;
    const cg::cluster_group cluster = cg::this_cluster();
    own[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) start(&told, N / 32);
    cluster.sync();
    out[blockIdx.x * N + threadIdx.x] = N - 1 - threadIdx.x;
    if (cluster.block_rank() == 0) {
        wait_for(&told);
        return;
    }
    int sum = cluster.map_shared_rank(own, 0)[threadIdx.x];
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(~0u, sum, lanes);
    if (threadIdx.x % 32 == 0) {
        if (sum != (threadIdx.x ? 32 * 32 : 0) + 31 * 16) out[blockIdx.x * N] = -1;
        arrive_at(&told, 0);
    }
}

// The owner counts who has come, by atomics.
__global__ void PAIR counted(int *out)
{
    __shared__ int count;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) count = 0;
    cluster.sync();
    out[blockIdx.x * N + threadIdx.x] = N - 1 - threadIdx.x;
    if (threadIdx.x > 0) return;
    for (int block = 0; block < 2; block++)
        atomicAdd(cluster.map_shared_rank(&count, block), 1);
    while (atomicAdd(&count, 0) < 2);
}

// No cluster at all, behind one.
__global__ void plain(int *out)
{
    __shared__ int own[N];
    own[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = own[N - 1 - threadIdx.x];
}

int main(void)
{
    static int result[2 * CLUSTERS * N];
    void (*const kernels[])(int *) = {relaxed, some_end, one_lane_tells, counted, plain};
    int *out;
    CHECK(cudaMalloc(&out, sizeof result));
    for (auto kernel : kernels) {
        CHECK(cudaMemset(out, 0, sizeof result));
        kernel<<<2 * CLUSTERS, N>>>(out);
        CHECK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 2 * CLUSTERS * N; i++) EXPECT(result[i] == N - 1 - i % N);
    }
    CHECK(cudaFree(out));
    return pass();
}
