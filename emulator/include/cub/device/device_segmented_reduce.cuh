/* One result of each segment of an array, which begins and ends at given offsets. */
#ifndef CUB_DEVICE_SEGMENTED_REDUCE_CUH
#define CUB_DEVICE_SEGMENTED_REDUCE_CUH

#include <limits>

#include "../util_type.cuh"

namespace cub
{

struct DeviceSegmentedReduce {
    template <class In, class Out, class Begins, class Ends, class Op, class T>
    static cudaError_t Reduce(void *room, size_t &bytes, In in, Out out, long long count,
                              Begins begins, Ends ends, Op op, T initial,
                              cudaStream_t stream = nullptr)
    {
        return of("cub::DeviceSegmentedReduce::Reduce", room, bytes, in, out, count,
                  begins, ends, stream, initial, op);
    }
    template <class In, class Out, class Begins, class Ends>
    static cudaError_t Sum(void *room, size_t &bytes, In in, Out out, long long count,
                           Begins begins, Ends ends, cudaStream_t stream = nullptr)
    {
        typedef thrust::emu_value<In> T;
        return of("cub::DeviceSegmentedReduce::Sum", room, bytes, in, out, count, begins,
                  ends, stream, T(), [](const T &a, const T &b) { return (T)(a + b); });
    }
    template <class In, class Out, class Begins, class Ends>
    static cudaError_t Min(void *room, size_t &bytes, In in, Out out, long long count,
                           Begins begins, Ends ends, cudaStream_t stream = nullptr)
    {
        typedef thrust::emu_value<In> T;
        return of("cub::DeviceSegmentedReduce::Min", room, bytes, in, out, count, begins,
                  ends, stream, std::numeric_limits<T>::max(),
                  [](const T &a, const T &b) { return b < a ? b : a; });
    }
    template <class In, class Out, class Begins, class Ends>
    static cudaError_t Max(void *room, size_t &bytes, In in, Out out, long long count,
                           Begins begins, Ends ends, cudaStream_t stream = nullptr)
    {
        typedef thrust::emu_value<In> T;
        return of("cub::DeviceSegmentedReduce::Max", room, bytes, in, out, count, begins,
                  ends, stream, std::numeric_limits<T>::lowest(),
                  [](const T &a, const T &b) { return a < b ? b : a; });
    }

  private:
    template <class In, class Out, class Begins, class Ends, class Op, class T>
    static cudaError_t of(const char *name, void *room, size_t &bytes, In in, Out out,
                          long long count, Begins begins, Ends ends, cudaStream_t stream,
                          T initial, Op op)
    {
        const auto x = thrust::emu_raw(in);
        const auto y = thrust::emu_raw(out);
        const auto b = thrust::emu_raw(begins);
        const auto e = thrust::emu_raw(ends);
        return emu_device_wide(name, room, bytes, stream, [=](const char *call) {
            thrust::emu_run(call, true, [=]() mutable {
                for (long long s = 0; s < count; s++) {
                    T all = initial;
                    for (long long i = b[s]; i < (long long)e[s]; i++)
                        all = op(all, x[i]);
                    y[s] = all;
                }
            });
        });
    }
};

} // namespace cub

#endif
