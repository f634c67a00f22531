// Four devices: each with memory, streams and events of its own; copies between them, and
// kernels that use a peer's memory, or that of a peer's pool.
// EMULATE: h200:4
#include "check.h"

enum { DEVICES = 4, COUNT = 1000 };

__global__ void add(float *data, int n, float value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += value;
}

__global__ void add_from(float *data, const float *other, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += other[i];
}

int main(void)
{
    float *data[DEVICES], *next[DEVICES], host[COUNT];
    cudaStream_t work[DEVICES], copies[DEVICES];
    cudaEvent_t ready[DEVICES];
    int count = 0, can = 0, current = -1;
    CHECK(cudaGetDeviceCount(&count));
    if (count < DEVICES) return pass(); // on a machine with fewer
    EXPECT(cudaSetDevice(count) == cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 0));
    EXPECT(!can);
    for (int d = 0; d < DEVICES; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaGetDevice(&current));
        EXPECT(current == d);
        CHECK(cudaStreamCreateWithFlags(&work[d], cudaStreamNonBlocking));
        CHECK(cudaStreamCreateWithFlags(&copies[d], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&ready[d], cudaEventDisableTiming));
        CHECK(cudaMalloc(&data[d], sizeof host));
        CHECK(cudaMalloc(&next[d], sizeof host));
        struct cudaPointerAttributes where;
        CHECK(cudaPointerGetAttributes(&where, data[d]));
        EXPECT(where.device == d && where.type == cudaMemoryTypeDevice);
        CHECK(cudaMemsetAsync(data[d], 0, sizeof host, work[d]));
        add<<<(COUNT + 255) / 256, 256, 0, work[d]>>>(data[d], COUNT, (float)d);
        CHECK(cudaGetLastError());
        CHECK(cudaEventRecord(ready[d], work[d]));
    }

    // A stream is of the device that was current when it was made: kernels and events of
    // another are refused, copies and waits are not.
    CHECK(cudaSetDevice(0));
    add<<<1, 1, 0, work[1]>>>(data[1], 1, 0.0f);
    EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);
    EXPECT(cudaEventRecord(ready[0], work[1]) == cudaErrorInvalidResourceHandle);
    EXPECT(cudaGetLastError() == cudaErrorInvalidResourceHandle);

    // A ring: each device sends what it has to the one behind it.
    for (int d = 0; d < DEVICES; d++) {
        const int to = (d + 1) % DEVICES;
        CHECK(cudaStreamWaitEvent(copies[d], ready[d], 0));
        CHECK(cudaMemcpyPeerAsync(next[to], to, data[d], d, sizeof host, copies[d]));
    }
    for (int d = 0; d < DEVICES; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
    }
    for (int d = 0; d < DEVICES; d++) {
        CHECK(cudaMemcpy(host, next[d], sizeof host, cudaMemcpyDefault));
        for (int i = 0; i < COUNT; i++)
            EXPECT(host[i] == (float)((d + DEVICES - 1) % DEVICES));
    }
    // A copy without a stream waits for its devices, and they for it, whichever is current.
    CHECK(cudaSetDevice(0));
    add<<<1, 1, 0, work[0]>>>(data[0], 1, 100.0f);
    CHECK(cudaSetDevice(2));
    CHECK(cudaMemcpyPeer(next[3], 3, data[0], 0, sizeof host));
    CHECK(cudaSetDevice(3));
    add<<<1, 1, 0, work[3]>>>(next[3], 1, 1000.0f);
    CHECK(cudaStreamSynchronize(work[3]));
    CHECK(cudaMemcpy(host, next[3], sizeof host, cudaMemcpyDefault));
    EXPECT(host[0] == 1100.0f && host[1] == 0.0f);
    CHECK(cudaSetDevice(0));
    add<<<1, 1, 0, work[0]>>>(data[0], 1, -100.0f);
    CHECK(cudaStreamSynchronize(work[0]));
    EXPECT(cudaMemcpyPeer(next[1], 2, data[0], 0, sizeof host) == cudaErrorInvalidValue);
    EXPECT(cudaGetLastError() == cudaErrorInvalidValue);

    // A kernel of device 0 reads the memory of device 3.
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceCanAccessPeer(&can, 0, 3));
    if (can) {
        CHECK(cudaDeviceEnablePeerAccess(3, 0));
        EXPECT(cudaDeviceEnablePeerAccess(3, 0) == cudaErrorPeerAccessAlreadyEnabled);
        EXPECT(cudaGetLastError() == cudaErrorPeerAccessAlreadyEnabled);
        add_from<<<(COUNT + 255) / 256, 256, 0, work[0]>>>(data[0], data[3], COUNT);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(work[0]));
        CHECK(cudaMemcpy(host, data[0], sizeof host, cudaMemcpyDefault));
        for (int i = 0; i < COUNT; i++) EXPECT(host[i] == 3.0f);
        CHECK(cudaDeviceDisablePeerAccess(3));

        // Memory of a pool of device 3, whichever device is current: it outlives the pool.
        cudaMemPoolProps props = {};
        props.allocType = cudaMemAllocationTypePinned;
        props.location = {cudaMemLocationTypeDevice, 3};
        cudaMemAccessDesc access[2] = {
            {props.location, cudaMemAccessFlagsProtReadWrite},
            {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite}};
        cudaMemPool_t pool;
        float *pooled;
        CHECK(cudaMemPoolCreate(&pool, &props));
        CHECK(cudaMallocFromPoolAsync(&pooled, sizeof host, pool, work[3]));
        CHECK(cudaStreamSynchronize(work[3]));
        CHECK(cudaMemcpyPeer(pooled, 3, data[3], 3, sizeof host));
        CHECK(cudaMemPoolSetAccess(pool, access, 2));
        CHECK(cudaMemPoolDestroy(pool));
        add_from<<<(COUNT + 255) / 256, 256, 0, work[0]>>>(data[0], pooled, COUNT);
        CHECK(cudaStreamSynchronize(work[0]));
        CHECK(cudaMemcpy(host, data[0], sizeof host, cudaMemcpyDefault));
        for (int i = 0; i < COUNT; i++) EXPECT(host[i] == 6.0f);
        CHECK(cudaFreeAsync(pooled, work[3]));

        // Its own device keeps access, and no device is none.
        CHECK(cudaDeviceGetDefaultMemPool(&pool, 3));
        access[0].flags = cudaMemAccessFlagsProtNone;
        EXPECT(cudaMemPoolSetAccess(pool, access, 1) != cudaSuccess);
        access[0].location.id = count;
        EXPECT(cudaMemPoolSetAccess(pool, access, 1) != cudaSuccess);
        cudaGetLastError();
    }

    for (int d = 0; d < DEVICES; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaFree(data[d]));
        CHECK(cudaFree(next[d]));
        CHECK(cudaStreamDestroy(work[d]));
        CHECK(cudaStreamDestroy(copies[d]));
        CHECK(cudaEventDestroy(ready[d]));
    }
    return pass();
}
