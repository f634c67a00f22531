// Work in two streams with asynchronous copies; events order it and measure it.
#include "check.h"

__global__ void triple(float *data, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 3.0f;
}

static void CUDART_CB note(void *where)
{
    ++*(int *)where;
}

int main(void)
{
    const int n = 1 << 12, half = n / 2;
    float *host, *device;
    CHECK(cudaMallocHost(&host, n * sizeof *host));
    CHECK(cudaMalloc(&device, n * sizeof *device));
    for (int i = 0; i < n; i++) host[i] = (float)i;

    cudaStream_t streams[2];
    cudaEvent_t start, stop, ready;
    CHECK(cudaStreamCreate(&streams[0]));
    CHECK(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));

    int notes = 0;
    CHECK(cudaEventRecord(start));
    for (int s = 0; s < 2; s++) {
        const size_t bytes = half * sizeof(float);
        CHECK(cudaMemcpyAsync(device + s * half, host + s * half, bytes,
                              cudaMemcpyHostToDevice, streams[s]));
        triple<<<half / 128, 128, 0, streams[s]>>>(device + s * half, half);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(host + s * half, device + s * half, bytes,
                              cudaMemcpyDeviceToHost, streams[s]));
        CHECK(cudaLaunchHostFunc(streams[s], note, &notes));
    }
    CHECK(cudaEventRecord(ready, streams[0]));
    CHECK(cudaStreamWaitEvent(streams[1], ready, 0));
    CHECK(cudaEventSynchronize(ready));
    CHECK(cudaStreamSynchronize(streams[1]));
    CHECK(cudaEventRecord(stop, 0));
    float too_early;
    EXPECT(cudaEventElapsedTime(&too_early, start, stop) == cudaErrorNotReady);
    EXPECT(cudaGetLastError() == cudaErrorNotReady);
    CHECK(cudaEventSynchronize(stop));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventQuery(stop));
    CHECK(cudaStreamQuery(streams[0]));

    float milliseconds = -1.0f;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    EXPECT(milliseconds >= 0.0f);
    EXPECT(notes == 2);
    for (int i = 0; i < n; i++) EXPECT(host[i] == 3.0f * i);

    for (int s = 0; s < 2; s++) CHECK(cudaStreamDestroy(streams[s]));
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaEventDestroy(ready));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
    return pass();
}
