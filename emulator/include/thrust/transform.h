/* transform, transform_if, for_each, replace: each element by itself; and, since programs
 * include less than they use, what NVIDIA's headers of algorithms bring along. */
#ifndef THRUST_TRANSFORM_H
#define THRUST_TRANSFORM_H

#include "copy.h"
#include "fill.h"
#include "functional.h"
#include "iterator/counting_iterator.h"
#include "iterator/transform_iterator.h"
#include "iterator/zip_iterator.h"
#include "pair.h"

namespace thrust
{

template <class In, class Out, class F> Out transform(In first, In last, Out out, F f)
{
    const std::ptrdiff_t n = last - first;
    const auto from = emu_raw(first);
    const auto to = emu_raw(out);
    emu_run("thrust::transform", emu_on_device<In, Out>(), [=]() mutable {
        for (std::ptrdiff_t i = 0; i < n; i++) to[i] = f(from[i]);
    });
    return out + n;
}
template <class In1, class In2, class Out, class F>
Out transform(In1 first, In1 last, In2 second, Out out, F f)
{
    const std::ptrdiff_t n = last - first;
    const auto a = emu_raw(first);
    const auto b = emu_raw(second);
    const auto to = emu_raw(out);
    emu_run("thrust::transform", emu_on_device<In1, In2, Out>(), [=]() mutable {
        for (std::ptrdiff_t i = 0; i < n; i++) to[i] = f(a[i], b[i]);
    });
    return out + n;
}
EMU_WITH_POLICY(transform)

template <class In, class Stencil, class Out, class F, class Predicate>
Out transform_if(In first, In last, Stencil stencil, Out out, F f, Predicate holds)
{
    const std::ptrdiff_t n = last - first;
    const auto from = emu_raw(first);
    const auto at = emu_raw(stencil);
    const auto to = emu_raw(out);
    emu_run("thrust::transform_if", emu_on_device<In, Stencil, Out>(), [=]() mutable {
        for (std::ptrdiff_t i = 0; i < n; i++)
            if (holds(at[i])) to[i] = f(from[i]);
    });
    return out + n;
}
template <class In, class Out, class F, class Predicate>
Out transform_if(In first, In last, Out out, F f, Predicate holds)
{
    return ::thrust::transform_if(first, last, first, out, f, holds);
}
EMU_WITH_POLICY(transform_if)

template <class It, class Size, class F> It for_each_n(It first, Size n, F f)
{
    const auto at = emu_raw(first);
    emu_run("thrust::for_each", emu_on_device<It>(), [=]() mutable {
        for (std::ptrdiff_t i = 0; i < (std::ptrdiff_t)n; i++) f(at[i]);
    });
    return first + (std::ptrdiff_t)n;
}
EMU_WITH_POLICY(for_each_n)
template <class It, class F> It for_each(It first, It last, F f)
{
    return ::thrust::for_each_n(first, last - first, f);
}
EMU_WITH_POLICY(for_each)

template <class It, class Predicate, class T>
void replace_if(It first, It last, Predicate holds, const T &value)
{
    ::thrust::transform_if(
        first, last, first, [=](const emu_value<It> &) { return value; }, holds);
}
EMU_WITH_POLICY(replace_if)
template <class It, class T>
void replace(It first, It last, const T &old_value, const T &value)
{
    ::thrust::replace_if(
        first, last, [=](const emu_value<It> &x) { return x == old_value; }, value);
}
EMU_WITH_POLICY(replace)

/* out[i] = from[map[i]], and out[map[i]] = from[i]. */
template <class Map, class In, class Out> Out gather(Map first, Map last, In in, Out out)
{
    const auto from = emu_raw(in);
    const std::ptrdiff_t n = last - first;
    const auto map = emu_raw(first);
    const auto to = emu_raw(out);
    emu_run("thrust::gather", emu_on_device<Map, In, Out>(), [=]() mutable {
        for (std::ptrdiff_t i = 0; i < n; i++) to[i] = from[(std::ptrdiff_t)map[i]];
    });
    return out + n;
}
EMU_WITH_POLICY(gather)
template <class In, class Map, class Out>
void scatter(In first, In last, Map where, Out out)
{
    const auto from = emu_raw(first);
    const std::ptrdiff_t n = last - first;
    const auto map = emu_raw(where);
    const auto to = emu_raw(out);
    emu_run("thrust::scatter", emu_on_device<In, Map, Out>(), [=]() mutable {
        for (std::ptrdiff_t i = 0; i < n; i++) to[(std::ptrdiff_t)map[i]] = from[i];
    });
}
EMU_WITH_POLICY(scatter)

/* The first as it is, then op(x[i], x[i - 1]). */
template <class In, class Out, class Op>
Out adjacent_difference(In first, In last, Out out, Op op)
{
    using T = emu_value<In>;
    const std::ptrdiff_t n = last - first;
    const auto from = emu_raw(first);
    const auto to = emu_raw(out);
    emu_run("thrust::adjacent_difference", emu_on_device<In, Out>(), [=]() mutable {
        T before = T();
        for (std::ptrdiff_t i = 0; i < n; i++) {
            const T x = from[i];
            if (i)
                to[i] = op(x, before);
            else
                to[i] = x;
            before = x;
        }
    });
    return out + n;
}
template <class In, class Out> Out adjacent_difference(In first, In last, Out out)
{
    return ::thrust::adjacent_difference(first, last, out, minus<emu_value<In>>());
}
EMU_WITH_POLICY(adjacent_difference)

template <class It> void reverse(It first, It last)
{
    using T = emu_value<It>;
    const std::ptrdiff_t n = last - first;
    const auto at = emu_raw(first);
    emu_run("thrust::reverse", emu_on_device<It>(), [=]() mutable {
        for (std::ptrdiff_t i = 0; i < n - 1 - i; i++) {
            const T x = at[i], y = at[n - 1 - i];
            at[i] = y;
            at[n - 1 - i] = x;
        }
    });
}
EMU_WITH_POLICY(reverse)
template <class In, class Out> Out reverse_copy(In first, In last, Out out)
{
    const std::ptrdiff_t n = last - first;
    const auto from = emu_raw(first);
    const auto to = emu_raw(out);
    emu_run("thrust::reverse_copy", emu_on_device<In, Out>(), [=]() mutable {
        for (std::ptrdiff_t i = 0; i < n; i++) to[i] = from[n - 1 - i];
    });
    return out + n;
}
EMU_WITH_POLICY(reverse_copy)

} // namespace thrust

#endif
