/* Sorts keys, or pairs by their keys: by all of a key's bits, or by some. */
#ifndef CUB_DEVICE_RADIX_SORT_CUH
#define CUB_DEVICE_RADIX_SORT_CUH

#include "../../thrust/sort.h"
#include "../util_type.cuh"

namespace cub
{

/* What a radix sort sees of a key, and where the key lies. */
struct emu_digits {
    unsigned long long digits;
    long long from;
};

/* Sorts n keys, and their values unless that is NULL; a and b have room for n each. Radix
 * sorting counts through all digits, however few the keys are. */
template <class K, class V>
void emu_sort_by_digits(emu_digits *a, emu_digits *b, const K *keys, K *keys_out,
                        const V *values, V *values_out, long long n, int begin, int end,
                        bool descending)
{
    enum { FEW = 256 };
    for (long long i = 0; i < n; i++) {
        const unsigned long long x = emu_radix(keys[i], begin, end);
        a[i] = emu_digits{descending ? ~x : x, i};
    }
    const emu_digits *const sorted =
        n < FEW ? thrust::emu_merge_sort(
                      a, b, n,
                      [](const emu_digits &x, const emu_digits &y) {
                          return x.digits < y.digits;
                      })
                : thrust::emu_radix_sort(
                      a, b, n, (unsigned)(end - begin + 7) / 8,
                      [](const emu_digits &x) { return x.digits; });
    for (long long i = 0; i < n; i++) {
        keys_out[i] = keys[sorted[i].from];
        if (values) values_out[i] = values[sorted[i].from];
    }
}

struct DeviceRadixSort {
    template <class K, class V>
    static cudaError_t SortPairs(void *room, size_t &bytes, const K *keys, K *keys_out,
                                 const V *values, V *values_out, long long n,
                                 int begin = 0, int end = 8 * sizeof(K),
                                 cudaStream_t stream = nullptr)
    {
        return sort(room, bytes, keys, keys_out, values, values_out, n, begin, end, false,
                    stream);
    }
    template <class K, class V>
    static cudaError_t
    SortPairsDescending(void *room, size_t &bytes, const K *keys, K *keys_out,
                        const V *values, V *values_out, long long n, int begin = 0,
                        int end = 8 * sizeof(K), cudaStream_t stream = nullptr)
    {
        return sort(room, bytes, keys, keys_out, values, values_out, n, begin, end, true,
                    stream);
    }
    template <class K>
    static cudaError_t SortKeys(void *room, size_t &bytes, const K *keys, K *keys_out,
                                long long n, int begin = 0, int end = 8 * sizeof(K),
                                cudaStream_t stream = nullptr)
    {
        return sort(room, bytes, keys, keys_out, (const char *)nullptr, (char *)nullptr,
                    n, begin, end, false, stream);
    }
    template <class K>
    static cudaError_t SortKeysDescending(void *room, size_t &bytes, const K *keys,
                                          K *keys_out, long long n, int begin = 0,
                                          int end = 8 * sizeof(K),
                                          cudaStream_t stream = nullptr)
    {
        return sort(room, bytes, keys, keys_out, (const char *)nullptr, (char *)nullptr,
                    n, begin, end, true, stream);
    }

/* The same from one buffer into the other. */
#define EMU_SORT_PAIRS(name)                                                             \
    template <class K, class V>                                                          \
    static cudaError_t name(void *room, size_t &bytes, DoubleBuffer<K> &keys,            \
                            DoubleBuffer<V> &values, long long n, int begin = 0,         \
                            int end = 8 * sizeof(K), cudaStream_t stream = nullptr)      \
    {                                                                                    \
        const cudaError_t error =                                                        \
            name(room, bytes, keys.Current(), keys.Alternate(), values.Current(),        \
                 values.Alternate(), n, begin, end, stream);                             \
        if (room) keys.selector ^= 1, values.selector ^= 1;                              \
        return error;                                                                    \
    }
#define EMU_SORT_KEYS(name)                                                              \
    template <class K>                                                                   \
    static cudaError_t name(void *room, size_t &bytes, DoubleBuffer<K> &keys,            \
                            long long n, int begin = 0, int end = 8 * sizeof(K),         \
                            cudaStream_t stream = nullptr)                               \
    {                                                                                    \
        const cudaError_t error =                                                        \
            name(room, bytes, keys.Current(), keys.Alternate(), n, begin, end, stream);  \
        if (room) keys.selector ^= 1;                                                    \
        return error;                                                                    \
    }
    EMU_SORT_PAIRS(SortPairs)
    EMU_SORT_PAIRS(SortPairsDescending)
    EMU_SORT_KEYS(SortKeys)
    EMU_SORT_KEYS(SortKeysDescending)
#undef EMU_SORT_PAIRS
#undef EMU_SORT_KEYS

  private:
    template <class K, class V>
    static cudaError_t sort(void *room, size_t &bytes, const K *keys, K *keys_out,
                            const V *values, V *values_out, long long n, int begin,
                            int end, bool descending, cudaStream_t stream)
    {
        return emu_device_wide(
            "cub::DeviceRadixSort", room, bytes, stream, [=](const char *name) {
                thrust::emu_temporary<emu_digits> two(2 * (size_t)n, true);
                emu_digits *const a = two.data, *const b = a + n;
                thrust::emu_run(name, true, [=]() mutable {
                    emu_sort_by_digits(a, b, keys, keys_out, values, values_out, n, begin,
                                       end, descending);
                });
            });
    }
};

} // namespace cub

#endif
