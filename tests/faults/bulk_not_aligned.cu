// The copy engine writes at multiples of 128 bytes, and an array of floats may lie at any
// multiple of four: only __align__ makes it sure.
// EXPECT: misaligned address: a bulk copy of 4096 bytes needs a multiple of 128, and tile
// THREAD (0,0,0) BLOCK (0,0,0)
#include "bulk.h"

const int TILE = BOX * BOX;

__global__ void reverse(const __grid_constant__ CUtensorMap map, float *out)
{
#ifdef FIXED
    __shared__ __align__(128) float tile[TILE];
#else
    __shared__ float tile[TILE];
#endif
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    if (t == 0) {
        mbarrier_init(&full, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(&full, sizeof tile);
        cp_async_bulk_tensor_2d(tile, &map, 0, 0, &full); // FAULT
    }
    __syncthreads();
    mbarrier_wait_parity(&full, 0);
    out[t] = tile[TILE - 1 - t];
}

int main(void)
{
    return run(reverse);
}
