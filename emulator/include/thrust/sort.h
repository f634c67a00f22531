/* sort, stable_sort and those by key, which are all stable here; merge; binary searches. */
#ifndef THRUST_SORT_H
#define THRUST_SORT_H

#include "reduce.h"

namespace thrust
{

/* Two sorted runs behind each other in `from` become one in `to`; of equals, the left. */
template <class T, class Less>
void emu_merge(const T *from, std::ptrdiff_t middle, std::ptrdiff_t n, T *to,
               Less less_than)
{
    std::ptrdiff_t a = 0, b = middle;
    for (std::ptrdiff_t i = 0; i < n; i++) {
        const bool right = a == middle || (b < n && less_than(from[b], from[a]));
        new (&to[i]) T(from[right ? b++ : a++]);
    }
}

/* Bottom up, between two arrays; returns the one that the sorted elements end in. */
template <class T, class Less>
T *emu_merge_sort(T *from, T *to, std::ptrdiff_t n, Less less_than)
{
    for (std::ptrdiff_t width = 1; width < n; width *= 2) {
        for (std::ptrdiff_t i = 0; i < n; i += 2 * width) {
            const std::ptrdiff_t left = n - i;
            emu_merge(from + i, left < width ? left : width,
                      left < 2 * width ? left : 2 * width, to + i, less_than);
        }
        T *const sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

/* The bits of a number, as one that is less where the number is: -0 counts as 0. */
template <class Key> unsigned long long emu_radix(const Key &key)
{
    static_assert(sizeof(Key) <= 8, "a key has at most 64 bits");
    const unsigned long long sign = 1ull << (8 * sizeof(Key) - 1);
    unsigned long long x = 0;
    __builtin_memcpy(&x, (const void *)&key, sizeof key);
    if (!std::is_integral<Key>::value)
        return x == sign ? sign : x & sign ? ~x & (sign | (sign - 1)) : x | sign;
    return std::is_signed<Key>::value ? x ^ sign : x;
}

/* What merging compares again and again, this puts into its place at once, byte for byte
 * of what radix() gives, which has so many of them. */
template <class T, class Radix>
T *emu_radix_sort(T *from, T *to, std::ptrdiff_t n, unsigned bytes, Radix radix)
{
    for (unsigned shift = 0; shift < 8 * bytes; shift += 8) {
        std::ptrdiff_t place[256] = {}, before = 0;
        for (std::ptrdiff_t i = 0; i < n; i++) place[radix(from[i]) >> shift & 255]++;
        for (std::ptrdiff_t &p : place) {
            const std::ptrdiff_t count = p;
            p = before;
            before += count;
        }
        for (std::ptrdiff_t i = 0; i < n; i++)
            new (&to[place[radix(from[i]) >> shift & 255]++]) T(from[i]);
        T *const sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

/* Whether a comparison is the order of numbers, and which way. */
template <class Key, class Less> struct emu_numeric {
    static constexpr bool down =
        std::is_same<Less, greater<Key>>::value || std::is_same<Less, greater<>>::value;
    static constexpr bool value = std::is_arithmetic<Key>::value && sizeof(Key) <= 8 &&
                                  (down || std::is_same<Less, less<Key>>::value ||
                                   std::is_same<Less, less<>>::value);
};

/* By the key that key(x) is. Many numbers in their own order take no comparisons. */
template <class Key, class T, class Less, class Of>
T *emu_sort_as(std::false_type, T *from, T *to, std::ptrdiff_t n, Less less_than, Of key)
{
    return emu_merge_sort(from, to, n, [=](const T &x, const T &y) mutable {
        return less_than(key(x), key(y));
    });
}
template <class Key, class T, class Less, class Of>
T *emu_sort_as(std::true_type, T *from, T *to, std::ptrdiff_t n, Less less_than, Of key)
{
    enum { FEW = 256 };
    if (n < FEW) return emu_sort_as<Key>(std::false_type(), from, to, n, less_than, key);
    return emu_radix_sort(from, to, n, sizeof(Key), [=](const T &x) {
        const unsigned long long bits = emu_radix(key(x));
        return emu_numeric<Key, Less>::down ? ~bits : bits;
    });
}
template <class Key, class T, class Less, class Of>
T *emu_sort(T *from, T *to, std::ptrdiff_t n, Less less_than, Of key)
{
    using numeric = std::integral_constant<bool, emu_numeric<Key, Less>::value>;
    return emu_sort_as<Key>(numeric(), from, to, n, less_than, key);
}

template <class It, class Less> void stable_sort(It first, It last, Less less_than)
{
    using T = emu_value<It>;
    const std::ptrdiff_t n = last - first;
    const bool there = emu_on_device<It>();
    const auto at = emu_raw(first);
    emu_temporary<T> room(2 * (std::size_t)n, there);
    T *const a = room.data, *const b = a + n;
    emu_run("thrust::sort", there, [=]() mutable {
        for (std::ptrdiff_t i = 0; i < n; i++) new (&a[i]) T(at[i]);
        const T *const sorted =
            emu_sort<T>(a, b, n, less_than, [](const T &x) -> const T & { return x; });
        for (std::ptrdiff_t i = 0; i < n; i++) at[i] = sorted[i];
    });
}
template <class It> void stable_sort(It first, It last)
{
    ::thrust::stable_sort(first, last, less<emu_value<It>>());
}
EMU_WITH_POLICY(stable_sort)
template <class It, class Less> void sort(It first, It last, Less less_than)
{
    ::thrust::stable_sort(first, last, less_than);
}
template <class It> void sort(It first, It last)
{
    ::thrust::stable_sort(first, last);
}
EMU_WITH_POLICY(sort)

template <class K, class V> struct emu_keyed {
    K key;
    V value;
};
template <class Keys, class Values, class Less>
void stable_sort_by_key(Keys first, Keys last, Values values, Less less_than)
{
    using T = emu_keyed<emu_value<Keys>, emu_value<Values>>;
    const std::ptrdiff_t n = last - first;
    const bool there = emu_on_device<Keys, Values>();
    const auto k = emu_raw(first);
    const auto v = emu_raw(values);
    emu_temporary<T> room(2 * (std::size_t)n, there);
    T *const a = room.data, *const b = a + n;
    emu_run("thrust::sort_by_key", there, [=]() mutable {
        for (std::ptrdiff_t i = 0; i < n; i++) new (&a[i]) T{k[i], v[i]};
        const T *const sorted = emu_sort<emu_value<Keys>>(
            a, b, n, less_than,
            [](const T &x) -> const emu_value<Keys> & { return x.key; });
        for (std::ptrdiff_t i = 0; i < n; i++) {
            k[i] = sorted[i].key;
            v[i] = sorted[i].value;
        }
    });
}
template <class Keys, class Values>
void stable_sort_by_key(Keys first, Keys last, Values values)
{
    ::thrust::stable_sort_by_key(first, last, values, less<emu_value<Keys>>());
}
EMU_WITH_POLICY(stable_sort_by_key)
template <class Keys, class Values, class Less>
void sort_by_key(Keys first, Keys last, Values values, Less less_than)
{
    ::thrust::stable_sort_by_key(first, last, values, less_than);
}
template <class Keys, class Values> void sort_by_key(Keys first, Keys last, Values values)
{
    ::thrust::stable_sort_by_key(first, last, values);
}
EMU_WITH_POLICY(sort_by_key)

/* Calls take(i, true, b) for each element i of what two sorted ranges become together, if it
 * is the b-th of the second; take(i, false, a), if of the first. */
template <class X, class Y, class Less, class Take>
void emu_merge_ranges(X x, std::ptrdiff_t n1, Y y, std::ptrdiff_t n2, Less less_than,
                      Take take)
{
    for (std::ptrdiff_t a = 0, b = 0; a + b < n1 + n2;) {
        const std::ptrdiff_t i = a + b;
        const bool second = a == n1 || (b < n2 && less_than(y[b], x[a]));
        take(i, second, second ? b++ : a++);
    }
}
template <class In1, class In2, class Out, class Less>
Out merge(In1 first1, In1 last1, In2 first2, In2 last2, Out out, Less less_than)
{
    const std::ptrdiff_t n1 = last1 - first1, n2 = last2 - first2;
    const auto x = emu_raw(first1);
    const auto y = emu_raw(first2);
    const auto to = emu_raw(out);
    emu_run("thrust::merge", emu_on_device<In1, In2, Out>(), [=]() mutable {
        emu_merge_ranges(x, n1, y, n2, less_than,
                         [=](std::ptrdiff_t i, bool second, std::ptrdiff_t from) mutable {
                             if (second)
                                 to[i] = y[from];
                             else
                                 to[i] = x[from];
                         });
    });
    return out + n1 + n2;
}
template <class In1, class In2, class Out>
Out merge(In1 first1, In1 last1, In2 first2, In2 last2, Out out)
{
    return ::thrust::merge(first1, last1, first2, last2, out, less<emu_value<In1>>());
}
EMU_WITH_POLICY(merge)
template <class K1, class K2, class V1, class V2, class KeysOut, class ValuesOut,
          class Less>
pair<KeysOut, ValuesOut> merge_by_key(K1 first1, K1 last1, K2 first2, K2 last2,
                                      V1 values1, V2 values2, KeysOut keys_out,
                                      ValuesOut values_out, Less less_than)
{
    const std::ptrdiff_t n1 = last1 - first1, n2 = last2 - first2;
    const auto x = emu_raw(first1);
    const auto y = emu_raw(first2);
    const auto v = emu_raw(values1);
    const auto w = emu_raw(values2);
    const auto keys = emu_raw(keys_out);
    const auto values = emu_raw(values_out);
    emu_run("thrust::merge_by_key", emu_on_device<K1, K2, KeysOut>(), [=]() mutable {
        emu_merge_ranges(x, n1, y, n2, less_than,
                         [=](std::ptrdiff_t i, bool second, std::ptrdiff_t from) mutable {
                             if (second) {
                                 keys[i] = y[from];
                                 values[i] = w[from];
                             } else {
                                 keys[i] = x[from];
                                 values[i] = v[from];
                             }
                         });
    });
    return pair<KeysOut, ValuesOut>(keys_out + n1 + n2, values_out + n1 + n2);
}
template <class K1, class K2, class V1, class V2, class KeysOut, class ValuesOut>
pair<KeysOut, ValuesOut> merge_by_key(K1 first1, K1 last1, K2 first2, K2 last2,
                                      V1 values1, V2 values2, KeysOut keys_out,
                                      ValuesOut values_out)
{
    return ::thrust::merge_by_key(first1, last1, first2, last2, values1, values2,
                                  keys_out, values_out, less<emu_value<K1>>());
}
EMU_WITH_POLICY(merge_by_key)

/* ---- searches in what is sorted ---- */

/* How many elements come before: those for which before(x) holds. */
template <class It, class Before>
std::ptrdiff_t emu_partition_point(It at, std::ptrdiff_t n, Before before)
{
    std::ptrdiff_t low = 0;
    while (low < n) {
        const std::ptrdiff_t middle = low + (n - low) / 2;
        if (before(at[middle]))
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}
/* name(first, last, value) as a Result: what `found` gives at `at`, which has n elements, in
 * the order of less_than; and, for each of several values, as a number. */
#define EMU_SEARCH(name, Result, begin, found)                                           \
    template <class It, class T, class Less>                                             \
    Result name(It first, It last, const T &value, Less less_than)                       \
    {                                                                                    \
        using X = emu_value<It>;                                                         \
        const std::ptrdiff_t n = last - first;                                           \
        const auto at = emu_raw(first);                                                  \
        return begin emu_run("thrust::" #name, emu_on_device<It>(),                      \
                             [=]() mutable { return found; });                           \
    }                                                                                    \
    template <class It, class T> Result name(It first, It last, const T &value)          \
    {                                                                                    \
        return ::thrust::name(first, last, value, less<>());                             \
    }                                                                                    \
    template <class It, class Values, class Out, class Less>                             \
    Out name(It first, It last, Values values, Values values_end, Out out,               \
             Less less_than)                                                             \
    {                                                                                    \
        using X = emu_value<It>;                                                         \
        const std::ptrdiff_t n = last - first, count = values_end - values;              \
        const auto at = emu_raw(first);                                                  \
        const auto v = emu_raw(values);                                                  \
        const auto to = emu_raw(out);                                                    \
        emu_run("thrust::" #name, emu_on_device<It, Values, Out>(), [=]() mutable {      \
            for (std::ptrdiff_t i = 0; i < count; i++) {                                 \
                const emu_value<Values> value = v[i];                                    \
                to[i] = static_cast<emu_value<Out>>(found);                              \
            }                                                                            \
        });                                                                              \
        return out + count;                                                              \
    }                                                                                    \
    template <class It, class Values, class Out>                                         \
    Out name(It first, It last, Values values, Values values_end, Out out)               \
    {                                                                                    \
        return ::thrust::name(first, last, values, values_end, out, less<>());           \
    }                                                                                    \
    EMU_WITH_POLICY(name)
#define EMU_LOWER                                                                        \
    emu_partition_point(at, n, [&](const X &x) { return less_than(x, value); })
#define EMU_UPPER                                                                        \
    emu_partition_point(at, n, [&](const X &x) { return !less_than(value, x); })
EMU_SEARCH(lower_bound, It, first +, EMU_LOWER)
EMU_SEARCH(upper_bound, It, first +, EMU_UPPER)
EMU_SEARCH(binary_search, bool, , EMU_LOWER != EMU_UPPER)
#undef EMU_LOWER
#undef EMU_UPPER
#undef EMU_SEARCH

template <class It, class T, class Less>
pair<It, It> equal_range(It first, It last, const T &value, Less less_than)
{
    return {::thrust::lower_bound(first, last, value, less_than),
            ::thrust::upper_bound(first, last, value, less_than)};
}
template <class It, class T> pair<It, It> equal_range(It first, It last, const T &value)
{
    return ::thrust::equal_range(first, last, value, less<>());
}
EMU_WITH_POLICY(equal_range)

} // namespace thrust

#endif
