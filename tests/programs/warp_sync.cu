// A warp that talks through shared memory needs no barrier of the block, only __syncwarp.
#include "check.h"

__device__ void reduce_warp(volatile int *s, unsigned lane)
{
    for (unsigned d = 16; d > 0; d /= 2) {
        int v = 0;
        if (lane < d) v = s[lane + d];
        __syncwarp();
        if (lane < d) s[lane] += v;
        __syncwarp();
    }
}

__global__ void sums(const int *in, int *out)
{
    __shared__ int s[4][32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    s[warp][lane] = in[threadIdx.x];
    __syncwarp();
    reduce_warp(s[warp], lane);
    if (lane == 0) out[warp] = s[warp][0];
}

// Half a warp at a time: the mask names those that meet.
__global__ void halves(const int *in, int *out)
{
    __shared__ int s[32];
    const unsigned lane = threadIdx.x;
    if (lane < 16) {
        s[lane] = in[lane];
        __syncwarp(0x0000ffffu);
        out[lane] = s[15 - lane];
    } else {
        s[lane] = 2 * in[lane];
        __syncwarp(0xffff0000u);
        out[lane] = s[47 - lane];
    }
}

// What lane 0 wrote reaches lane 31 in two steps, and the other half meets meanwhile.
__global__ void relay(const int *in, int *out)
{
    __shared__ int s[32];
    const unsigned lane = threadIdx.x;
    s[lane] = in[lane];
    if (lane < 16) __syncwarp(0x0000ffffu);
    if (lane >= 8) {
        __syncwarp(0xffffff00u);
        if (lane < 24) __syncwarp(0x00ffff00u);
    }
    out[lane] = lane < 8 ? s[15 - lane] : s[31 - lane];
}

// The two branches meet at different __syncwarp().
__global__ void branches(const int *in, int *out)
{
    __shared__ int s[32];
    const unsigned lane = threadIdx.x;
    if (lane % 2 == 0) {
        s[lane] = in[lane];
        __syncwarp();
        out[lane] = s[lane + 1];
    } else {
        s[lane] = 3 * in[lane];
        __syncwarp();
        out[lane] = 2 * s[lane - 1];
    }
}

// One shuffle in the source, many in the program.
template <int WIDTH> __device__ int sum(int v)
{
#pragma unroll
    for (int d = WIDTH / 2; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffffu, v, d, WIDTH);
    return v;
}

__global__ void unrolled(const int *in, int *out)
{
    const unsigned lane = threadIdx.x;
    const int all = sum<32>(in[lane]), quarter = sum<8>(in[lane]);
    int rounds = 0;
    for (int i = 0; i < 3; i++) rounds += __shfl_sync(0xffffffffu, in[lane], i);
    out[lane] = lane == 0 ? all : lane % 8 == 0 ? quarter : rounds;
}

int main(void)
{
    int *in, *out;
    CHECK(cudaMallocManaged(&in, 128 * sizeof *in));
    CHECK(cudaMallocManaged(&out, 32 * sizeof *out));
    for (int i = 0; i < 128; i++) in[i] = i * i % 101;
    sums<<<1, 128>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    for (int w = 0; w < 4; w++) {
        int want = 0;
        for (int i = 0; i < 32; i++) want += in[32 * w + i];
        EXPECT(out[w] == want);
    }
    halves<<<1, 32>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) EXPECT(out[i] == (i < 16 ? in[15 - i] : 2 * in[47 - i]));
    relay<<<1, 32>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) EXPECT(out[i] == (i < 8 ? in[15 - i] : in[31 - i]));
    branches<<<1, 32>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++)
        EXPECT(out[i] == (i % 2 == 0 ? 3 * in[i + 1] : 2 * in[i - 1]));
    unrolled<<<1, 32>>>(in, out);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) {
        int want = i % 8 ? in[0] + in[1] + in[2] : 0;
        for (int j = i; i % 8 == 0 && j < (i ? i + 8 : 32); j++) want += in[j];
        EXPECT(out[i] == want);
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return pass();
}
