// A block of a cluster reads another's shared memory, and that one does not stay for it.
// Here it happens to end later.
// EXPECT: shared memory of block 0 of the cluster, which may have ended by then
// EXPECT: cluster.sync()
// THREAD (0,0,0) BLOCK (1,0,0)
#include <cooperative_groups.h>

#include "fault.h"

__global__ void __cluster_dims__(2, 1, 1) read_first(const int *data, int *out)
{
    __shared__ int own;
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    own = data[blockIdx.x];
    cluster.sync();
    if (cluster.block_rank() == 1) *out = *cluster.map_shared_rank(&own, 0); // FAULT
#ifdef FIXED
    cluster.sync();
#endif
}

int main(void)
{
    const int n = 2;
    int *data, *out;
    cudaMalloc(&data, n * sizeof *data);
    cudaMalloc(&out, sizeof *out);
    cudaMemset(data, 1, n * sizeof *data);
    read_first<<<n, 1>>>(data, out);
    const int status = finish();
    cudaFree(data);
    cudaFree(out);
    return status;
}
