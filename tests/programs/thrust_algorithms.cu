// Thrust: vectors, algorithms on the host and on the device, fancy iterators, policies.
// BUILD: -std=c++17 -arch=sm_80
// NOT WITH NVCC: its own Thrust takes it a minute
#include <thrust/adjacent_difference.h>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/count.h>
#include <thrust/device_malloc.h>
#include <thrust/device_free.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/merge.h>
#include <thrust/pair.h>
#include <thrust/partition.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/reverse.h>
#include <thrust/scan.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/shuffle.h>
#include <thrust/sort.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

#include <algorithm>
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda/std/iterator>
#include <iterator>
#include <sstream>
#include <vector>

#include "check.h"

static_assert(std::is_same<thrust::iterator_difference<int *>::type, ptrdiff_t>::value,
              "");
static_assert(std::is_same<thrust::iterator_pointer_t<const int *>, const int *>::value,
              "");

struct saxpy {
    float a;
    __host__ __device__ float operator()(float x, float y) const
    {
        return a * x + y;
    }
};
struct is_even {
    __host__ __device__ bool operator()(int x) const
    {
        return x % 2 == 0;
    }
};
struct squared {
    __host__ __device__ double operator()(int x) const
    {
        return (double)x * x;
    }
};
struct add_up {
    __host__ __device__ void operator()(thrust::tuple<int &, int &> t) const
    {
        thrust::get<0>(t) += thrust::get<1>(t);
    }
};
struct dice {
    __host__ __device__ int operator()(int i) const
    {
        thrust::default_random_engine engine((unsigned)i * 2654435761u + 1);
        thrust::uniform_int_distribution<int> six(1, 6);
        return six(engine);
    }
};

__global__ void doubled(int *x, int n)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) x[i] *= 2;
}

__global__ void sort_in_a_kernel(int *x, int n)
{
    thrust::sort(thrust::seq, x, x + n);
    x[0] = thrust::reduce(thrust::seq, x + 1, x + n);
}

static void vectors()
{
    thrust::host_vector<int> h(5);
    thrust::sequence(h.begin(), h.end(), 10, 2);
    thrust::device_vector<int> d = h;
    d.push_back(100);
    d[1] = 7;
    d[2] += 1;
    doubled<<<1, 32>>>(thrust::raw_pointer_cast(d.data()), (int)d.size());
    const int want[] = {20, 14, 30, 32, 36, 200};
    for (int i = 0; i < 6; i++) EXPECT(d[i] == want[i]);
    const thrust::device_vector<int> copy(d.begin() + 1, d.begin() + 3);
    EXPECT(copy.size() == 2 && copy.front() == 14 && copy.back() == 30);
    std::vector<int> v(6);
    thrust::copy(d.begin(), d.end(), v.begin());
    EXPECT(v[5] == 200);
    d.erase(d.begin() + 1);
    EXPECT(d.size() == 5 && d[1] == 30);
    thrust::device_vector<int> twin(d);
    EXPECT(twin == d);
    thrust::device_ptr<int> p = thrust::device_malloc<int>(3);
    thrust::fill(p, p + 3, 4);
    *(p + 1) = 5;
    EXPECT(thrust::reduce(p, p + 3) == 13);
    thrust::device_free(p);
}

static void elements()
{
    const int n = 1000;
    thrust::device_vector<float> x(n, 2.0f), y(n);
    thrust::sequence(y.begin(), y.end());
    thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), saxpy{3.0f});
    EXPECT(y[0] == 6.0f && y[999] == 1005.0f);
    using namespace thrust::placeholders;
    thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), 2.0f * _1 + _2);
    EXPECT(y[999] == 1009.0f);

    thrust::device_vector<int> a(n), b(n, 1), c(n);
    thrust::tabulate(a.begin(), a.end(), dice());
    EXPECT(thrust::count_if(a.begin(), a.end(), is_even()) > n / 3);
    EXPECT(*thrust::min_element(a.begin(), a.end()) == 1);
    EXPECT(*thrust::max_element(a.begin(), a.end()) == 6);
    thrust::sequence(a.begin(), a.end());
    EXPECT(thrust::find(a.begin(), a.end(), 77) - a.begin() == 77);
    thrust::for_each(thrust::make_zip_iterator(thrust::make_tuple(b.begin(), a.begin())),
                     thrust::make_zip_iterator(thrust::make_tuple(b.end(), a.end())),
                     add_up());
    EXPECT(b[0] == 1 && b[999] == 1000);
    EXPECT(thrust::inner_product(a.begin(), a.end(), b.begin(), 0) == 333333000);
    EXPECT(thrust::transform_reduce(a.begin(), a.end(), squared(), 0.0,
                                    thrust::plus<double>()) == 332833500.0);
    EXPECT(thrust::reduce(thrust::make_transform_iterator(
                              thrust::counting_iterator<int>(0), squared()),
                          thrust::make_transform_iterator(
                              thrust::counting_iterator<int>(4), squared())) == 14.0);
    thrust::scatter(a.begin(), a.end(), thrust::make_counting_iterator(0), c.begin());
    EXPECT(thrust::equal(a.begin(), a.end(), c.begin()));
    const int places[] = {5, 500, 50};
    const thrust::device_vector<int> map(places, places + 3);
    thrust::device_vector<int> out(3);
    thrust::gather(map.begin(), map.end(), b.begin(), out.begin());
    EXPECT(out[0] == 6 && out[1] == 501 && out[2] == 51);
    EXPECT(thrust::reduce(thrust::make_permutation_iterator(a.begin(), map.begin()),
                          thrust::make_permutation_iterator(a.begin(), map.end())) ==
           555);
}

