/* One result of all elements of an array. */
#ifndef CUB_DEVICE_REDUCE_CUH
#define CUB_DEVICE_REDUCE_CUH

#include "../util_type.cuh"

namespace cub
{

struct DeviceReduce {
    template <class In, class Out, class Op, class T>
    static cudaError_t Reduce(void *room, size_t &bytes, In in, Out out, long long n,
                              Op op, T initial, cudaStream_t stream = nullptr)
    {
        return of("cub::DeviceReduce::Reduce", room, bytes, in, out, n, stream, initial,
                  [=](const T &all, const auto &x, long long) { return op(all, x); });
    }
    template <class In, class Out>
    static cudaError_t Sum(void *room, size_t &bytes, In in, Out out, long long n,
                           cudaStream_t stream = nullptr)
    {
        typedef thrust::emu_value<In> T;
        return of("cub::DeviceReduce::Sum", room, bytes, in, out, n, stream, T(),
                  [](const T &all, const T &x, long long) { return (T)(all + x); });
    }
    template <class In, class Out>
    static cudaError_t Min(void *room, size_t &bytes, In in, Out out, long long n,
                           cudaStream_t stream = nullptr)
    {
        typedef thrust::emu_value<In> T;
        return of("cub::DeviceReduce::Min", room, bytes, in, out, n, stream, highest<T>(),
                  [](const T &all, const T &x, long long) { return x < all ? x : all; });
    }
    template <class In, class Out>
    static cudaError_t Max(void *room, size_t &bytes, In in, Out out, long long n,
                           cudaStream_t stream = nullptr)
    {
        typedef thrust::emu_value<In> T;
        return of("cub::DeviceReduce::Max", room, bytes, in, out, n, stream, lowest<T>(),
                  [](const T &all, const T &x, long long) { return all < x ? x : all; });
    }
    /* The index of the first smallest (or largest) element, and the element. */
    template <class In, class T>
    static cudaError_t ArgMin(void *room, size_t &bytes, In in, KeyValuePair<int, T> *out,
                              long long n, cudaStream_t stream = nullptr)
    {
        return first_best("cub::DeviceReduce::ArgMin", room, bytes, in, out, n, stream,
                          highest<T>(), [](const T &a, const T &b) { return a < b; });
    }
    template <class In, class T>
    static cudaError_t ArgMax(void *room, size_t &bytes, In in, KeyValuePair<int, T> *out,
                              long long n, cudaStream_t stream = nullptr)
    {
        return first_best("cub::DeviceReduce::ArgMax", room, bytes, in, out, n, stream,
                          lowest<T>(), [](const T &a, const T &b) { return b < a; });
    }

    template <class In, class Out, class Op, class F, class T>
    static cudaError_t TransformReduce(void *room, size_t &bytes, In in, Out out,
                                       long long n, Op op, F transform, T initial,
                                       cudaStream_t stream = nullptr)
    {
        return of("cub::DeviceReduce::TransformReduce", room, bytes, in, out, n, stream,
                  initial, [=](const T &all, const auto &x, long long) mutable {
                      return (T)op(all, transform(x));
                  });
    }
    /* One result of each run of equal keys. */
    template <class Keys, class Unique, class In, class Out, class Count, class Op>
    static cudaError_t ReduceByKey(void *room, size_t &bytes, Keys keys, Unique unique,
                                   In in, Out out, Count count, Op op, long long n,
                                   cudaStream_t stream = nullptr)
    {
        const auto k = thrust::emu_raw(keys);
        const auto u = thrust::emu_raw(unique);
        const auto x = thrust::emu_raw(in);
        const auto y = thrust::emu_raw(out);
        const auto c = thrust::emu_raw(count);
        return emu_device_wide(
            "cub::DeviceReduce::ReduceByKey", room, bytes, stream, [=](const char *call) {
                thrust::emu_run(call, true, [=]() mutable {
                    long long runs = 0;
                    for (long long i = 0, end; i < n; i = end, runs++) {
                        thrust::emu_value<In> all = x[i];
                        for (end = i + 1; end < n && k[end] == k[i]; end++)
                            all = op(all, x[end]);
                        u[runs] = k[i];
                        y[runs] = all;
                    }
                    *c = (thrust::emu_value<Count>)runs;
                });
            });
    }

  private:
    template <class T> static T lowest()
    {
        return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                    : std::numeric_limits<T>::lowest();
    }
    template <class T> static T highest()
    {
        return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                    : std::numeric_limits<T>::max();
    }

    /* Of no elements it is number 1, the worst there can be: CUB's answer. */
    template <class In, class T, class Better>
    static cudaError_t first_best(const char *name, void *room, size_t &bytes, In in,
                                  KeyValuePair<int, T> *out, long long n,
                                  cudaStream_t stream, T worst, Better better)
    {
        typedef KeyValuePair<int, T> Pair;
        return of(name, room, bytes, in, out, n, stream, Pair{1, worst},
                  [=](const Pair &all, const T &x, long long i) {
                      return i == 0 || better(x, all.value) ? Pair{(int)i, x} : all;
                  });
    }

    template <class In, class Out, class T, class Step>
    static cudaError_t of(const char *name, void *room, size_t &bytes, In in, Out out,
                          long long n, cudaStream_t stream, T all, Step step)
    {
        const auto x = thrust::emu_raw(in);
        const auto y = thrust::emu_raw(out);
        return emu_device_wide(name, room, bytes, stream, [=](const char *call) {
            thrust::emu_run(call, true, [=]() mutable {
                for (long long i = 0; i < n; i++) all = step(all, x[i], i);
                *y = all;
            });
        });
    }
};

} // namespace cub

#endif
