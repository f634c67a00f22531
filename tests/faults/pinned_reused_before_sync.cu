// The host fills a pinned buffer anew while a copy to the device may still be reading it.
// EXPECT: host code touches byte 0 of batch, the 400 bytes
// EXPECT: which a kernel or a copy may still be reading
#include "fault.h"

int main(void)
{
    const int n = 100;
    int *data, *batch;
    cudaMalloc(&data, 2 * n * sizeof *data);
    cudaMallocHost(&batch, n * sizeof *batch);
    for (int i = 0; i < n; i++) batch[i] = i;
    cudaMemcpyAsync(data, batch, n * sizeof *data, cudaMemcpyHostToDevice); // OTHER
#ifdef FIXED
    cudaStreamSynchronize(0);
#endif
    for (int i = 0; i < n; i++) batch[i] = n + i; // FAULT
    cudaMemcpyAsync(data + n, batch, n * sizeof *data, cudaMemcpyHostToDevice);
    const int status = finish();
    cudaFree(data);
    cudaFreeHost(batch);
    return status;
}