/* Functions that change themselves need not be const. */
struct counting {
    int calls;
    __host__ __device__ int operator()(int i)
    {
        ++calls;
        return 2 * i;
    }
};
struct adding {
    __host__ __device__ int operator()(int a, int b)
    {
        return a + b;
    }
};

static void not_const()
{
    const thrust::counting_iterator<int> zero(0), ten(10);
    EXPECT(thrust::transform_reduce(zero, ten, counting(), 0, adding()) == 90);
    EXPECT(thrust::reduce(zero, ten, 5, adding()) == 50);
    EXPECT(thrust::inner_product(zero, ten, zero, 0, adding(),
                                 thrust::multiplies<int>()) == 285);
    thrust::device_vector<int> x(10), y(10);
    thrust::transform(zero, ten, x.begin(), counting());
    thrust::inclusive_scan(x.begin(), x.end(), y.begin(), adding());
    EXPECT(x[9] == 18 && y[9] == 90);
}

/* Numbers of every kind sort as std::stable_sort does it, 0 and -0 as equals. */
template <class Key, class Less> static void sorts_numbers(Less less_than)
{
    const int n = 3000;
    thrust::host_vector<Key> keys(n), wanted(n);
    thrust::host_vector<int> places(n);
    for (int i = 0; i < n; i++) {
        keys[i] =
            (Key)(noise((unsigned)i) * 100 + (std::is_signed<Key>::value ? 0 : 100));
        if (i % 50 == 0) keys[i] = (Key)(i % 100 ? -0.0 : 0.0);
        places[i] = i;
    }
    wanted = keys;
    std::stable_sort(places.begin(), places.end(),
                     [&](int a, int b) { return less_than(keys[a], keys[b]); });
    std::stable_sort(wanted.begin(), wanted.end(), less_than);
    thrust::device_vector<Key> alone = keys, with_values = keys;
    thrust::device_vector<int> values(n);
    thrust::sequence(values.begin(), values.end());
    thrust::sort(alone.begin(), alone.end(), less_than);
    thrust::sort_by_key(with_values.begin(), with_values.end(), values.begin(),
                        less_than);
    for (int i = 0; i < n; i++)
        EXPECT(alone[i] == wanted[i] && with_values[i] == wanted[i] &&
               values[i] == places[i]);
}

