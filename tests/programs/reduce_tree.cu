// Sums by a tree in dynamic shared memory: interleaved, sequential, and the two-stage
// form.
#include "check.h"

__global__ void reduce_interleaved(const int *in, int *out, int n)
{
    extern __shared__ int sdata[];
    const unsigned tid = threadIdx.x;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    sdata[tid] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = sdata[0];
}

__global__ void reduce_sequential(const int *in, int *out, int n)
{
    extern __shared__ int sdata[];
    const unsigned tid = threadIdx.x;
    const int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    int sum = i < n ? in[i] : 0;
    if (i + (int)blockDim.x < n) sum += in[i + blockDim.x];
    sdata[tid] = sum;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = sdata[0];
}

int main(void)
{
    const int n = 5000, threads = 128, blocks = (n + threads - 1) / threads;
    int *in, *partial, *total, want = 0;
    CHECK(cudaMallocManaged(&in, n * sizeof *in));
    CHECK(cudaMallocManaged(&partial, blocks * sizeof *partial));
    CHECK(cudaMallocManaged(&total, sizeof *total));
    for (int i = 0; i < n; i++) want += in[i] = (i * 7919) % 1001 - 500;

    reduce_interleaved<<<blocks, threads, threads * sizeof(int)>>>(in, partial, n);
    CHECK(cudaDeviceSynchronize());
    int got = 0;
    for (int b = 0; b < blocks; b++) got += partial[b];
    EXPECT(got == want);

    const int half = (n + 2 * threads - 1) / (2 * threads);
    reduce_sequential<<<half, threads, threads * sizeof(int)>>>(in, partial, n);
    reduce_sequential<<<1, 64, 64 * sizeof(int)>>>(partial, total, half);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*total == want);

    CHECK(cudaFree(in));
    CHECK(cudaFree(partial));
    CHECK(cudaFree(total));
    return pass();
}
