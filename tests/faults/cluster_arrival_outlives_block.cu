// A thread arrives at an mbarrier of the other block of its cluster, at which nobody waits
// before that block ends.
// EXPECT: shared memory of block 0 of the cluster, which
// THREAD (0,0,0) BLOCK (1,0,0)
#include <cooperative_groups.h>

#include "fault.h"

__device__ static unsigned long long place_of(const void *p)
{
    return __cvta_generic_to_shared(p);
}

__global__ void __cluster_dims__(2, 1, 1) tell(const int *data, int *out)
{
    __shared__ unsigned long long told;
    const unsigned at = (unsigned)place_of(&told);
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
    cluster.sync();
    out[blockIdx.x * blockDim.x + threadIdx.x] = data[threadIdx.x];
    if (blockIdx.x == 1 && threadIdx.x == 0)
        asm volatile(
            "{\n"
            ".reg .b32 there;\n"
            "mapa.shared::cluster.u32 there, %0, 0;\n"
            "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n" // FAULT
            "}" ::"r"(at)
            : "memory");
#ifdef FIXED
    if (blockIdx.x == 0 && threadIdx.x == 5)
        asm volatile("{\n"
                     ".reg .pred done;\n"
                     "AGAIN:\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n"
                     "@!done bra AGAIN;\n"
                     "}" ::"r"(at)
                     : "memory");
#endif
}

int main(void)
{
    const int n = 64;
    int *data, *out;
    cudaMalloc(&data, n * sizeof *data);
    cudaMalloc(&out, 2 * n * sizeof *out);
    cudaMemset(data, 1, n * sizeof *data);
    tell<<<2, n>>>(data, out);
    const int status = finish();
    cudaFree(data);
    cudaFree(out);
    return status;
}