static void orders()
{
    const int n = 3000;
    thrust::device_vector<int> keys(n), values(n), sums(n);
    for (int i = 0; i < n; i++) keys[i] = (i * 7919) % 1000;
    thrust::sequence(values.begin(), values.end());
    thrust::device_vector<int> sorted = keys;
    thrust::sort(sorted.begin(), sorted.end(), thrust::greater<int>());
    EXPECT(sorted[0] == 999 && sorted[n - 1] == 0);
    EXPECT(thrust::is_sorted(sorted.begin(), sorted.end(), thrust::greater<int>()));
    thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin());
    EXPECT(keys[4] == 1 && values[0] == 0 && values[1] == 1000 && values[2] == 2000);
    EXPECT(thrust::lower_bound(keys.begin(), keys.end(), 500) - keys.begin() == 1500);
    EXPECT(thrust::binary_search(keys.begin(), keys.end(), 999));
    const thrust::greater<int> down;
    EXPECT(thrust::lower_bound(sorted.begin(), sorted.end(), 900, down) -
               sorted.begin() ==
           297);
    EXPECT(thrust::binary_search(thrust::device, sorted.begin(), sorted.end(), 7, down) &&
           !thrust::binary_search(sorted.begin(), sorted.end(), 1000, down));
    const auto equals = thrust::equal_range(keys.begin(), keys.end(), 20);
    EXPECT(equals.first - keys.begin() == 60 && equals.second - equals.first == 3);
    thrust::device_vector<int> wanted(2), places(2);
    wanted[0] = 998, wanted[1] = -1;
    thrust::upper_bound(sorted.begin(), sorted.end(), wanted.begin(), wanted.end(),
                        places.begin(), down);
    EXPECT(places[0] == 6 && places[1] == n);
    thrust::binary_search(keys.begin(), keys.end(), wanted.begin(), wanted.end(),
                          places.begin());
    EXPECT(places[0] == 1 && places[1] == 0);

    thrust::device_vector<int> groups(n), counts(n);
    const auto ends = thrust::reduce_by_key(keys.begin(), keys.end(),
                                            thrust::constant_iterator<int, long>(1),
                                            groups.begin(), counts.begin());
    EXPECT(ends.first - groups.begin() == 1000 && groups[7] == 7 && counts[7] == 3);
    thrust::inclusive_scan(counts.begin(), counts.begin() + 1000, sums.begin());
    EXPECT(sums[999] == n);
    thrust::exclusive_scan(counts.begin(), counts.begin() + 1000, sums.begin(), 5);
    EXPECT(sums[0] == 5 && sums[2] == 11);
    thrust::adjacent_difference(sums.begin(), sums.begin() + 1000, sums.begin());
    EXPECT(sums[0] == 5 && sums[999] == 3);
    const auto once = thrust::unique_by_key_copy(
        keys.begin(), keys.end(), thrust::make_counting_iterator(0),
        thrust::make_discard_iterator(), values.begin());
    EXPECT(once.second - values.begin() == 1000 && values[2] == 6);
    EXPECT(thrust::unique(keys.begin(), keys.end()) - keys.begin() == 1000);
    keys.resize(1000);
    EXPECT(thrust::copy_if(keys.begin(), keys.end(), values.begin(), is_even()) -
               values.begin() ==
           500);
    EXPECT(values[499] == 998);
    EXPECT(thrust::remove_if(keys.begin(), keys.end(), is_even()) - keys.begin() == 500);
    EXPECT(keys[499] == 999);
    thrust::sequence(keys.begin(), keys.end());
    EXPECT(thrust::stable_partition(keys.begin(), keys.end(), is_even()) ==
           keys.begin() + 500);
    EXPECT(keys[1] == 2 && keys[500] == 1);
    thrust::device_vector<int> both(2000);
    thrust::merge(groups.begin(), groups.begin() + 1000, groups.begin(),
                  groups.begin() + 1000, both.begin());
    EXPECT(both[1] == 0 && both[1999] == 999);
}

// Of the even numbers below 20 and those that three divides; and a vector of pairs.
static void sets()
{
    thrust::device_vector<int> even(10), third(7), out(17);
    thrust::sequence(even.begin(), even.end(), 0, 2);
    thrust::sequence(third.begin(), third.end(), 0, 3);
    const auto size = [&](thrust::device_vector<int>::iterator end) {
        return (int)(end - out.begin());
    };
    EXPECT(size(thrust::set_intersection(even.begin(), even.end(), third.begin(),
                                         third.end(), out.begin())) == 4);
    EXPECT(out[3] == 18);
    EXPECT(size(thrust::set_union(thrust::device, even.begin(), even.end(), third.begin(),
                                  third.end(), out.begin())) == 13);
    EXPECT(size(thrust::set_difference(even.begin(), even.end(), third.begin(),
                                       third.end(), out.begin())) == 6);
    EXPECT(out[0] == 2);
    thrust::reverse(even.begin(), even.end());
    thrust::reverse(third.begin(), third.end());
    EXPECT(size(thrust::set_symmetric_difference(even.begin(), even.end(), third.begin(),
                                                 third.end(), out.begin(),
                                                 thrust::greater<int>())) == 9);
    EXPECT(out[0] == 16);

    thrust::default_random_engine generator(7);
    thrust::device_vector<int> deck(20), again(20);
    thrust::sequence(deck.begin(), deck.end());
    thrust::shuffle_copy(thrust::device, deck.begin(), deck.end(), again.begin(),
                         generator);
    thrust::shuffle(deck.begin(), deck.end(), generator);
    EXPECT(deck != again);
    thrust::sort(deck.begin(), deck.end());
    thrust::sort(again.begin(), again.end());
    EXPECT(deck == again && deck[19] == 19);

    thrust::device_vector<thrust::pair<int, float>> pairs(3);
    pairs[1] = thrust::make_pair(3, 4.0f);
    const thrust::pair<int, float> pair = pairs[1];
    EXPECT(pair.first == 3 && pair.second == 4.0f);
}

