// The tensor map is brought nearer, to where the copy engine does not look.
// EXPECT: a tensor map in shared memory
// THREAD (0,0,0) BLOCK (0,0,0)
#include "bulk.h"

__global__ void copy(const __grid_constant__ CUtensorMap map, float *out)
{
    __shared__ __align__(128) float tile[BOX * BOX];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
#ifdef FIXED
    const CUtensorMap *from = &map;
#else
    __shared__ CUtensorMap near;
    const CUtensorMap *from = &near;
    if (t == 0) near = map;
#endif
    if (t == 0) {
        announce_box(&full);
        cp_async_bulk_tensor_2d(tile, from, 0, 0, &full); // FAULT
    }
    write_box(tile, &full, out);
}

int main(void)
{
    return run(copy);
}
