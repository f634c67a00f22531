// An atomic for the threads of one block, on a word of all blocks.
// EXPECT: data race in global memory
// EXPECT: an atomic whose name ends in _block, or of thread_scope_block, is one only among the threads of a block
// THREAD (0,0,0) BLOCK (1,0,0)
#include "fault.h"

__global__ void count(int *total)
{
#ifdef FIXED
    atomicAdd(total, 1);
#else
    atomicAdd_block(total, 1); // FAULT
#endif
}

int main(void)
{
    int *total;
    cudaMalloc(&total, sizeof *total);
    cudaMemset(total, 0, sizeof *total);
    count<<<4, 32>>>(total);
    int status = finish();
    cudaFree(total);
    return status;
}
