// The tensor map is an ordinary parameter: each thread has a copy of its own.
// EXPECT: a tensor map in a parameter that is not __grid_constant__
// THREAD (0,0,0) BLOCK (0,0,0)
#include "bulk.h"

#ifdef FIXED
#define FOR_ALL __grid_constant__
#else
#define FOR_ALL
#endif

__global__ void copy(const FOR_ALL CUtensorMap map, float *out)
{
    __shared__ __align__(128) float tile[BOX * BOX];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    if (t == 0) {
        mbarrier_init(&full, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(&full, BOX * BOX * sizeof(float));
        cp_async_bulk_tensor_2d(tile, &map, 0, 0, &full); // FAULT
    }
    __syncthreads();
    mbarrier_wait_parity(&full, 0);
    for (int i = t; i < BOX * BOX; i += 32 * WARPS) out[i] = tile[i];
}

int main(void)
{
    return run(copy);
}
