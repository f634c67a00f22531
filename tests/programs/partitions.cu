// Cooperative groups made of the lanes that have something in common.
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void partition(int *sizes, int *ranks, int *odd)
{
    const cg::coalesced_group active = cg::coalesced_threads();
    const int i = threadIdx.x;
    const cg::coalesced_group same = cg::labeled_partition(active, i % 3);
    sizes[i] = (int)same.size();
    ranks[i] = (int)same.thread_rank();
    const cg::thread_block_tile<32> warp =
        cg::tiled_partition<32>(cg::this_thread_block());
    const cg::coalesced_group half = cg::binary_partition(warp, i & 1);
    odd[i] = half.shfl(i, 0) * 100 + (int)half.size();
}

int main()
{
    int *sizes, *ranks, *odd;
    CHECK(cudaMallocManaged(&sizes, 32 * sizeof *sizes));
    CHECK(cudaMallocManaged(&ranks, 32 * sizeof *ranks));
    CHECK(cudaMallocManaged(&odd, 32 * sizeof *odd));
    partition<<<1, 32>>>(sizes, ranks, odd);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) {
        EXPECT(sizes[i] == (i % 3 == 2 ? 10 : 11) && ranks[i] == i / 3);
        EXPECT(odd[i] == (i & 1) * 100 + 16);
    }
    CHECK(cudaFree(sizes));
    CHECK(cudaFree(ranks));
    CHECK(cudaFree(odd));
    return pass();
}
