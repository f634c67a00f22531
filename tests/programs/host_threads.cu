// BUILD: -Xcompiler -pthread
// Threads of the host that allocate, copy and launch at the same time.
#include "check.h"

#include <thread>
#include <vector>

__global__ void scale(int *data, int n, int by)
{
    __shared__ int tile[64];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? data[i] : 0;
    __syncthreads();
    if (i < n) data[i] = tile[threadIdx.x] * by;
}

static int failures[8];

static void work(int number)
{
    const int n = 500 + 100 * number;
    std::vector<int> host(n);
    int *device, *managed;
    cudaStream_t stream;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < n; i++) host[i] = i + number;
        failures[number] += cudaStreamCreate(&stream) != cudaSuccess;
        failures[number] += cudaMalloc(&device, n * sizeof(int)) != cudaSuccess;
        failures[number] += cudaMallocManaged(&managed, n * sizeof(int)) != cudaSuccess;
        cudaMemcpyAsync(device, host.data(), n * sizeof(int), cudaMemcpyHostToDevice,
                        stream);
        for (int i = 0; i < n; i++) managed[i] = i;
        scale<<<(n + 63) / 64, 64, 0, stream>>>(device, n, number + 2);
        scale<<<(n + 63) / 64, 64, 0, stream>>>(managed, n, 3);
        failures[number] += cudaStreamSynchronize(stream) != cudaSuccess;
        cudaMemcpy(host.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++) {
            failures[number] += host[i] != (i + number) * (number + 2);
            failures[number] += managed[i] != 3 * i;
        }
        cudaFree(device);
        cudaFree(managed);
        cudaStreamDestroy(stream);
    }
}

int main()
{
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; i++) threads.emplace_back(work, i);
    for (std::thread &t : threads) t.join();
    for (int i = 0; i < 8; i++) EXPECT(failures[i] == 0);
    return pass();
}
