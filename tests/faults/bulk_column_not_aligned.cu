// A box that begins in the middle of 16 bytes of a row.
// EXPECT: illegal instruction: a box begins at a multiple of 16 bytes of its row, and element 2 of 4 bytes is none
// THREAD (0,0,0) BLOCK (0,0,0)
#include "bulk.h"

#ifdef FIXED
const int COL = 4;
#else
const int COL = 2;
#endif

__global__ void copy(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float tile[BOX * BOX];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    if (t == 0) {
        mbarrier_init(&full, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(&full, BOX * BOX * sizeof(float));
        cp_async_bulk_tensor_2d(tile, &map, COL, 0, &full); // FAULT
    }
    __syncthreads();
    mbarrier_wait_parity(&full, 0);
    for (int i = t; i < BOX * BOX; i += 32 * WARPS) out[i] = tile[i];
}

int main(void)
{
    return run(copy);
}
