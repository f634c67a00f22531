// The box has one row more than the array that it is copied to.
// EXPECT: out of bounds: a bulk copy
// EXPECT: reaches past the end of its 3968 bytes
// THREAD (0,0,0) BLOCK (0,0,0)
#include "bulk.h"

#ifdef FIXED
const int TILE = BOX * BOX;
#else
const int TILE = (BOX - 1) * BOX;
#endif

__global__ void reverse(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float tile[TILE];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    if (t == 0) {
        announce_box(&full);
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
