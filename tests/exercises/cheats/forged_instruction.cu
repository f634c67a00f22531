// EXERCISE 28 EXPECT an mma.sync that exercises do not know
// A call as inline PTX makes them, with types that there are not and a matrix without end.
#include "exercise.h"
#include "given.cuh"

__global__ void kernel()
{
    uint64_t d[4] = {};
    emu_ptx_mma(~0ull, ~0u, d, 0ull, 0ull, 0ull, 0ull, 0ull, 0ull, 0ull, 0ull, 0ull, 0ull);
}

void matmul_halves(int, int, int, const __half *, const __half *, float *)
{
    kernel<<<1, 32>>>();
}
