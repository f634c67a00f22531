// A barrier is initialised once a block, not once a phase: others may be waiting at it.
// EXPECT: an mbarrier already
// THREAD (0,0,0) BLOCK (0,0,0)
#include "bulk.h"

const int TILE = BOX * BOX;

__global__ void sum(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    float total = 0.0f;
    for (int i = 0; i < 3; i++) {
        if (t == 0) {
#ifdef FIXED
            if (i == 0)
#endif
                mbarrier_init(&full, 1); // FAULT
            fence_mbarrier_init();
            mbarrier_arrive_expect_tx(&full, sizeof tile);
            cp_async_bulk_tensor_2d(tile, &map, i * BOX, 0, &full);
        }
        __syncthreads();
        mbarrier_wait_parity(&full, i % 2);
        total += tile[TILE - 1 - t];
        __syncthreads();
    }
    out[t] = total;
}

int main(void)
{
    return run(sum);
}
