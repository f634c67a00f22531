// Two threads of the host launch in their default streams, which are not one.
// EXPECT: data race in global memory, byte 0 of counts, the 128 bytes
// EXPECT: a kernel in another stream wrote it
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

#include <thread>

__global__ void count(int *counts, int by)
{
    counts[threadIdx.x] += by; // FAULT
}

static void work(int *counts, int by)
{
    count<<<1, 32, 0, cudaStreamPerThread>>>(counts, by);
#ifdef FIXED
    cudaStreamSynchronize(cudaStreamPerThread);
#endif
}

int main(void)
{
    int *counts;
    cudaMalloc(&counts, 32 * sizeof *counts);
    cudaMemset(counts, 0, 32 * sizeof *counts);
    cudaDeviceSynchronize();
    for (int by = 1; by <= 2; by++) {
        std::thread thread(work, counts, by);
        thread.join();
    }
    const int status = finish();
    cudaFree(counts);
    return status;
}
