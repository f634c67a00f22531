// Views of memory (span, mdspan), Thrust's vector in managed memory, CUB's loops over
// such, and code for one side only (<nv/target>).
// BUILD: -std=c++17 --extended-lambda
#include <cub/device/device_for.cuh>
#include <cub/device/device_transform.cuh>
#include <cuda/std/atomic>
#include <cuda/std/mdspan>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <nv/target>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/reverse_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/universal_vector.h>

#include "check.h"

using grid = cuda::std::mdspan<float, cuda::std::dextents<int, 2>>;

__global__ void smooth(const grid in, grid out)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x,
              row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= in.extent(0) || col >= in.extent(1)) return;
    const bool edge =
        row == 0 || row == in.extent(0) - 1 || col == 0 || col == in.extent(1) - 1;
    out(row, col) = edge ? in(row, col)
                         : (in(row - 1, col) + in(row + 1, col) + in(row, col - 1) +
                            in(row, col + 1)) /
                               4;
}

__global__ void twice(cuda::std::span<int> all)
{
    for (int i = threadIdx.x; i < (int)all.size(); i += blockDim.x) all[i] *= 2;
    __shared__ int tile[6];
    cuda::std::mdspan two(tile, 2, 3);
    if (threadIdx.x < 6) two(threadIdx.x / 3, threadIdx.x % 3) = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) all.back() += tile[5] + (int)two.size();
    __syncthreads();
    cuda::std::atomic_ref<int> last(all.back());
    last.fetch_add(1);
}

static int sum_of(cuda::std::span<const int> numbers)
{
    int sum = 0;
    for (int x : numbers) sum += x;
    return sum;
}

static void check_views()
{
    const int height = 5, width = 7;
    thrust::universal_vector<float> in(height * width), out(height * width, -1.0f);
    thrust::tabulate(thrust::device, in.begin(), in.end(),
                     [=] __host__ __device__(int i) { return (float)(i * i % 11); });
    grid from(thrust::raw_pointer_cast(in.data()), height, width),
        to(thrust::raw_pointer_cast(out.data()), height, width);
    smooth<<<dim3(cuda::ceil_div(width, 4), cuda::ceil_div(height, 4)), dim3(4, 4)>>>(
        from, to);
    CHECK(cudaDeviceSynchronize());
    EXPECT(out[0] == in[0] && out[3] == 9);
    EXPECT(out[width + 1] == (in[1] + in[2 * width + 1] + in[width] + in[width + 2]) / 4);
    EXPECT(from.size() == 35 && from.stride(0) == width && from.rank() == 2);
    EXPECT(to.data_handle() + 9 == &to(1, 2));

    int numbers[6] = {1, 2, 3, 4, 5, 6};
    cuda::std::mdspan<int, cuda::std::extents<int, 2, 3>> fixed(numbers);
    cuda::std::mdspan<int, cuda::std::dims<2>, cuda::std::layout_left> columns(numbers, 2,
                                                                               3);
    EXPECT(fixed(1, 0) == 4 && columns(1, 0) == 2 && columns(0, 2) == 5);
    EXPECT(fixed.static_extent(1) == 3 && fixed.extents() == columns.extents());
    EXPECT(sum_of(numbers) == 21);
    EXPECT(sum_of(cuda::std::span<const int>(numbers, 6).subspan(1, 2)) == 5);
    EXPECT(cuda::std::span<int>(numbers).last(2).front() == 5);
}

static void check_vector()
{
    thrust::universal_vector<int> four{3, 0, 1, 2};
    four.erase(four.begin() + 1);
    thrust::universal_vector<int> v(four.begin(), four.end());
    EXPECT(v.size() == 3 && v.front() == 3 && v.back() == 2);
    v.push_back(4);
    v[0] += 7; // a reference, not a copy that is sent to and fro
    int *const third = &v[2];
    for (int &x : v) x += 1;
    EXPECT(v.size() == 4 && *third == 3 && v.front() == 11 && v.back() == 5);
    thrust::transform(v.begin(), v.end(), v.begin(),
                      [] __host__ __device__(int x) { return 10 * x; });
    EXPECT(v[0] == 110 && *(v.begin() + 1) == 20);
    EXPECT(thrust::reduce(v.begin(), v.end()) == 110 + 20 + 30 + 50);
    EXPECT(thrust::reduce(thrust::host, v.begin(), v.end(), 1) == 211);

    thrust::device_vector<int> d = v;
    thrust::universal_vector<int> back(d), copy = v;
    thrust::sequence(d.begin(), d.end());
    copy = thrust::universal_vector<int>(d.begin(), d.end());
    EXPECT(back == v && back != copy && copy[3] == 3);
    twice<<<1, 32>>>({thrust::raw_pointer_cast(copy.data()), copy.size()});
    CHECK(cudaDeviceSynchronize());
    EXPECT(copy[1] == 2 && copy[3] == 6 + 5 + 6 + 32);
}

static __host__ __device__ int where()
{
    NV_IF_TARGET(NV_IS_HOST, (return 1;), (return 2;));
    return 0;
}

static __host__ __device__ int generation()
{
    NV_DISPATCH_TARGET(NV_PROVIDES_SM_70, (return 70;), NV_IS_HOST, (return 1;));
    return 0;
}

static void check_loops()
{
    const int n = 1000;
    thrust::universal_vector<int> a(n), b(n), c(n);
    int *const out = thrust::raw_pointer_cast(a.data());
    CHECK(cub::DeviceFor::Bulk(
        n, [=] __device__(int i) { out[i] = i * where() + generation(); }));
    CHECK(
        cub::DeviceTransform::Transform(thrust::make_counting_iterator(0), b.begin(), n,
                                        [] __host__ __device__(int i) { return 3 * i; }));
    CHECK(cub::DeviceTransform::Transform(
        cuda::std::make_tuple(a.begin(), b.begin()), c.begin(), n,
        [] __host__ __device__(int x, int y) { return x - y; }));
    CHECK(cub::DeviceFor::ForEachN(c.begin(), 10, [] __device__(int &x) { x = -1; }));
    CHECK(cudaDeviceSynchronize());
    EXPECT(where() == 1 && generation() == 1);
    EXPECT(a[7] == 84 && b[7] == 21 && c[7] == -1 && c[10] == 90 - 30 &&
           c[n - 1] == 70 + 2 * 999 - 3 * 999);

    thrust::transform(a.rbegin(), a.rend(),
                      thrust::make_transform_output_iterator(
                          b.begin(), [] __host__ __device__(int x) { return x + 1; }),
                      [] __host__ __device__(int x) { return 2 * x; });
    EXPECT(b[0] == 2 * (2 * 999 + 70) + 1 && b[n - 1] == 141);
}

static_assert(CUB_VERSION >= 200800, "which has these loops");

int main()
{
    thrust::universal_host_pinned_vector<int> pinned(3, 7);
    EXPECT(pinned[2] == 7);
    check_loops();
    check_views();
    check_vector();
    return pass();
}
