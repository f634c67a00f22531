// Everybody wants the lock at once and whoever has it waits at a barrier with it.
// EXPECT: endless loop: this thread reads the same values again and again
// THREAD (1,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void count(int *lock, int *counter)
{
    while (atomicCAS(lock, 0, 1) != 0) continue; // FAULT
    *counter += 1;
#ifndef FIXED
    __syncthreads();
#endif
    __threadfence();
    atomicExch(lock, 0);
}

int main(void)
{
    int *lock, *counter;
    cudaMalloc(&lock, sizeof *lock);
    cudaMalloc(&counter, sizeof *counter);
    cudaMemset(lock, 0, sizeof *lock);
    cudaMemset(counter, 0, sizeof *counter);
    count<<<1, 64>>>(lock, counter);
    int status = finish();
    cudaFree(lock);
    cudaFree(counter);
    return status;
}
