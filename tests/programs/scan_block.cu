// Prefix sums: inclusive (doubling, two buffers), exclusive (up and down the tree),
// and by shuffles with the blocks' sums added afterwards.
#include "check.h"

#define THREADS 256

__global__ void scan_doubling(const int *in, int *out)
{
    __shared__ int buffer[2][THREADS];
    const int t = threadIdx.x;
    int from = 0;
    buffer[0][t] = in[t];
    __syncthreads();
    for (int d = 1; d < THREADS; d *= 2) {
        buffer[1 - from][t] = buffer[from][t] + (t >= d ? buffer[from][t - d] : 0);
        from = 1 - from;
        __syncthreads();
    }
    out[t] = buffer[from][t];
}

__global__ void scan_tree(const int *in, int *out)
{
    extern __shared__ int temp[];
    const int t = threadIdx.x, n = 2 * THREADS;
    temp[2 * t] = in[2 * t];
    temp[2 * t + 1] = in[2 * t + 1];
    int offset = 1;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) temp[n - 1] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            const int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            const int v = temp[a];
            temp[a] = temp[b];
            temp[b] += v;
        }
    }
    __syncthreads();
    out[2 * t] = temp[2 * t];
    out[2 * t + 1] = temp[2 * t + 1];
}

__device__ int warp_scan(int v)
{
    const int lane = threadIdx.x & 31;
    for (int d = 1; d < 32; d <<= 1) {
        const int other = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d) v += other;
    }
    return v;
}

__global__ void scan_shuffle(const int *in, int *out, int *block_sums, int n)
{
    __shared__ int warp_sums[THREADS / 32];
    const int i = blockIdx.x * THREADS + threadIdx.x, warp = threadIdx.x / 32;
    int v = warp_scan(i < n ? in[i] : 0);
    if (threadIdx.x % 32 == 31) warp_sums[warp] = v;
    __syncthreads();
    for (int w = 0; w < warp; w++) v += warp_sums[w];
    if (i < n) out[i] = v;
    if (threadIdx.x == THREADS - 1) block_sums[blockIdx.x] = v;
}

__global__ void add_sums(int *out, const int *block_sums, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (unsigned b = 0; b < blockIdx.x; b++) out[i] += block_sums[b];
}

int main(void)
{
    const int n = 1000, blocks = (n + THREADS - 1) / THREADS;
    int *in, *out, *sums;
    CHECK(cudaMallocManaged(&in, n * sizeof(int)));
    CHECK(cudaMallocManaged(&out, n * sizeof(int)));
    CHECK(cudaMallocManaged(&sums, blocks * sizeof(int)));
    for (int i = 0; i < n; i++) in[i] = i * 37 % 19 - 5;

    scan_doubling<<<1, THREADS>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0, sum = 0; i < THREADS; i++) EXPECT(out[i] == (sum += in[i]));

    scan_tree<<<1, THREADS, 2 * THREADS * sizeof(int)>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0, sum = 0; i < 2 * THREADS; sum += in[i++]) EXPECT(out[i] == sum);

    scan_shuffle<<<blocks, THREADS>>>(in, out, sums, n);
    add_sums<<<blocks, THREADS>>>(out, sums, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0, sum = 0; i < n; i++) EXPECT(out[i] == (sum += in[i]));

    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(sums));
    return pass();
}
