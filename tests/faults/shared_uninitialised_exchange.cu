// An exchange whose result is used, where nobody has written; without, it is a store.
// EXPECT: uninitialised shared memory
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void first_come(int *winner)
{
    __shared__ int taken;
#ifdef FIXED
    if (threadIdx.x == 0) atomicExch(&taken, 0);
    __syncthreads();
#endif
    const int before = atomicExch(&taken, 1); // FAULT
    if (before == 0) *winner = (int)threadIdx.x;
}

int main(void)
{
    int *winner;
    cudaMalloc(&winner, sizeof *winner);
    cudaMemset(winner, 0, sizeof *winner);
    first_come<<<1, 64>>>(winner);
    const int status = finish();
    cudaFree(winner);
    return status;
}
