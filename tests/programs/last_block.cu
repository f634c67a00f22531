// A sum in one launch: the block that finishes last adds up what the others left behind.
#include "check.h"

__device__ unsigned blocks_done;

__global__ void sum(const double *in, int n, volatile double *partial, double *total)
{
    __shared__ double cache[128];
    __shared__ bool last;
    double mine = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        mine += in[i];
    cache[threadIdx.x] = mine;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if ((int)threadIdx.x < s) cache[threadIdx.x] += cache[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = cache[0];
        __threadfence();
        last = atomicInc(&blocks_done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        double all = 0.0;
        for (unsigned b = 0; b < gridDim.x; b++) all += partial[b];
        *total = all;
        blocks_done = 0;
    }
}

int main(void)
{
    const int n = 5000, blocks = 7;
    double *in, *partial, *total, want = 0.0;
    CHECK(cudaMallocManaged(&in, n * sizeof *in));
    CHECK(cudaMallocManaged(&partial, blocks * sizeof *partial));
    CHECK(cudaMallocManaged(&total, sizeof *total));
    for (int i = 0; i < n; i++) want += in[i] = noise(i);
    for (int round = 0; round < 2; round++) {
        *total = 0.0;
        sum<<<blocks, 128>>>(in, n, partial, total);
        CHECK(cudaDeviceSynchronize());
        EXPECT(close_to(*total, want, 1e-10));
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(partial));
    CHECK(cudaFree(total));
    return pass();
}
