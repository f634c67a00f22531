// All blocks add to one word, by atomics whose scope is the block.
// EXPECT: data race in global memory
// EXPECT: thread_scope_block, is one only among the threads of a block
// THREAD (0,0,0) BLOCK (1,0,0)
#include "fault.h"
#include <cuda/atomic>

#ifdef FIXED
const cuda::thread_scope SCOPE = cuda::thread_scope_device;
#else
const cuda::thread_scope SCOPE = cuda::thread_scope_block;
#endif

__global__ void count(int *total)
{
    cuda::atomic_ref<int, SCOPE> sum(*total);
    sum.fetch_add(1); // FAULT
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
