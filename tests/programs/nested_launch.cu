// BUILD: -rdc=true
// Kernels that launch kernels: what they launch runs when they have ended, and is done when
// the host's synchronization returns. Of two in one stream, the second also comes behind what
// the first has launched; and what is for the tail comes last.
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

__global__ void set(int *x, int value)
{
    *x = value;
}

__global__ void set_by_another(int *x, int value)
{
    set<<<1, 1>>>(x, value);
}

__global__ void times(int *x, int factor)
{
    *x *= factor;
}

__global__ void add(int *x, int value)
{
    *x += value;
}

__global__ void again(int *x, int left)
{
    *x += left;
    if (left > 1) again<<<1, 1, 0, cudaStreamTailLaunch>>>(x, left - 1);
}

__global__ void in_order(int *x)
{
    again<<<1, 1, 0, cudaStreamTailLaunch>>>(x, 500);
    set_by_another<<<1, 1>>>(x, 2);
    times<<<1, 1>>>(x, 10);
    set_by_another<<<1, 1, 0, cudaStreamFireAndForget>>>(x + 1, 7);
    add<<<1, 1>>>(x, 1);
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

    in_order<<<1, 1>>>(sums);
    CHECK(cudaDeviceSynchronize());
    EXPECT(sums[0] == 21 + 500 * 501 / 2 && sums[1] == 7);
    CHECK(cudaFree(sums));
    return pass();
}
