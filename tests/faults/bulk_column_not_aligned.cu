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
    if (threadIdx.x == 0) {
        announce_box(&full);
        cp_async_bulk_tensor_2d(tile, &map, COL, 0, &full); // FAULT
    }
    write_box(tile, &full, out);
}

int main(void)
{
    return run(copy);
}
