// BUILD: -rdc=true
// Kernels that launch kernels: what they launch runs when they have ended, and is done when
// the host's synchronization returns.
#include "check.h"

__global__ void leaf(int *sums, int node, int value)
{
    atomicAdd(&sums[node], value + (int)threadIdx.x);
}

__global__ void tree(int *sums, int node, int nodes)
{
    if (threadIdx.x > 0) return;
    leaf<<<1, 4>>>(sums, node, node);
    for (int child = 2 * node + 1; child <= 2 * node + 2; child++)
        if (child < nodes) tree<<<1, 32>>>(sums, child, nodes);
}

int main()
{
    const int nodes = 25;
    int *sums;
    CHECK(cudaMallocManaged(&sums, nodes * sizeof *sums));
    for (int i = 0; i < nodes; i++) sums[i] = 0;
    tree<<<1, 32>>>(sums, 0, nodes);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < nodes; i++) EXPECT(sums[i] == 4 * i + 6);
    CHECK(cudaFree(sums));
    return pass();
}
