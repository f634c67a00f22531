// Asynchronous copies into two buffers: the next tile travels while this one is summed.
#include "check.h"
#include <cuda_pipeline.h>

enum { THREADS = 64, TILE = 4 * THREADS };

__global__ void sum_tiles(const float *in, float *out, int tiles)
{
    __shared__ __align__(16) float buffer[2][TILE];
    const int t = threadIdx.x;
    float sum = 0.0f;
    __pipeline_memcpy_async(&buffer[0][4 * t], &in[4 * t], 16);
    __pipeline_commit();
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles)
            __pipeline_memcpy_async(&buffer[(i + 1) % 2][4 * t],
                                    &in[(i + 1) * TILE + 4 * t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int j = t; j < TILE; j += THREADS) sum += buffer[i % 2][j];
        __syncthreads();
    }
    __pipeline_wait_prior(0);
    out[t] = sum;
}

// The last argument is how many bytes at the end are zeros instead of a copy.
__global__ void zero_fill(const float *in, float *out, int n)
{
    __shared__ float line[THREADS];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&line[t], t < n ? &in[t] : in, sizeof(float),
                            t < n ? 0 : sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = line[THREADS - 1 - t];
}

int main(void)
{
    const int tiles = 5, n = tiles * TILE;
    float *in, *out;
    CHECK(cudaMallocManaged(&in, n * sizeof *in));
    CHECK(cudaMallocManaged(&out, THREADS * sizeof *out));
    for (int i = 0; i < n; i++) in[i] = (float)(i % 100);
    sum_tiles<<<1, THREADS>>>(in, out, tiles);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < THREADS; t++) {
        float want = 0.0f;
        for (int i = t; i < n; i += THREADS) want += in[i];
        EXPECT(out[t] == want);
    }
    zero_fill<<<1, THREADS>>>(in, out, 50);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < THREADS; t++) {
        const int from = THREADS - 1 - t;
        EXPECT(out[t] == (from < 50 ? in[from] : 0.0f));
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return pass();
}
