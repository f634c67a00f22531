// The host reads what an asynchronous copy may still be writing.
// EXPECT: host code touches byte 0 of back, the 400 bytes
#include "fault.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 7;
}

int main(void)
{
    const int n = 100;
    int *data, *back;
    cudaMalloc(&data, n * sizeof *data);
    cudaMallocHost(&back, n * sizeof *back);
    fill<<<1, n>>>(data);
    cudaMemcpyAsync(back, data, n * sizeof *back, cudaMemcpyDeviceToHost);
#ifdef FIXED
    cudaStreamSynchronize(0);
#endif
    const int got = back[0]; // FAULT
    const int status = got == 7 ? finish() : 5;
    cudaFree(data);
    cudaFreeHost(back);
    return status;
}
