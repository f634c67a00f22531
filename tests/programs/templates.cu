// Templates of kernels with arguments deduced and explicit, functors, overloads,
// defaults.
#include "check.h"

template <typename T> __global__ void scale(T *data, T factor, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= factor;
}

template <typename T, int PER_THREAD, bool NEGATE = false>
__global__ void iota(T *data, int n)
{
#pragma unroll
    for (int j = 0; j < PER_THREAD; ++j) {
        const int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD + j;
        if (i < n) data[i] = NEGATE ? -(T)i : (T)i;
    }
}

struct Square {
    __host__ __device__ double operator()(double x) const
    {
        return x * x;
    }
};

struct Affine {
    double a, b;
    __host__ __device__ double operator()(double x) const
    {
        return a * x + b;
    }
};

template <class F> __global__ void apply(double *data, int n, F f)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = f(data[i]);
}

namespace tools
{
template <int N> struct Power {
    static __device__ int of(int x)
    {
        return x * Power<N - 1>::of(x);
    }
};
template <> struct Power<0> {
    static __device__ int of(int)
    {
        return 1;
    }
};
template <int N> __global__ void power(int *data)
{
    data[threadIdx.x] = Power<N>::of(data[threadIdx.x]);
}
} // namespace tools

// Numbers that are compared or shifted where a launch names them.
constexpr int ONE = 1;
template <bool YES, int N = 0> __global__ void tell(int *data)
{
    data[threadIdx.x] = YES ? N : -N;
}

// A launcher that is a template itself, with the sizes picked at run time.
template <int BLOCK> static void launch_scale(float *data, int n)
{
    scale<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(data, 0.5f, n);
}

// A class gives its own name to what a namespace around it calls the same.
namespace shapes
{
template <class T, int N> struct Row {
    T value[N];
};
class Scale
{
  public:
    int by = 10;
};
namespace tiles
{
struct Scale { // the nearer one
    int by = 3;
};
template <class T, int N> struct Tile {
    using Row = Row<T, N>;
    using Scale = Scale;
    Row row;
    __device__ T sum() const
    {
        T all = 0;
        for (int i = 0; i < N; i++) all += row.value[i];
        return all * Scale().by;
    }
};
} // namespace tiles
} // namespace shapes

__global__ void sum_of_tile(int *out)
{
    shapes::tiles::Tile<int, 4> tile;
    for (int i = 0; i < 4; i++) tile.row.value[i] = i + 1;
    *out = tile.sum();
}

int main(void)
{
    const int n = 200;
    double *d;
    float *f;
    int *v;
    CHECK(cudaMallocManaged(&d, n * sizeof *d));
    CHECK(cudaMallocManaged(&f, n * sizeof *f));
    CHECK(cudaMallocManaged(&v, 32 * sizeof *v));

    sum_of_tile<<<1, 1>>>(v);
    CHECK(cudaDeviceSynchronize());
    EXPECT(v[0] == 30);

    iota<double, 4><<<1, 64>>>(d, n);
    scale<<<2, 128>>>(d, 3.0, n);
    apply<<<1, 32>>>(d, n, Square());
    apply<<<1, 32>>>(d, n, Affine{2.0, 1.0});
    iota<float, 2, (3 > 2)><<<dim3(2), dim3(64)>>>(f, n);
    switch (n % 64) {
    case 0: launch_scale<64>(f, n); break;
    default: launch_scale<32>(f, n);
    }
    scale<float><<<2, 128>>>(f, 4, n);
    for (int i = 0; i < 32; i++) v[i] = i % 5;
    tools::power<3><<<1, 32>>>(v);
    int *told;
    CHECK(cudaMallocManaged(&told, 6 * sizeof *told));
    // clang-format off
    tell<1 < 2, 3><<<1, 1>>>(told);
    tell<true, 1 << 3><<<1, ONE << 0>>>(told + 1);
    tell<ONE < 1, ONE << 4><<<1, 1>>>(told + 2);
    if (ONE < 2) tell<ONE < 2><<<1, 1>>>(told + 3);
    tell<sizeof(Square) < 2, 5><<<1, 1>>>(told + 4), tell<true, 6><<<1, 1>>>(told + 5);
    // clang-format on
    CHECK(cudaDeviceSynchronize());
    const int expected[6] = {3, 8, -16, 0, 5, 6};
    for (int i = 0; i < 6; i++) EXPECT(told[i] == expected[i]);
    CHECK(cudaFree(told));

    for (int i = 0; i < n; i++) {
        EXPECT(d[i] == 2.0 * (9.0 * i * i) + 1.0);
        EXPECT(f[i] == -2.0f * i);
    }
    for (int i = 0; i < 32; i++) EXPECT(v[i] == (i % 5) * (i % 5) * (i % 5));
    CHECK(cudaFree(d));
    CHECK(cudaFree(f));
    CHECK(cudaFree(v));
    return pass();
}
