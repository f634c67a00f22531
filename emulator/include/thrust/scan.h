/* Running sums: inclusive and exclusive scans, of transformed elements, of runs of equal
 * keys. */
#ifndef THRUST_SCAN_H
#define THRUST_SCAN_H

#include "transform.h"

namespace thrust
{

template <class In, class Out, class F, class Op>
Out transform_inclusive_scan(In first, In last, Out out, F f, Op op)
{
    using T = typename std::decay<decltype(f(*emu_raw(first)))>::type;
    const std::ptrdiff_t n = last - first;
    const auto from = emu_raw(first);
    const auto to = emu_raw(out);
    if (n > 0)
        emu_run("thrust::inclusive_scan", emu_on_device<In, Out>(), [=]() mutable {
            T sum = f(from[0]);
            to[0] = sum;
            for (std::ptrdiff_t i = 1; i < n; i++) to[i] = sum = op(sum, f(from[i]));
        });
    return out + n;
}
EMU_WITH_POLICY(transform_inclusive_scan)
template <class In, class Out, class F, class T, class Op>
Out transform_exclusive_scan(In first, In last, Out out, F f, T start, Op op)
{
    const std::ptrdiff_t n = last - first;
    const auto from = emu_raw(first);
    const auto to = emu_raw(out);
    emu_run("thrust::exclusive_scan", emu_on_device<In, Out>(), [=]() mutable {
        T sum = start;
        for (std::ptrdiff_t i = 0; i < n; i++) {
            const T next = op(sum, f(from[i]));
            to[i] = sum;
            sum = next;
        }
    });
    return out + n;
}
EMU_WITH_POLICY(transform_exclusive_scan)

template <class In, class Out, class Op>
Out inclusive_scan(In first, In last, Out out, Op op)
{
    return ::thrust::transform_inclusive_scan(first, last, out, identity<emu_value<In>>(),
                                              op);
}
template <class In, class Out> Out inclusive_scan(In first, In last, Out out)
{
    return ::thrust::inclusive_scan(first, last, out, plus<emu_value<In>>());
}
EMU_WITH_POLICY(inclusive_scan)
template <class In, class Out, class T, class Op>
Out exclusive_scan(In first, In last, Out out, T start, Op op)
{
    return ::thrust::transform_exclusive_scan(first, last, out, identity<emu_value<In>>(),
                                              start, op);
}
template <class In, class Out, class T>
Out exclusive_scan(In first, In last, Out out, T start)
{
    return ::thrust::exclusive_scan(first, last, out, start, plus<T>());
}
template <class In, class Out> Out exclusive_scan(In first, In last, Out out)
{
    return ::thrust::exclusive_scan(first, last, out, emu_value<In>());
}
EMU_WITH_POLICY(exclusive_scan)

template <class Keys, class In, class Out, class Same, class Op>
Out inclusive_scan_by_key(Keys first, Keys last, In values, Out out, Same same, Op op)
{
    using T = emu_value<In>;
    const std::ptrdiff_t n = last - first;
    const auto key = emu_raw(first);
    const auto from = emu_raw(values);
    const auto to = emu_raw(out);
    emu_run("thrust::inclusive_scan_by_key", emu_on_device<Keys, In, Out>(),
            [=]() mutable {
                T sum = T();
                for (std::ptrdiff_t i = 0; i < n; i++) {
                    const T x = from[i];
                    sum = i && same(key[i - 1], key[i]) ? op(sum, x) : x;
                    to[i] = sum;
                }
            });
    return out + n;
}
template <class Keys, class In, class Out, class Same>
Out inclusive_scan_by_key(Keys first, Keys last, In values, Out out, Same same)
{
    return ::thrust::inclusive_scan_by_key(first, last, values, out, same,
                                           plus<emu_value<In>>());
}
template <class Keys, class In, class Out>
Out inclusive_scan_by_key(Keys first, Keys last, In values, Out out)
{
    return ::thrust::inclusive_scan_by_key(first, last, values, out,
                                           equal_to<emu_value<Keys>>());
}
EMU_WITH_POLICY(inclusive_scan_by_key)
template <class Keys, class In, class Out, class T, class Same, class Op>
Out exclusive_scan_by_key(Keys first, Keys last, In values, Out out, T start, Same same,
                          Op op)
{
    const std::ptrdiff_t n = last - first;
    const auto key = emu_raw(first);
    const auto from = emu_raw(values);
    const auto to = emu_raw(out);
    emu_run("thrust::exclusive_scan_by_key", emu_on_device<Keys, In, Out>(),
            [=]() mutable {
                T sum = start;
                for (std::ptrdiff_t i = 0; i < n; i++) {
                    if (i && !same(key[i - 1], key[i])) sum = start;
                    const T next = op(sum, from[i]);
                    to[i] = sum;
                    sum = next;
                }
            });
    return out + n;
}
template <class Keys, class In, class Out, class T>
Out exclusive_scan_by_key(Keys first, Keys last, In values, Out out, T start)
{
    return ::thrust::exclusive_scan_by_key(first, last, values, out, start,
                                           equal_to<emu_value<Keys>>(), plus<T>());
}
template <class Keys, class In, class Out>
Out exclusive_scan_by_key(Keys first, Keys last, In values, Out out)
{
    return ::thrust::exclusive_scan_by_key(first, last, values, out, emu_value<In>());
}
EMU_WITH_POLICY(exclusive_scan_by_key)

} // namespace thrust

#endif
