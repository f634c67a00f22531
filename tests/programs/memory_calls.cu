// Every kind of memory and copy: set, 2-D, pitched, managed, pinned, between device
// buffers.
#include "check.h"
#include <string.h>

__global__ void add_pitched(float *data, size_t pitch, int width, int height, float v)
{
    const int x = threadIdx.x, y = blockIdx.x;
    if (x < width && y < height) {
        float *row = (float *)((char *)data + y * pitch);
        row[x] += v;
    }
}

__global__ void negate(int *data, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] = -data[i];
}

int main(void)
{
    enum { WIDTH = 19, HEIGHT = 7 };
    float in[HEIGHT][WIDTH], out[HEIGHT][WIDTH + 4], *pitched;
    size_t pitch;
    for (int i = 0; i < WIDTH * HEIGHT; i++) in[i / WIDTH][i % WIDTH] = (float)i;
    memset(out, 0, sizeof out);
    CHECK(cudaMallocPitch(&pitched, &pitch, WIDTH * sizeof(float), HEIGHT));
    EXPECT(pitch >= WIDTH * sizeof(float) && pitch % 16 == 0);
    CHECK(cudaMemset2D(pitched, pitch, 0, WIDTH * sizeof(float), HEIGHT));
    CHECK(cudaMemcpy2D(pitched, pitch, in, sizeof in[0], sizeof in[0], HEIGHT,
                       cudaMemcpyHostToDevice));
    add_pitched<<<HEIGHT, 32>>>(pitched, pitch, WIDTH, HEIGHT, 0.25f);
    CHECK(cudaMemcpy2D(out, sizeof out[0], pitched, pitch, sizeof in[0], HEIGHT,
                       cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH + 4; x++)
            EXPECT(out[y][x] == (x < WIDTH ? in[y][x] + 0.25f : 0.0f));
    CHECK(cudaFree(pitched));

    const int n = 100;
    int *managed, *pinned, *a, *b;
    CHECK(cudaMallocManaged(&managed, n * sizeof(int)));
    CHECK(cudaHostAlloc(&pinned, n * sizeof(int), cudaHostAllocDefault));
    CHECK(cudaMalloc(&a, n * sizeof(int)));
    CHECK(cudaMalloc(&b, n * sizeof(int)));
    for (int i = 0; i < n; i++) managed[i] = i;
    negate<<<1, 128>>>(managed, n);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(a, managed, n * sizeof(int), cudaMemcpyDefault));
    CHECK(cudaMemcpy(b, a, n * sizeof(int), cudaMemcpyDeviceToDevice));
    negate<<<1, 128>>>(b, n);
    CHECK(cudaMemset(a, 0xff, n / 2 * sizeof(int)));
    CHECK(cudaMemcpy(pinned, b, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(managed[i] == -i && pinned[i] == i);
    CHECK(cudaMemcpy(pinned, a, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) EXPECT(pinned[i] == (i < n / 2 ? -1 : -i));

    size_t free_bytes, total;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    EXPECT(free_bytes > 0 && free_bytes <= total);
    struct cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, a));
    EXPECT(attributes.type == cudaMemoryTypeDevice);
    CHECK(cudaPointerGetAttributes(&attributes, managed));
    EXPECT(attributes.type == cudaMemoryTypeManaged);

    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int *pooled;
    CHECK(cudaMallocAsync(&pooled, n * sizeof(int), stream));
    CHECK(cudaMemsetAsync(pooled, 0, n * sizeof(int), stream));
    CHECK(
        cudaMemcpyAsync(pinned, pooled, n * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFreeAsync(pooled, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < n; i++) EXPECT(pinned[i] == 0);
    CHECK(cudaStreamDestroy(stream));

    CHECK(cudaFree(managed));
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(NULL));
    CHECK(cudaFreeHost(pinned));
    return pass();
}
