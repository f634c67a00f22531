// Two buffers take turns, and the kernel that fills one again does not wait until its copy
// to the other device has left.
// EMULATE: h200:2
// EXPECT: data race in global memory
// EXPECT: is written here, and read by what was enqueued in another stream
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void fill(int *buffer, int value)
{
    buffer[threadIdx.x] = value; // FAULT
}

int main(void)
{
    const int n = 128, rounds = 4;
    int *buffer[2], *far;
    cudaStream_t work, copies;
    cudaEvent_t filled, sent[2];
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    cudaEventCreate(&filled);
    for (int i = 0; i < 2; i++) {
        cudaMalloc(&buffer[i], n * sizeof(int));
        cudaEventCreate(&sent[i]);
    }
    cudaSetDevice(1);
    cudaMalloc(&far, rounds * n * sizeof(int));
    cudaSetDevice(0);
    for (int r = 0; r < rounds; r++) {
#ifdef FIXED
        cudaStreamWaitEvent(work, sent[r % 2], 0);
#endif
        fill<<<1, n, 0, work>>>(buffer[r % 2], r);
        cudaEventRecord(filled, work);
        cudaStreamWaitEvent(copies, filled, 0);
        cudaMemcpyPeerAsync(far + r * n, 1, buffer[r % 2], 0, n * 4, copies); // OTHER
        cudaEventRecord(sent[r % 2], copies);
    }
    const int status = finish();
    for (int i = 0; i < 2; i++) {
        cudaFree(buffer[i]);
        cudaEventDestroy(sent[i]);
    }
    cudaFree(far);
    cudaEventDestroy(filled);
    cudaStreamDestroy(work);
    cudaStreamDestroy(copies);
    return status;
}
