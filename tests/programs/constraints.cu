// What C++20 adds to a template: conditions, values of classes as arguments; and functions that
// only the compiler calls.
// BUILD: -std=c++20
#include "check.h"

#include <concepts>

template <class T>
concept Number = std::integral<T> || std::floating_point<T>;

struct Box {
    int width, height;
};

consteval int area(Box box)
{
    return box.width * box.height;
}

// clang-format off
template <class T> requires (sizeof(T) == 4) __global__ void store(T *data, T value)
{
    data[threadIdx.x] = value;
}

template <class T> requires Number<T> && (sizeof(T) > 4)
__global__ __launch_bounds__(32) void store_wide(T *data, T value)
{
    data[threadIdx.x] = value;
}

template <class T> requires requires(T x) { x + x; } && (sizeof(T) < 3)
__global__ void store_small(T *data, T value)
{
    data[threadIdx.x] = value + value;
}

template <class T> requires (sizeof(T) == 4) struct Pair {
    T first, second;
    __device__ T sum() const requires Number<T>
    {
        return first + second;
    }
};

template <class T> requires (sizeof(T) == 4) __device__ T twice(T x)
{
    return Pair<T>{x, x}.sum();
}
// clang-format on

template <Box BOX, class T = int> __global__ void fill(T *data)
{
    data[threadIdx.x] = twice(BOX.width) * 10 + BOX.height;
}

__global__ void areas(int *data)
{
    data[threadIdx.x] = area({3, 4}) + area(Box{5, 6});
}

int main(void)
{
    int *i;
    double *d;
    short *s;
    CHECK(cudaMallocManaged(&i, 6 * sizeof *i));
    CHECK(cudaMallocManaged(&d, sizeof *d));
    CHECK(cudaMallocManaged(&s, sizeof *s));
    store<<<1, 1>>>(i, 1);
    store_wide<<<1, 1>>>(d, 2.5);
    store_small<short><<<1, 1>>>(s, (short)3);
    fill<Box{4, 5}><<<1, 1>>>(i + 1);
    fill<Box{4, 1 << 1}, int><<<1, 1>>>(i + 2);
    constexpr Box box = {2, 1};
    fill<box><<<1, 1>>>(i + 3);
    areas<<<1, 1>>>(i + 4);
    CHECK(cudaDeviceSynchronize());
    EXPECT(i[0] == 1 && *d == 2.5 && *s == 6);
    EXPECT(i[1] == 85 && i[2] == 82 && i[3] == 41 && i[4] == 42);
    CHECK(cudaFree(i));
    CHECK(cudaFree(d));
    CHECK(cudaFree(s));
    return pass();
}
