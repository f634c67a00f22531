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
    if (threadIdx.x == 0) {
        announce_box(&full);
        cp_async_bulk_tensor_2d(tile, &map, 0, 0, &full); // FAULT
    }
    write_box(tile, &full, out);
}

int main(void)
{
    return run(copy);
}
