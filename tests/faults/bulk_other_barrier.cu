// The second warp waits for the other copy's barrier. Its own box has come, because another
// warp waited for it, and that is luck.
// EXPECT: data race in shared memory
// THREAD (32,0,0) BLOCK (0,0,0)
#include "bulk.h"

const int TILE = BOX * BOX;

__global__ void add(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float tiles[2][TILE];
    __shared__ uint64_t full[2];
    const int t = threadIdx.x;
    if (t == 0) {
        for (int i = 0; i < 2; i++) mbarrier_init(&full[i], 1);
        fence_mbarrier_init();
        for (int i = 0; i < 2; i++) {
            mbarrier_arrive_expect_tx(&full[i], sizeof tiles[i]);
            cp_async_bulk_tensor_2d(tiles[i], &map, i * BOX, 0, &full[i]); // OTHER
        }
    }
    __syncthreads();
#ifndef FIXED
    if (t / 32 != 1)
#endif
        mbarrier_wait_parity(&full[0], 0);
    mbarrier_wait_parity(&full[1], 0);
    out[t] = tiles[1][t] + tiles[0][t]; // FAULT
}

int main(void)
{
    return run(add);
}
