/* How many samples of an array fall between one level and the next. */
#ifndef CUB_DEVICE_HISTOGRAM_CUH
#define CUB_DEVICE_HISTOGRAM_CUH

#include <type_traits>

#include "../util_type.cuh"

namespace cub
{

struct DeviceHistogram {
    /* Levels at equal distances: `level_count` of them from `lower` to `upper`. */
    template <class In, class Counter, class Level>
    static cudaError_t HistogramEven(void *room, size_t &bytes, In in, Counter *histogram,
                                     int level_count, Level lower, Level upper,
                                     long long n, cudaStream_t stream = nullptr)
    {
        return count("cub::DeviceHistogram::HistogramEven", room, bytes, in, histogram,
                     level_count, n, stream, [=](const Level &x) {
                         return x < lower || !(x < upper)
                                    ? -1
                                    : bin(x - lower, upper - lower, level_count - 1,
                                          std::is_integral<Level>());
                     });
    }
    template <class In, class Counter, class Level>
    static cudaError_t
    HistogramRange(void *room, size_t &bytes, In in, Counter *histogram, int level_count,
                   const Level *levels, long long n, cudaStream_t stream = nullptr)
    {
        return count("cub::DeviceHistogram::HistogramRange", room, bytes, in, histogram,
                     level_count, n, stream, [=](const Level &x) {
                         int at = 0;
                         while (at < level_count && !(x < levels[at])) at++;
                         return at < level_count ? at - 1 : -1;
                     });
    }

  private:
    template <class Level>
    __host__ __device__ static int bin(Level x, Level range, int bins, std::true_type)
    {
        return (int)((unsigned long long)x * (unsigned)bins / (unsigned long long)range);
    }
    template <class Level>
    __host__ __device__ static int bin(Level x, Level range, int bins, std::false_type)
    {
        return (int)(x * ((Level)bins / range));
    }

    template <class In, class Counter, class F>
    static cudaError_t count(const char *name, void *room, size_t &bytes, In in,
                             Counter *histogram, int level_count, long long n,
                             cudaStream_t stream, F bin_of)
    {
        const auto x = thrust::emu_raw(in);
        return emu_device_wide(name, room, bytes, stream, [=](const char *call) {
            thrust::emu_run(call, true, [=]() mutable {
                for (int i = 0; i + 1 < level_count; i++) histogram[i] = 0;
                for (long long i = 0; i < n; i++) {
                    const int bin = bin_of(x[i]);
                    if (bin >= 0) histogram[bin]++;
                }
            });
        });
    }
};

} // namespace cub

#endif
