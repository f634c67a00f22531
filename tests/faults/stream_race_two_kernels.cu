// A kernel adds up what one in another stream may still be writing.
// EXPECT: a kernel in another stream wrote it at
// EXPECT: cudaStreamWaitEvent
// THREAD (0,0,0) BLOCK (0,0,0)
#include "fault.h"

__global__ void fill(int *data)
{
    data[threadIdx.x] = 7; // OTHER
}

__global__ void sum(const int *data, int n, int *total)
{
    int all = 0;
    for (int i = 0; i < n; i++) all += data[i]; // FAULT
    *total = all;
}

int main(void)
{
    const int n = 100;
    int *data, *total;
    cudaStream_t first, second;
    cudaMalloc(&data, n * sizeof *data);
    cudaMalloc(&total, sizeof *total);
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    fill<<<1, n, 0, first>>>(data);
#ifdef FIXED
    cudaStreamSynchronize(first);
#endif
    sum<<<1, 1, 0, second>>>(data, n, total);
    const int status = finish();
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaFree(data);
    cudaFree(total);
    return status;
}
