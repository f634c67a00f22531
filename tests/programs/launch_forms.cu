// The ways to write a launch: expressions, nested calls, pointers to kernels,
// cudaLaunchKernel.
#include "check.h"

__global__ void add(int *out, int a, int b)
{
    atomicAdd(out, a + b);
}

template <int N> __global__ void add_constant(int *out)
{
    atomicAdd(out, N);
}

/* Two of one name, the second with a parameter of a type that has no name out there. */
namespace scores
{
struct points {
    int value;
};
__global__ void give(int *out)
{
    atomicAdd(out, 1);
}
__global__ void give(int *out, const points by)
{
    atomicAdd(out, by.value);
}
static int launched(int *out)
{
    points by = {20};
    void *arguments[] = {&out, &by};
    const void *const first = (const void *)(void (*)(int *))give,
                      *const second = (const void *)(void (*)(int *, points))give;
    CHECK(cudaLaunchKernel(first, 2, 1, arguments, 0, NULL));
    CHECK(cudaLaunchKernel(second, 1, 2, arguments, 0, NULL));
    return 2 + 40;
}
} // namespace scores

/* Declared in a namespace, defined outside it, as a header's kernels are. */
namespace sums
{
struct points {
    int value;
};
__global__ void give(int *out);
__global__ void give(int *out, points by);
template <class T> __global__ void give_one_of(T *out, int by);
namespace inner
{
__global__ void take(int *out);
}
} // namespace sums
__global__ void sums::give(int *out)
{
    atomicAdd(out, 1);
}
__global__ void sums::give(int *out, points by)
{
    atomicAdd(out, by.value);
}
template <class T> __global__ void sums::give_one_of(T *out, int by)
{
    atomicAdd(out, (T)by);
}
__global__ void sums::inner::take(int *out)
{
    atomicAdd(out, -1);
}

__global__ void coordinates(unsigned *out)
{
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned thread =
        threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}

static inline int divide_up(int a, int b)
{
    return (a + b - 1) / b;
}
static dim3 square(unsigned n)
{
    return dim3(n, n);
}

#define GRID dim3(2, 3, 2)
#define RUN(kernel, blocks, threads) kernel<<<blocks, threads>>>

typedef void (*kernel_type)(int *, int, int);

template <class Kernel> static const void *address_of(int, Kernel &kernel)
{
    return (const void *)&kernel;
}
template <class Kernel> static const void *address_behind(Kernel *kernel, int)
{
    return (const void *)kernel;
}
static cudaError_t launched_as(int blocks, const void *kernel, void **arguments)
{
    return cudaLaunchKernel(kernel, blocks, 1, arguments, 0, NULL);
}

int main(void)
{
    int *out, want = 0;
    CHECK(cudaMallocManaged(&out, sizeof *out));
    *out = 0;
    int n = 100;
    add<<<1, 1>>>(out, 1, 2), want += 3;
    add<<<divide_up(n, 32), 2 << 1>>>(out, (int)(n / 50), 3), want += 16 * 5;
    add<<<(n > 50 ? 2 : 1), dim3(n >> 5, 2)>>>(out, n > 50, 0), want += 2 * 6;
    if (n < 1000 && n > 1)
        add<<<1, square(2), 0, (cudaStream_t)0>>>(out, 1, 0), want += 4;
    for (int i = 0; i < 3; ++i) add<<<i + 1, 1>>>(out, i, 0);
    want += 0 + 2 + 6;
    kernel_type chosen = n ? add : NULL;
    chosen<<<1, 2>>>(out, 10, 0), want += 20;
    RUN(add, 2, 3)(out, 1, 1), want += 12;
    add<<<2>>>(out, 1, 1), want += 4;
    switch (n) {
    case 64: add<<<1, 1>>>(out, 64, 0); break;
    case 100: add_constant<100><<<1, 1>>>(out); break;
    }
    n > 64 ? add_constant<1><<<1, 1>>>(out) : add_constant<2><<<1, 1>>>(out);
    want += 100 + 1;
    int a = 5, b = 6;
    void *arguments[] = {&out, &a, &b};
    CHECK(cudaLaunchKernel((const void *)add, dim3(2), dim3(2), arguments, 0, NULL));
    want += 4 * 11;
    CHECK(cudaLaunchKernel(add, 1, 1, arguments, 0, NULL));
    CHECK(
        cudaLaunchKernel((void *)add_constant<8>, dim3(2), dim3(2), arguments, 0, NULL));
    CHECK(cudaLaunchKernel((const void *)&add_constant<8>, 1, 1, arguments, 0, NULL));
    CHECK(cudaLaunchKernel(reinterpret_cast<const void *>(add_constant<3>), 1, 1,
                           arguments, 0, NULL));
    CHECK(cudaLaunchKernel(add_constant<4>, 1, 1, arguments, 0, NULL));
    want += 11 + 4 * 8 + 8 + 3 + 4;
    /* By a pointer that was kept. */
    auto *kept = &add_constant<5>;
    void (*plain)(int *) = add_constant<6>, (&referred)(int *) = add_constant<7>;
    CHECK(cudaLaunchKernel((const void *)kept, 1, 1, arguments, 0, NULL));
    CHECK(cudaLaunchKernel((const void *)plain, 1, 1, arguments, 0, NULL));
    CHECK(cudaLaunchKernel((const void *)referred, 1, 1, arguments, 0, NULL));
    CHECK(launched_as(3, address_of(0, add_constant<9>), arguments));
    CHECK(launched_as(2, address_behind(&add_constant<10>, 0), arguments));
    want += 5 + 6 + 7 + 3 * 9 + 2 * 10;
    want += scores::launched(out);
    const sums::points four = {4};
    sums::give<<<1, 3>>>(out), want += 3;
    sums::give<<<1, 2>>>(out, four), want += 8;
    sums::give_one_of<<<1, 1>>>(out, 30), want += 30;
    sums::inner::take<<<1, 2>>>(out), want -= 2;
    CHECK(cudaLaunchKernel(sums::inner::take, 5, 1, arguments, 0, NULL));
    want -= 5;
    const char *text = "add<<<1, 1>>>(out, 1, 1); // not a launch";
    /* add<<<1, 1>>>(out, 1000, 1); nor this */
    EXPECT(text[3] == '<');
    CHECK(cudaDeviceSynchronize());
    EXPECT(*out == want);

    unsigned *grid;
    const dim3 block(3, 2, 4);
    CHECK(cudaMallocManaged(&grid, 12 * 24 * sizeof *grid));
    coordinates<<<GRID, block>>>(grid);
    CHECK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < 12 * 24; i++) EXPECT(grid[i] == i / 24 * 1000 + i % 24);
    CHECK(cudaFree(out));
    CHECK(cudaFree(grid));
    return pass();
}
