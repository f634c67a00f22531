// Tiled transpose through shared memory, without and with a padding column.
#include "check.h"

template <int TILE, int ROWS, int PAD>
__global__ void transpose(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main(void)
{
    const int width = 131, height = 77;
    float *in, *out;
    CHECK(cudaMallocManaged(&in, sizeof(float) * width * height));
    CHECK(cudaMallocManaged(&out, sizeof(float) * width * height));
    for (int i = 0; i < width * height; i++) in[i] = (float)i;
    for (int padded = 0; padded < 2; padded++) {
        CHECK(cudaMemset(out, 0, sizeof(float) * width * height));
        const dim3 blocks((width + 31) / 32, (height + 31) / 32), threads(32, 8);
        if (padded)
            transpose<32, 8, 1><<<blocks, threads>>>(out, in, width, height);
        else
            transpose<32, 8, 0><<<blocks, threads>>>(out, in, width, height);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                EXPECT(out[x * height + y] == in[y * width + x]);
    }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return pass();
}
