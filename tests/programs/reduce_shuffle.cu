// A sum by shuffles within a warp, then across the warps of a block, then by one atomic.
#include "check.h"

__inline__ __device__ float warp_sum(float v)
{
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

__inline__ __device__ float block_sum(float v)
{
    static __shared__ float partial[32];
    const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    v = warp_sum(v);
    if (lane == 0) partial[warp] = v;
    __syncthreads();
    v = threadIdx.x < blockDim.x / warpSize ? partial[lane] : 0.0f;
    if (warp == 0) v = warp_sum(v);
    return v;
}

__global__ void sum(const float *in, float *out, int n)
{
    float v = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += blockDim.x * gridDim.x)
        v += in[i];
    v = block_sum(v);
    if (threadIdx.x == 0) atomicAdd(out, v);
}

// The butterfly leaves the sum in every lane; the other shuffles move values about.
__global__ void shuffles(int *out)
{
    const int lane = threadIdx.x;
    int v = lane;
    for (int bit = 16; bit > 0; bit >>= 1) v += __shfl_xor_sync(0xffffffffu, v, bit);
    out[lane] = v;
    out[32 + lane] = __shfl_sync(0xffffffffu, lane * 10, 5);
    out[64 + lane] = __shfl_up_sync(0xffffffffu, lane, 3);
    out[96 + lane] = __shfl_down_sync(0xffffffffu, lane, 3, 8);
    out[128 + lane] = __shfl_sync(0xffffffffu, lane, 1, 8);
    const double d = __shfl_xor_sync(0xffffffffu, 0.5 + lane, 1);
    const long long l = __shfl_sync(0xffffffffu, (1ll << 40) + lane, lane ^ 31);
    out[160 + lane] = (int)(2 * d);
    out[192 + lane] = (int)(l - (1ll << 40));
    if (lane < 16) out[224 + lane] = __shfl_xor_sync(0x0000ffffu, lane, 15);
}

int main(void)
{
    const int n = 12345;
    float *in, *out;
    double want = 0.0;
    CHECK(cudaMallocManaged(&in, n * sizeof *in));
    CHECK(cudaMallocManaged(&out, sizeof *out));
    for (int i = 0; i < n; i++) want += in[i] = noise(i);
    *out = 0.0f;
    sum<<<4, 256>>>(in, out, n);
    CHECK(cudaDeviceSynchronize());
    EXPECT(close_to(*out, want, 1e-4));

    int *lanes;
    CHECK(cudaMallocManaged(&lanes, 240 * sizeof *lanes));
    shuffles<<<1, 32>>>(lanes);
    CHECK(cudaDeviceSynchronize());
    for (int lane = 0; lane < 32; lane++) {
        EXPECT(lanes[lane] == 31 * 16);
        EXPECT(lanes[32 + lane] == 50);
        EXPECT(lanes[64 + lane] == (lane < 3 ? lane : lane - 3));
        EXPECT(lanes[96 + lane] == (lane % 8 + 3 < 8 ? lane + 3 : lane));
        EXPECT(lanes[128 + lane] == lane / 8 * 8 + 1);
        EXPECT(lanes[160 + lane] == 1 + 2 * (lane ^ 1));
        EXPECT(lanes[192 + lane] == (lane ^ 31));
        EXPECT(lane >= 16 || lanes[224 + lane] == (lane ^ 15));
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(lanes));
    return pass();
}
