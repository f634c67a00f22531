// Who wrote the box says so before it has called the fence: the copy engine may read what
// was there before.
// EXPECT: a fence.proxy.async too late
// THREAD (0,0,0) BLOCK (0,0,0)
#include "bulk.h"

const int WRITERS = 32 * (WARPS - 1);

__global__ void send(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float box[BOX * BOX];
    __shared__ uint64_t written;
    const int t = threadIdx.x;
    if (t == 0) {
        mbarrier_init(&written, WRITERS);
        fence_mbarrier_init();
    }
    __syncthreads();
    if (t >= 32) {
        for (int i = t - 32; i < BOX * BOX; i += WRITERS) box[i] = i; // OTHER
#ifdef FIXED
        fence_proxy_async();
        mbarrier_arrive(&written);
#else
        mbarrier_arrive(&written);
        fence_proxy_async();
#endif
    } else if (t == 0) {
        mbarrier_wait_parity(&written, 0);
        cp_async_bulk_tensor_2d_store(&map, 0, 0, box); // FAULT
        cp_async_bulk_commit_group();
        cp_async_bulk_wait_group<0>();
        out[0] = 0.0f;
    }
}

int main(void)
{
    return run(send);
}
