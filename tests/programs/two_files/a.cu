// Two source files and a header: kernels of one launched by the other, launches in
// macros.
#include "../check.h"
#include "vector.h"

__global__ void halve(float *data, int n)
{
    __shared__ float tile[BLOCK];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? data[i] : 0.0f;
    __syncthreads();
    if (i < n) data[i] = half_of(tile[threadIdx.x]);
}

int main(void)
{
    const int n = 500;
    float *data;
    int *ints;
    CHECK(cudaMallocManaged(&data, n * sizeof *data));
    CHECK(cudaMallocManaged(&ints, n * sizeof *ints));
    LAUNCH(fill, n, data, 6.0f, n);
    LAUNCH(fill<int>, n, ints, 3, n);
    LAUNCH(halve, n, data, n);
    LAUNCH(square, n, data, n);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) EXPECT(data[i] == 9.0f && ints[i] == 3);
    EXPECT(sum_on_device(data, n) == 9.0f * n);
    CHECK(cudaFree(data));
    CHECK(cudaFree(ints));
    return pass();
}
