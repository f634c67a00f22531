// EXERCISE 28 EXPECT no variables of this thread
// Has the tensor core write its sums where the lens would have to see a store.
#include "exercise.h"
#include "given.cuh"

__global__ void kernel(float *C)
{
    emu_ptx_mma(0xe039900ull, 16785424u, (uint64_t *)C, 0ull, 0ull, 0ull, 0ull, 0ull, 0ull, 0ull, 0ull,
                0ull, 0ull);
}

void matmul_halves(int, int, int, const __half *, const __half *, float *C)
{
    kernel<<<1, 32>>>(C);
}
