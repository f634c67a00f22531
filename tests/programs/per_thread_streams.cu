// A default stream for each thread of the host.
// BUILD: --default-stream per-thread -Xcompiler -pthread
#include "check.h"

#include <thread>

#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM
#error "--default-stream per-thread defines CUDA_API_PER_THREAD_DEFAULT_STREAM"
#endif

__global__ void fill(int *data, int value)
{
    data[threadIdx.x] = value;
}

__global__ void add(int *data, const int *more)
{
    data[threadIdx.x] += more[threadIdx.x];
}

static unsigned long long id_of(cudaStream_t stream)
{
    unsigned long long id;
    CHECK(cudaStreamGetId(stream, &id));
    return id;
}

// What a thread enqueues is in order, and what it leaves is there for who waits for all.
static void work(int *data, int value, unsigned long long *id)
{
    int *more;
    CHECK(cudaMalloc(&more, 32 * sizeof *more));
    fill<<<1, 32>>>(data, value);
    fill<<<1, 32>>>(more, 1);
    add<<<1, 32>>>(data, more);
    CHECK(cudaStreamSynchronize(0));
    CHECK(cudaFree(more));
    add<<<1, 32>>>(data, data);
    *id = id_of(0);
    EXPECT(*id == id_of(cudaStreamPerThread) && *id != id_of(cudaStreamLegacy));
}

int main(void)
{
    int *data, got[64];
    unsigned long long id[2];
    CHECK(cudaMalloc(&data, sizeof got));
    std::thread other(work, data + 32, 2, &id[1]);
    work(data, 1, &id[0]);
    other.join();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(got, data, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) EXPECT(got[i] == (i < 32 ? 4 : 6));
    EXPECT(id[0] != id[1]);
    CHECK(cudaFree(data));
    return pass();
}
