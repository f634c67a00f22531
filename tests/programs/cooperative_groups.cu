// Cooperative groups: the block, tiles of a warp, shuffles and votes of a tile,
// reductions.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__device__ int tile_sum(cg::thread_block_tile<8> tile, int v)
{
    for (int i = tile.size() / 2; i > 0; i /= 2) v += tile.shfl_down(v, i);
    return v;
}

template <typename Group> __device__ int rank_plus_size(const Group &group)
{
    return (int)(group.thread_rank() * 1000 + group.size());
}

__global__ void work(int *sums, int *ranks, int *reduced, unsigned *ballots)
{
    __shared__ int total;
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> eight = cg::tiled_partition<8>(block);
    auto warp = cg::tiled_partition<32>(block);
    const unsigned i = block.thread_rank();

    if (i == 0) total = 0;
    block.sync();
    const int sum = tile_sum(eight, (int)i);
    if (eight.thread_rank() == 0) {
        sums[i / 8] = sum;
        atomicAdd(&total, sum);
    }
    cg::sync(block);
    if (warp.thread_rank() == 0) sums[block.size() / 8 + warp.meta_group_rank()] = total;

    ranks[i] = rank_plus_size(block) + rank_plus_size(eight);
    reduced[i] = cg::reduce(warp, (int)i, cg::plus<int>()) +
                 cg::reduce(eight, (int)i, cg::greater<int>());
    ballots[i] = eight.ballot(i % 3 == 0) | (unsigned)eight.any(i == 5) << 16 |
                 (unsigned)eight.all(i < 8) << 17;
    warp.sync();
    cg::thread_group half = cg::tiled_partition(block, 16);
    ranks[i] += (int)half.thread_rank() * 1000000;
}

int main(void)
{
    const int n = 96;
    int *sums, *ranks, *reduced;
    unsigned *ballots;
    CHECK(cudaMallocManaged(&sums, (n / 8 + n / 32) * sizeof(int)));
    CHECK(cudaMallocManaged(&ranks, n * sizeof(int)));
    CHECK(cudaMallocManaged(&reduced, n * sizeof(int)));
    CHECK(cudaMallocManaged(&ballots, n * sizeof(unsigned)));
    work<<<1, dim3(16, 6)>>>(sums, ranks, reduced, ballots);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < n / 8; t++) EXPECT(sums[t] == 64 * t + 28);
    for (int w = 0; w < n / 32; w++) EXPECT(sums[n / 8 + w] == n * (n - 1) / 2);
    for (int i = 0; i < n; i++) {
        EXPECT(ranks[i] == i * 1000 + n + i % 8 * 1000 + 8 + i % 16 * 1000000);
        EXPECT(reduced[i] == i / 32 * 32 * 32 + 31 * 16 + (i / 8 * 8 + 7));
        unsigned want = 0;
        for (int b = 0; b < 8; b++) want |= (unsigned)((i / 8 * 8 + b) % 3 == 0) << b;
        want |= (unsigned)(i < 8) << 16 | (unsigned)(i < 8) << 17;
        EXPECT(ballots[i] == want);
    }
    CHECK(cudaFree(sums));
    CHECK(cudaFree(ranks));
    CHECK(cudaFree(reduced));
    CHECK(cudaFree(ballots));
    return pass();
}
