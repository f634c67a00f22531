// The host waits for one stream, and reads what a kernel in another may still be writing.
// EXPECT: host code touches byte 12 of data, the 128 bytes
// EXPECT: which a kernel or a copy may still be writing
#include "fault.h"

__global__ void square(int *data)
{
    data[threadIdx.x] = threadIdx.x * threadIdx.x; // OTHER
}

int main(void)
{
    int *data;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMallocManaged(&data, 32 * sizeof *data);
    square<<<1, 32, 0, stream>>>(data);
#ifdef FIXED
    cudaStreamSynchronize(stream);
#else
    cudaStreamSynchronize(0);
#endif
    const int got = data[3]; // FAULT
    const int status = got == 9 ? finish() : 5;
    cudaStreamDestroy(stream);
    cudaFree(data);
    return status;
}
