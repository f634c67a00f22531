// <cuda/ptx>: mbarriers, fences and the copy engine by C++ names, in one block and between the
// two of a cluster; special registers. <cuda/std/bit>, <cuda/std/optional> and others that a
// kernel may use.
// BUILD: -arch=sm_90
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda/std/bit>
#include <cuda/std/optional>
#include <cuda/std/variant>

#include "check.h"

namespace ptx = cuda::ptx;
namespace cg = cooperative_groups;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

#ifdef __NVCC__
#pragma nv_diag_suppress static_var_with_dynamic_init
#endif

enum { N = 256, THREADS = 64 };

/* A row comes, is added to, and goes back. */
__global__ void by_barrier(int *data, int first)
{
    __shared__ alignas(16) int row[N];
    __shared__ block_barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, THREADS);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    block_barrier::arrival_token token;
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, row, data + first,
                           sizeof row, cuda::device::barrier_native_handle(bar));
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof row);
    } else
        token = bar.arrive();
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < N; i += THREADS) row[i]++;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, data + first, row,
                           sizeof row);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    }
}

/* Two stages with barriers of their own. */
__global__ void by_stages(const int *in, int *out, int rows)
{
    __shared__ alignas(128) int stage[2][N];
    __shared__ uint64_t full[2];
    const bool leader = ptx::get_sreg_tid_x() == 0;
    if (leader) {
        for (auto &b : full) ptx::mbarrier_init(&b, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    __syncthreads();
    for (int r = -1; r < rows; r++) {
        const int next = r + 1, s = next % 2;
        if (leader && next < rows) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta,
                                           ptx::space_shared, &full[s], N * sizeof(int));
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stage[s],
                               in + next * N, N * sizeof(int), &full[s]);
        }
        if (r < 0) continue;
        while (!ptx::mbarrier_try_wait_parity(&full[r % 2], r / 2 % 2)) continue;
        for (int i = threadIdx.x; i < N; i += THREADS)
            out[r * N + i] = 2 * stage[r % 2][N - 1 - i];
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
    }
}

/* Each block of a cluster tells the other. */
__global__ void __cluster_dims__(2) in_cluster(unsigned *out)
{
    __shared__ uint64_t bar;
    __shared__ unsigned told;
    const auto cluster = cg::this_cluster();
    const unsigned rank = ptx::get_sreg_cluster_ctarank();
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    ptx::barrier_cluster_arrive(ptx::sem_release);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
    if (threadIdx.x == 0) {
        *cluster.map_shared_rank(&told, rank ^ 1) = 10 + rank;
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                             cluster.map_shared_rank(&bar, rank ^ 1));
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &bar, 0))
        continue;
    out[blockIdx.x * THREADS + threadIdx.x] = told + ptx::get_sreg_laneid();
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
}

__global__ void others(int *out, float *sum)
{
    cuda::atomic_ref<float, cuda::thread_scope_device> total(*sum);
    total.fetch_add(0.5f);
    total -= 0.25f;
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int first =
        cg::invoke_one_broadcast(warp, [&] { return (int)threadIdx.x + 7; });
    cuda::std::optional<int> none;
    cuda::std::variant<int, float> either = 2.5f;
    if (threadIdx.x == 32) none = 1;
    out[threadIdx.x] = first + none.value_or(0) + (int)either.index() +
                       cuda::std::popcount(255u) + cuda::std::countl_zero(1u) +
                       (int)cuda::std::bit_ceil(33u) + (int)cuda::std::rotl(1u << 31, 2) +
                       cuda::std::bit_cast<int>(1.0f) / 0x3f800000;
}

int main()
{
    int *data, *result;
    unsigned *said;
    float *sum;
    CHECK(cudaMallocManaged(&data, 4 * N * sizeof *data));
    CHECK(cudaMallocManaged(&result, 4 * N * sizeof *result));
    CHECK(cudaMallocManaged(&said, 2 * THREADS * sizeof *said));
    CHECK(cudaMallocManaged(&sum, sizeof *sum));
    for (int i = 0; i < 4 * N; i++) data[i] = i;
    by_barrier<<<1, THREADS>>>(data, N);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4 * N; i++) EXPECT(data[i] == i + (i / N == 1));
    by_stages<<<1, THREADS>>>(data, result, 4);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 4 * N; i++)
        EXPECT(result[i] == 2 * data[i / N * N + N - 1 - i % N]);
    in_cluster<<<2, THREADS>>>(said);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 2 * THREADS; i++) EXPECT(said[i] == 11u - i / THREADS + i % 32);
    *sum = 0;
    others<<<1, THREADS>>>(result, sum);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*sum == 0.25f * THREADS);
    for (int i = 0; i < THREADS; i++)
        EXPECT(result[i] == i / 32 * 32 + 7 + (i == 32) + 1 + 8 + 31 + 64 + 2 + 1);
    CHECK(cudaFree(data));
    CHECK(cudaFree(result));
    CHECK(cudaFree(said));
    CHECK(cudaFree(sum));
    return pass();
}
