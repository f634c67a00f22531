// Thread 0 waits for what another thread is to store, which on a GPU comes to pass. Here the
// other thread's turn is when this one ends, or meets it at a barrier.
// EXPECT: Threads of a block run one after the other here: a thread that waits for another's store must meet it at a barrier
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void hand_over(volatile int *flag, int *out)
{
    if (threadIdx.x == 32) *flag = 7;
#ifdef FIXED
    __syncthreads();
#endif
    if (threadIdx.x == 0) {
        while (*flag == 0) continue; // FAULT
        *out = *flag;
    }
}

int main(void)
{
    int *flag, *out;
    cudaMalloc(&flag, sizeof *flag);
    cudaMalloc(&out, sizeof *out);
    cudaMemset(flag, 0, sizeof *flag);
    hand_over<<<1, 64>>>(flag, out);
    int status = finish();
    cudaFree(flag);
    cudaFree(out);
    return status;
}
