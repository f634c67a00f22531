// Bitonic sort of a block in shared memory, and of a larger array in global memory.
#include "check.h"
#include <algorithm>
#include <vector>

__device__ __forceinline__ void order(unsigned &a, unsigned &b, bool ascending)
{
    if ((a > b) == ascending) {
        const unsigned t = a;
        a = b;
        b = t;
    }
}

template <unsigned N> __global__ void sort_block(unsigned *data)
{
    __shared__ unsigned s[N];
    const unsigned t = threadIdx.x;
    s[t] = data[t];
    s[t + N / 2] = data[t + N / 2];
    for (unsigned size = 2; size <= N; size *= 2)
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            const unsigned i = 2 * t - (t & (stride - 1));
            order(s[i], s[i + stride], (t & size / 2) == 0);
        }
    __syncthreads();
    data[t] = s[t];
    data[t + N / 2] = s[t + N / 2];
}

__global__ void sort_step(unsigned *data, unsigned size, unsigned stride)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ stride;
    if (other > i) order(data[i], data[other], (i & size) == 0);
}

int main()
{
    const unsigned n = 2048;
    std::vector<unsigned> host(n), want;
    for (unsigned i = 0; i < n; i++) host[i] = i * 2654435761u;
    unsigned *device;
    CHECK(cudaMalloc(&device, n * sizeof(unsigned)));

    CHECK(cudaMemcpy(device, host.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    sort_block<512><<<1, 256>>>(device);
    std::vector<unsigned> got(n);
    CHECK(cudaMemcpy(got.data(), device, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    want = host;
    std::sort(want.begin(), want.begin() + 512);
    EXPECT(got == want);

    for (unsigned size = 2; size <= n; size *= 2)
        for (unsigned stride = size / 2; stride > 0; stride /= 2)
            sort_step<<<n / 256, 256>>>(device, size, stride);
    CHECK(cudaMemcpy(got.data(), device, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    std::sort(want.begin(), want.end());
    EXPECT(got == want);
    CHECK(cudaFree(device));
    return pass();
}
