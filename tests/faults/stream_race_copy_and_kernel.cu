// A stream copies away what a kernel in another stream may still be computing.
// EXPECT: data race in global memory: byte 0 of data, the 400 bytes
// EXPECT: is read here, and written by a kernel in another stream
// EXPECT: cudaStreamWaitEvent
#include "fault.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 7; // OTHER
}

int main(void)
{
    const int n = 100;
    int *data, *back;
    cudaStream_t work, copies;
    cudaEvent_t ready;
    cudaMalloc(&data, n * sizeof *data);
    cudaMallocHost(&back, n * sizeof *back);
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    cudaEventCreate(&ready);
    fill<<<1, n, 0, work>>>(data);
    cudaEventRecord(ready, work);
#ifdef FIXED
    cudaStreamWaitEvent(copies, ready, 0);
#endif
    cudaMemcpyAsync(back, data, n * 4, cudaMemcpyDeviceToHost, copies); // FAULT
    const int status = finish();
    cudaEventDestroy(ready);
    cudaStreamDestroy(work);
    cudaStreamDestroy(copies);
    cudaFree(data);
    cudaFreeHost(back);
    return status;
}
