// The host waits for an event, which was recorded in another stream than the one that copies.
// EXPECT: host code touches byte 4 of back, the 512 bytes
#include "fault.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 7;
}

int main(void)
{
    const int n = 64;
    int *data, *back;
    cudaStream_t streams[2];
    cudaEvent_t done;
    cudaMalloc(&data, 2 * n * sizeof *data);
    cudaMallocHost(&back, 2 * n * sizeof *back);
    cudaEventCreate(&done);
    for (int i = 0; i < 2; i++) {
        int *const from = data + i * n, *const to = back + i * n;
        cudaStreamCreate(&streams[i]);
        fill<<<1, n, 0, streams[i]>>>(from);
        cudaMemcpyAsync(to, from, n * sizeof *to, cudaMemcpyDefault, streams[i]); // OTHER
    }
#ifdef FIXED
    /* The second stream goes on, and the half that it fills is not looked at. */
    cudaEventRecord(done, streams[0]);
#else
    cudaEventRecord(done, streams[1]);
#endif
    cudaEventSynchronize(done);
    const int got = back[1]; // FAULT
    const int status = got == 7 ? finish() : 5;
    for (int i = 0; i < 2; i++) cudaStreamDestroy(streams[i]);
    cudaEventDestroy(done);
    cudaFree(data);
    cudaFreeHost(back);
    return status;
}
