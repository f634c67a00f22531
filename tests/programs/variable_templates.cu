// Templates of variables of device code, some with values of their own, by their names in
// kernels and in the calls that want a symbol.
#include "check.h"

namespace sums
{
template <typename T> __device__ T total;
template <typename T> static __device__ T first = T(3);
template <> __device__ float first<float> = 2.5f;
template <typename T, int N> __constant__ T weights[N];
template <typename T> __device__ const T last = T(100);
template <typename T> __managed__ T launches;
} // namespace sums

template <typename T> __global__ void add(const T *x, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&sums::total<T>, x[i] * sums::weights<T, 2>[i % 2]);
    __syncthreads();
    if (threadIdx.x == 0) {
        sums::total<T> += sums::first<T> + sums::last<T>;
        ++sums::launches<T>;
    }
}

template <typename T> static double sum_twice()
{
    using namespace sums;
    enum { N = 8 };
    T x[N], *d_x, *place, sum;
    const T weight[2] = {1, 2};
    size_t bytes;
    for (int i = 0; i < N; i++) x[i] = (T)i;
    CHECK(cudaMalloc(&d_x, sizeof x));
    CHECK(cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(weights<T, 2>, weight, sizeof weight));
    CHECK(cudaGetSymbolSize(&bytes, weights<T, 2>));
    EXPECT(bytes == sizeof weight);
    CHECK(cudaGetSymbolAddress((void **)&place, total<T>));
    add<T><<<1, 4>>>(d_x, N);
    CHECK(cudaMemcpyFromSymbol(&sum, total<T>, sizeof sum));
    const double once = (double)sum;
    add<<<1, 4>>>(d_x, N);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&sum, place, sizeof sum, cudaMemcpyDeviceToHost));
    EXPECT(launches<T> == 2 && (double)sum == 2 * once);
    CHECK(cudaFree(d_x));
    return (double)sum;
}

int main(void)
{
    EXPECT(sum_twice<int>() == 2 * (44 + 3 + 100));
    EXPECT(sum_twice<float>() == 2 * (44 + 2.5 + 100));
    return pass();
}
