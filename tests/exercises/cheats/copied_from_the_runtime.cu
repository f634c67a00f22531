// EXERCISE 30 EXPECT where this code has no memory
// The copy engine is to bring what the code may not read.
#include "exercise.h"
#include "given.cuh"

__global__ void kernel(float *C)
{
    __shared__ __align__(128) uint4 tile[8];
    __shared__ uint64_t barrier;
    mbarrier_init(&barrier, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&barrier, 128);
    copy_row(tile, (const __half *)0x400000, &barrier);
    mbarrier_wait_parity(&barrier, 0);
    C[0] = __uint_as_float(tile[0].x);
}

void matmul_halves(int, int, int, const __half *, const __half *, float *C)
{
    kernel<<<1, 1>>>(C);
}
