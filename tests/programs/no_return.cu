// NOT WITH NVCC: it warns of what this is about
// A function that ends without the value that it promises, which nobody asks it for.
#include "check.h"

#pragma GCC diagnostic ignored "-Wreturn-type"

__device__ int put(int *x, int value)
{
    *x = value;
}

template <class T> __device__ T *put_twice(T *x, T value)
{
    x[0] = x[1] = value;
}

__global__ void fill(int *x)
{
    put(&x[0], 5);
    put_twice(&x[1], 6);
}

static int count_up(int *x, int n)
{
    for (int i = 0; i < n; i++) x[i]++;
}

int main()
{
    int *x;
    CHECK(cudaMallocManaged(&x, 3 * sizeof *x));
    fill<<<1, 1>>>(x);
    CHECK(cudaDeviceSynchronize());
    count_up(x, 3);
    EXPECT(x[0] == 6 && x[1] == 7 && x[2] == 7);
    CHECK(cudaFree(x));
    return pass();
}
