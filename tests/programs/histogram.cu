// 256 bins: atomics on global memory, then a histogram per block in shared memory.
#include "check.h"

__global__ void histogram_global(const unsigned char *data, int n, unsigned *bins)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[data[i]], 1u);
}

__global__ void histogram_shared(const unsigned char *data, int n, unsigned *bins)
{
    __shared__ unsigned local[256];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
    __syncthreads();
    const int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(bins + b, local[b]);
}

int main(void)
{
    const int n = 20000;
    unsigned char *data = (unsigned char *)malloc(n), *d_data;
    unsigned want[256] = {0}, got[256], *d_bins;
    for (int i = 0; i < n; i++) want[data[i] = (unsigned char)(i * i / 7 + i)]++;
    CHECK(cudaMalloc(&d_data, n));
    CHECK(cudaMalloc(&d_bins, sizeof want));
    CHECK(cudaMemcpy(d_data, data, n, cudaMemcpyHostToDevice));
    for (int shared = 0; shared < 2; shared++) {
        CHECK(cudaMemset(d_bins, 0, sizeof want));
        if (shared)
            histogram_shared<<<8, 192>>>(d_data, n, d_bins);
        else
            histogram_global<<<(n + 255) / 256, 256>>>(d_data, n, d_bins);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(got, d_bins, sizeof got, cudaMemcpyDeviceToHost));
        for (int b = 0; b < 256; b++) EXPECT(got[b] == want[b]);
    }
    CHECK(cudaFree(d_data));
    CHECK(cudaFree(d_bins));
    free(data);
    return pass();
}
