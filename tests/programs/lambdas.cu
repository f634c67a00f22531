// Kernels that take lambdas, variadic templates, if constexpr: CUDA as newer C++
// writes it.
// BUILD: --extended-lambda
#include "check.h"
#include <type_traits>

template <typename F> __global__ void for_each(int n, F f)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        f(i);
}

template <typename... Pointers> __device__ auto sum_of(int i, Pointers... pointers)
{
    return (pointers[i] + ...);
}

template <typename T, typename... Inputs>
__global__ void add_all(int n, T *out, const Inputs *...inputs)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if constexpr (std::is_same_v<T, int>)
        out[i] = sum_of(i, inputs...);
    else
        out[i] = (T)0.5 * sum_of(i, inputs...);
}

template <int... SIZES> struct List {
};
template <int FIRST, int... REST> constexpr int largest(List<FIRST, REST...>)
{
    if constexpr (sizeof...(REST) == 0)
        return FIRST;
    else
        return FIRST > largest(List<REST...>()) ? FIRST : largest(List<REST...>());
}

// A name of its own hides what else is called so: functions of the host, and a template
// that follows.
static void hidden(int &i)
{
    i = 7;
}
template <typename F> __device__ void call(F &&hidden, int i)
{
    hidden(i);
}
template <int N> __global__ void count_down(int *out)
{
    const auto later = [&](int i) { out[i] = N - i; };
    for (int i = 0; i < N; i++) call(later, i);
    auto hidden = [&](int i) { out[i] = -1; };
    hidden(N);
    later(N + 1);
}
template <int N> __device__ void later(int *out)
{
    out[N] = 5;
}
template <int N> __global__ void set_last(int *out)
{
    later<N>(out);
}

int main()
{
    constexpr int n = 500, threads = largest(List<32, 128, 64>());
    static_assert(threads == 128, "the largest");
    int *a, *b, *c;
    float *f;
    CHECK(cudaMallocManaged(&a, n * sizeof(int)));
    CHECK(cudaMallocManaged(&b, n * sizeof(int)));
    CHECK(cudaMallocManaged(&c, n * sizeof(int)));
    CHECK(cudaMallocManaged(&f, n * sizeof(float)));
    const int factor = 3;
    for_each<<<2, threads>>>(n, [=] __device__(int i) { a[i] = factor * i; });
    for_each<<<2, threads>>>(n,
                             [b] __host__ __device__(int i) { b[i] = i % 2 ? 1 : -1; });
    add_all<<<(n + threads - 1) / threads, threads>>>(n, c, a, b);
    add_all<<<(n + threads - 1) / threads, threads>>>(n, f, a, b, c);
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) {
        EXPECT(c[i] == 3 * i + (i % 2 ? 1 : -1));
        EXPECT(f[i] == (float)c[i]);
    }
    count_down<3><<<1, 1>>>(a);
    set_last<5><<<1, 1>>>(a);
    CHECK(cudaDeviceSynchronize());
    hidden(a[6]);
    const int expected[] = {3, 2, 1, -1, -1, 5, 7};
    for (int i = 0; i < 7; i++) EXPECT(a[i] == expected[i]);
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    CHECK(cudaFree(f));
    return pass();
}