// What nothing but device_vector's header is included for.
static void swapped()
{
    thrust::device_vector<int> a(2, 1), b(2, 2);
    thrust::device_ptr<int> p = a.data(), q = b.data();
    swap(p, q);
    EXPECT(*p == 2 && *q == 1);
    swap(a, b);
    EXPECT(a[0] == 2);
    EXPECT(thrust::count_if(a.begin(), a.end(), cuda::std::identity()) == 2);
}

static void policies()
{
    const int n = 64;
    int *x;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&x, n * sizeof *x));
    thrust::sequence(thrust::device, x, x + n);
    thrust::transform(thrust::cuda::par.on(stream), x, x + n, x, thrust::negate<int>());
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(thrust::reduce(thrust::device, x, x + n) == -2016);
    sort_in_a_kernel<<<1, 1>>>(x, n);
    EXPECT(*thrust::device_pointer_cast(x + 1) == -62);
    EXPECT(*thrust::device_pointer_cast(x) == -2016 + 63);
    std::vector<int> h(n);
    thrust::sequence(thrust::host, h.begin(), h.end());
    EXPECT(h[63] == 63);
    CHECK(cudaFree(x));
    CHECK(cudaStreamDestroy(stream));
}

// Its call is not const.
struct odd_ones_first {
    __host__ __device__ bool operator()(int x, int y)
    {
        return x % 2 != y % 2 ? x % 2 > y % 2 : x < y;
    }
};
struct below_three {
    __host__ __device__ bool operator()(int x)
    {
        return x < 3;
    }
};
struct twice {
    __host__ __device__ int operator()(int x)
    {
        return 2 * x;
    }
};

static void more_spellings()
{
    thrust::device_vector<int> x(6);
    thrust::sequence(x.begin(), x.end());
    thrust::sort(x.begin(), x.end(), odd_ones_first());
    EXPECT(x[0] == 1 && x[2] == 5 && x[3] == 0);
    std::ostringstream text;
    thrust::copy(x.begin(), x.end(), std::ostream_iterator<int>(text, " "));
    EXPECT(text.str() == "1 3 5 0 2 4 ");
    const auto doubled = thrust::make_transform_iterator(x.begin(), twice());
    EXPECT(thrust::reduce(doubled, doubled + 6) == 30);
    EXPECT(*thrust::max_element(x.begin(), x.end(), odd_ones_first()) == 4);
    EXPECT(thrust::count_if(x.begin(), x.end(), below_three()) == 3);
    EXPECT(thrust::remove_if(x.begin(), x.end(), below_three()) - x.begin() == 3);
    EXPECT(thrust::min(3, 4) == 3 && thrust::max(3, 4, thrust::greater<int>()) == 3);
    const auto half = cuda::proclaim_return_type<float>([](int i) { return i / 2.0f; });
    EXPECT(half(3) == 1.5f && cuda::maximum<>()(2, 2.5f) == 2.5f &&
           cuda::minimum<int>()(2, 1) == 1);
    EXPECT(sizeof(cuda::std::iter_value_t<const short *>) == sizeof(short));

    const int k1[] = {1, 4, 4}, k2[] = {2, 4}, v1[] = {10, 40, 41}, v2[] = {20, 42};
    const thrust::device_vector<int> keys1(k1, k1 + 3), keys2(k2, k2 + 2);
    const thrust::device_vector<int> values1(v1, v1 + 3), values2(v2, v2 + 2);
    thrust::device_vector<int> keys(5), values(5);
    thrust::merge_by_key(keys1.begin(), keys1.end(), keys2.begin(), keys2.end(),
                         values1.begin(), values2.begin(), keys.begin(), values.begin());
    EXPECT(keys[1] == 2 && keys[4] == 4 && values[0] == 10 && values[1] == 20 &&
           values[2] == 40 && values[4] == 42);
    const thrust::discard_iterator<> nowhere;
    EXPECT(thrust::copy(keys.begin(), keys.end(), nowhere) - nowhere == 5);
}

int main()
{
    more_spellings();
    vectors();
    elements();
    orders();
    sorts_numbers<float>(thrust::less<float>());
    sorts_numbers<double>(thrust::greater<double>());
    sorts_numbers<short>(thrust::greater<>());
    sorts_numbers<long long>(thrust::less<>());
    sorts_numbers<unsigned>(thrust::less<unsigned>());
    sorts_numbers<signed char>(thrust::less<signed char>());
    not_const();
    sets();
    swapped();
    policies();
    CHECK(cudaDeviceSynchronize());
    return pass();
}
