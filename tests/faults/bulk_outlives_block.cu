// Nobody waits for the second copy, and the block's shared memory is another block's soon.
// EXPECT: asynchronous copy not waited for: the block has ended
// THREAD (0,0,0) BLOCK (0,0,0)
#include "bulk.h"

const int TILE = BOX * BOX;

__global__ void reverse(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    if (t == 0) {
        mbarrier_init(&full, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(&full, sizeof tile);
        cp_async_bulk_tensor_2d(tile, &map, 0, 0, &full);
    }
    __syncthreads();
    mbarrier_wait_parity(&full, 0);
    out[t] = tile[TILE - 1 - t];
    __syncthreads();
    if (t == 0) {
        mbarrier_arrive_expect_tx(&full, sizeof tile);
        cp_async_bulk_tensor_2d(tile, &map, BOX, 0, &full); // FAULT
    }
#ifdef FIXED
    mbarrier_wait_parity(&full, 1);
#endif
}

int main(void)
{
    return run(reverse);
}
