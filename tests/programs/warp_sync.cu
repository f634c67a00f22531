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
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return pass();
}
