/* Sorts each segment of an array by itself; they begin and end at given offsets. */
#ifndef CUB_DEVICE_SEGMENTED_RADIX_SORT_CUH
#define CUB_DEVICE_SEGMENTED_RADIX_SORT_CUH

#include "device_radix_sort.cuh"

namespace cub
{

struct DeviceSegmentedRadixSort {
/* The second form sorts from one buffer into the other. */
#define EMU_SORT_PAIRS(name, descending)                                                 \
    template <class K, class V, class Begins, class Ends>                                \
    static cudaError_t name(void *room, size_t &bytes, const K *keys, K *keys_out,       \
                            const V *values, V *values_out, long long n,                 \
                            long long count, Begins begins, Ends ends, int begin = 0,    \
                            int end = 8 * sizeof(K), cudaStream_t stream = nullptr)      \
    {                                                                                    \
        return sort(room, bytes, keys, keys_out, values, values_out, n, count, begins,   \
                    ends, begin, end, descending, stream);                               \
    }                                                                                    \
    template <class K, class V, class Begins, class Ends>                                \
    static cudaError_t name(void *room, size_t &bytes, DoubleBuffer<K> &keys,            \
                            DoubleBuffer<V> &values, long long n, long long count,       \
                            Begins begins, Ends ends, int begin = 0,                     \
                            int end = 8 * sizeof(K), cudaStream_t stream = nullptr)      \
    {                                                                                    \
        const cudaError_t error =                                                        \
            name(room, bytes, keys.Current(), keys.Alternate(), values.Current(),        \
                 values.Alternate(), n, count, begins, ends, begin, end, stream);        \
        if (room) keys.selector ^= 1, values.selector ^= 1;                              \
        return error;                                                                    \
    }
#define EMU_SORT_KEYS(name, descending)                                                  \
    template <class K, class Begins, class Ends>                                         \
    static cudaError_t name(void *room, size_t &bytes, const K *keys, K *keys_out,       \
                            long long n, long long count, Begins begins, Ends ends,      \
                            int begin = 0, int end = 8 * sizeof(K),                      \
                            cudaStream_t stream = nullptr)                               \
    {                                                                                    \
        return sort(room, bytes, keys, keys_out, (const char *)nullptr, (char *)nullptr, \
                    n, count, begins, ends, begin, end, descending, stream);             \
    }                                                                                    \
    template <class K, class Begins, class Ends>                                         \
    static cudaError_t name(void *room, size_t &bytes, DoubleBuffer<K> &keys,            \
                            long long n, long long count, Begins begins, Ends ends,      \
                            int begin = 0, int end = 8 * sizeof(K),                      \
                            cudaStream_t stream = nullptr)                               \
    {                                                                                    \
        const cudaError_t error = name(room, bytes, keys.Current(), keys.Alternate(), n, \
                                       count, begins, ends, begin, end, stream);         \
        if (room) keys.selector ^= 1;                                                    \
        return error;                                                                    \
    }
    EMU_SORT_PAIRS(SortPairs, false)
    EMU_SORT_PAIRS(SortPairsDescending, true)
    EMU_SORT_KEYS(SortKeys, false)
    EMU_SORT_KEYS(SortKeysDescending, true)
#undef EMU_SORT_PAIRS
#undef EMU_SORT_KEYS

  private:
    template <class K, class V, class Begins, class Ends>
    static cudaError_t sort(void *room, size_t &bytes, const K *keys, K *keys_out,
                            const V *values, V *values_out, long long n, long long count,
                            Begins begins, Ends ends, int begin, int end, bool descending,
                            cudaStream_t stream)
    {
        const auto first = thrust::emu_raw(begins);
        const auto last = thrust::emu_raw(ends);
        return emu_device_wide(
            "cub::DeviceSegmentedRadixSort", room, bytes, stream, [=](const char *name) {
                thrust::emu_temporary<emu_digits> two(2 * (size_t)n, true);
                emu_digits *const a = two.data, *const b = a + n;
                thrust::emu_run(name, true, [=]() mutable {
                    for (long long s = 0; s < count; s++) {
                        const long long at = first[s], length = last[s] - at;
                        emu_sort_by_digits(a, b, keys + at, keys_out + at,
                                           values ? values + at : nullptr,
                                           values ? values_out + at : nullptr, length,
                                           begin, end, descending);
                    }
                });
            });
    }
};

} // namespace cub

#endif
