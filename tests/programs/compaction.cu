// Keeps the positive numbers in their order: ballots give each lane its place in its
// warp, shared memory each warp its place in the block. Then the same without order,
// by one atomic for the lanes that happen to be active.
#include "check.h"

enum { THREADS = 256 };

__global__ void compact(const int *in, int *out, int *count, int n)
{
    __shared__ int warp_first[THREADS / 32 + 1];
    const int i = threadIdx.x, lane = i % 32, warp = i / 32;
    const int value = i < n ? in[i] : -1;
    const unsigned keep = __ballot_sync(0xffffffffu, value > 0);
    const int before = __popc(keep & ((1u << lane) - 1u));
    if (lane == 0) warp_first[warp + 1] = __popc(keep);
    __syncthreads();
    if (i == 0) {
        warp_first[0] = 0;
        for (int w = 0; w < THREADS / 32; w++) warp_first[w + 1] += warp_first[w];
        *count = warp_first[THREADS / 32];
    }
    __syncthreads();
    if (value > 0) out[warp_first[warp] + before] = value;
}

__device__ int reserve(int *counter)
{
    const unsigned active = __activemask();
    const int leader = __ffs((int)active) - 1, lane = threadIdx.x % 32;
    int first = 0;
    if (lane == leader) first = atomicAdd(counter, __popc(active));
    first = __shfl_sync(active, first, leader);
    return first + __popc(active & ((1u << lane) - 1u));
}

__global__ void compact_unordered(const int *in, int *out, int *count, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0) out[reserve(count)] = in[i];
}

int main(void)
{
    const int n = 243;
    int *in, *out, *count;
    CHECK(cudaMallocManaged(&in, n * sizeof(int)));
    CHECK(cudaMallocManaged(&out, n * sizeof(int)));
    CHECK(cudaMallocManaged(&count, sizeof(int)));
    long long want_sum = 0;
    int want = 0;
    for (int i = 0; i < n; i++) {
        in[i] = (i * 7919) % 211 - 90;
        if (in[i] > 0) want++, want_sum += in[i];
    }
    compact<<<1, THREADS>>>(in, out, count, n);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*count == want);
    for (int i = 0, j = 0; i < n; i++)
        if (in[i] > 0) EXPECT(out[j++] == in[i]);

    *count = 0;
    CHECK(cudaMemset(out, 0, n * sizeof(int)));
    compact_unordered<<<4, 64>>>(in, out, count, n);
    CHECK(cudaDeviceSynchronize());
    EXPECT(*count == want);
    for (int j = 0; j < want; j++) want_sum -= out[j];
    EXPECT(want_sum == 0);
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(count));
    return pass();
}
