/* Sorts keys, or pairs by their keys, by a comparison; equals stay in their order. */
#ifndef CUB_DEVICE_MERGE_SORT_CUH
#define CUB_DEVICE_MERGE_SORT_CUH

#include "../../thrust/sort.h"
#include "../util_type.cuh"

namespace cub
{

struct DeviceMergeSort {
#define EMU_SORT_KEYS(name)                                                              \
    template <class Keys, class Less>                                                    \
    static cudaError_t name(void *room, size_t &bytes, Keys keys, long long n,           \
                            Less less_than, cudaStream_t stream = nullptr)               \
    {                                                                                    \
        return sort(room, bytes, keys, keys, n, less_than, stream);                      \
    }                                                                                    \
    template <class Keys, class Out, class Less>                                         \
    static cudaError_t name##Copy(void *room, size_t &bytes, Keys keys, Out keys_out,    \
                                  long long n, Less less_than,                           \
                                  cudaStream_t stream = nullptr)                         \
    {                                                                                    \
        return sort(room, bytes, keys, keys_out, n, less_than, stream);                  \
    }
#define EMU_SORT_PAIRS(name)                                                             \
    template <class Keys, class Values, class Less>                                      \
    static cudaError_t name(void *room, size_t &bytes, Keys keys, Values values,         \
                            long long n, Less less_than, cudaStream_t stream = nullptr)  \
    {                                                                                    \
        return sort_pairs(room, bytes, keys, values, keys, values, n, less_than,         \
                          stream);                                                       \
    }
    EMU_SORT_KEYS(SortKeys)
    EMU_SORT_KEYS(StableSortKeys)
    EMU_SORT_PAIRS(SortPairs)
    EMU_SORT_PAIRS(StableSortPairs)
#undef EMU_SORT_KEYS
#undef EMU_SORT_PAIRS
    template <class Keys, class Values, class KeysOut, class ValuesOut, class Less>
    static cudaError_t SortPairsCopy(void *room, size_t &bytes, Keys keys, Values values,
                                     KeysOut keys_out, ValuesOut values_out, long long n,
                                     Less less_than, cudaStream_t stream = nullptr)
    {
        return sort_pairs(room, bytes, keys, values, keys_out, values_out, n, less_than,
                          stream);
    }

  private:
    template <class Keys, class Out, class Less>
    static cudaError_t sort(void *room, size_t &bytes, Keys keys, Out keys_out,
                            long long n, Less less_than, cudaStream_t stream)
    {
        typedef thrust::emu_value<Keys> T;
        const auto from = thrust::emu_raw(keys);
        const auto to = thrust::emu_raw(keys_out);
        return emu_device_wide(
            "cub::DeviceMergeSort", room, bytes, stream, [=](const char *name) {
                thrust::emu_temporary<T> two(2 * (size_t)n, true);
                T *const a = two.data, *const b = a + n;
                thrust::emu_run(name, true, [=]() mutable {
                    for (long long i = 0; i < n; i++) new (&a[i]) T(from[i]);
                    const T *const sorted = thrust::emu_merge_sort(a, b, n, less_than);
                    for (long long i = 0; i < n; i++) to[i] = sorted[i];
                });
            });
    }
    template <class Keys, class Values, class KeysOut, class ValuesOut, class Less>
    static cudaError_t sort_pairs(void *room, size_t &bytes, Keys keys, Values values,
                                  KeysOut keys_out, ValuesOut values_out, long long n,
                                  Less less_than, cudaStream_t stream)
    {
        typedef thrust::emu_keyed<thrust::emu_value<Keys>, thrust::emu_value<Values>> T;
        const auto k = thrust::emu_raw(keys);
        const auto v = thrust::emu_raw(values);
        const auto to = thrust::emu_raw(keys_out);
        const auto values_to = thrust::emu_raw(values_out);
        return emu_device_wide("cub::DeviceMergeSort", room, bytes, stream,
                               [=](const char *name) {
                                   thrust::emu_temporary<T> two(2 * (size_t)n, true);
                                   T *const a = two.data, *const b = a + n;
                                   thrust::emu_run(name, true, [=]() mutable {
                                       for (long long i = 0; i < n; i++)
                                           new (&a[i]) T{k[i], v[i]};
                                       const T *const sorted = thrust::emu_merge_sort(
                                           a, b, n, [=](const T &x, const T &y) mutable {
                                               return less_than(x.key, y.key);
                                           });
                                       for (long long i = 0; i < n; i++) {
                                           to[i] = sorted[i].key;
                                           values_to[i] = sorted[i].value;
                                       }
                                   });
                               });
    }
};

} // namespace cub

#endif
