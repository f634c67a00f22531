// A 2-D convolution whose coefficients, and sizes, lie in constant memory.
#include "check.h"

#define RADIUS 2
#define WIDTH (2 * RADIUS + 1)

struct Shape {
    int width, height;
};

__constant__ float mask[WIDTH][WIDTH];
__constant__ Shape shape;
__constant__ int primes[] = {2, 3, 5, 7, 11};

__global__ void convolve(const float *in, float *out)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x,
              y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= shape.width || y >= shape.height) return;
    float sum = 0.0f;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++) {
            const int u = min(max(x + dx, 0), shape.width - 1);
            const int v = min(max(y + dy, 0), shape.height - 1);
            sum += mask[dy + RADIUS][dx + RADIUS] * in[v * shape.width + u];
        }
    out[y * shape.width + x] = sum + (float)primes[x % 5];
}

int main(void)
{
    const Shape s = {45, 29};
    const int host_primes[] = {2, 3, 5, 7, 11}, n = s.width * s.height;
    float m[WIDTH][WIDTH], *in, *out;
    for (int i = 0; i < WIDTH * WIDTH; i++) m[i / WIDTH][i % WIDTH] = noise(i);
    CHECK(cudaMallocManaged(&in, n * sizeof *in));
    CHECK(cudaMallocManaged(&out, n * sizeof *out));
    for (int i = 0; i < n; i++) in[i] = noise(i + 1000);
    CHECK(cudaMemcpyToSymbol(mask, m, sizeof m));
    CHECK(cudaMemcpyToSymbol(shape, &s, sizeof s, 0, cudaMemcpyHostToDevice));
    convolve<<<dim3(3, 4), dim3(16, 8)>>>(in, out);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int y = 0; y < s.height; y++)
        for (int x = 0; x < s.width; x++) {
            double want = host_primes[x % 5];
            for (int dy = -RADIUS; dy <= RADIUS; dy++)
                for (int dx = -RADIUS; dx <= RADIUS; dx++) {
                    const int u = x + dx < 0          ? 0
                                  : x + dx >= s.width ? s.width - 1
                                                      : x + dx;
                    const int v = y + dy < 0           ? 0
                                  : y + dy >= s.height ? s.height - 1
                                                       : y + dy;
                    want += (double)m[dy + RADIUS][dx + RADIUS] * in[v * s.width + u];
                }
            EXPECT(close_to(out[y * s.width + x], want, 1e-5));
        }
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return pass();
}
