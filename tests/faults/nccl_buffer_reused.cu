// The next piece is computed into the buffer that is still being sent.
// EMULATE: h200:2
// EXPECT: is written here, and read by what was enqueued in another stream
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

#include <nccl.h>

__global__ void fill(int *data, int value)
{
    data[threadIdx.x] = value; // FAULT
}

int main(void)
{
    const int n = 64;
    ncclComm_t comms[2];
    cudaStream_t work[2], link[2];
    cudaEvent_t ready[2];
    int *mine[2], *all[2];
    ncclCommInitAll(comms, 2, NULL);
    for (int r = 0; r < 2; r++) {
        cudaSetDevice(r);
        cudaStreamCreateWithFlags(&work[r], cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&link[r], cudaStreamNonBlocking);
        cudaEventCreate(&ready[r]);
        cudaMalloc(&mine[r], n * sizeof(int));
        cudaMalloc(&all[r], 2 * n * sizeof(int));
        fill<<<1, n, 0, work[r]>>>(mine[r], r);
        cudaEventRecord(ready[r], work[r]);
        cudaStreamWaitEvent(link[r], ready[r], 0);
    }
    ncclGroupStart();
    for (int r = 0; r < 2; r++)
        ncclAllGather(mine[r], all[r], n, ncclInt, comms[r], link[r]); // OTHER
    ncclGroupEnd();
    for (int r = 0; r < 2; r++) {
        cudaSetDevice(r);
#ifdef FIXED
        cudaEventRecord(ready[r], link[r]);
        cudaStreamWaitEvent(work[r], ready[r], 0);
#endif
        fill<<<1, n, 0, work[r]>>>(mine[r], r + 2);
    }
    for (int r = 0; r < 2; r++) {
        cudaSetDevice(r);
        cudaDeviceSynchronize();
        cudaFree(mine[r]);
        cudaFree(all[r]);
        cudaStreamDestroy(work[r]);
        cudaStreamDestroy(link[r]);
        cudaEventDestroy(ready[r]);
        ncclCommDestroy(comms[r]);
    }
    return finish();
}
