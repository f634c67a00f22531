/* copy, also between host and device; copy_n, copy_if. */
#ifndef THRUST_COPY_H
#define THRUST_COPY_H

#include <vector>

#include "device_ptr.h"

namespace thrust
{

/* The elements of a range wherever it lies, in a vector. */
template <class T, class It> std::vector<T> emu_to_host(It first, It last)
{
    const std::size_t n = (std::size_t)std::distance(first, last);
    std::vector<T> all(n);
    if (emu_traits<It>::place != EMU_DEVICE) {
        auto from = emu_raw(first);
        for (std::size_t i = 0; i < n; i++, ++from) all[i] = static_cast<T>(*from);
        return all;
    }
    if (!n) return all;
    emu_temporary<T> there(n, true);
    const auto from = emu_raw(first);
    T *const to = there.data;
    emu_run("thrust::copy", true, [=]() mutable {
        for (std::size_t i = 0; i < n; i++) new (&to[i]) T(from[(std::ptrdiff_t)i]);
    });
    cudaMemcpy(all.data(), to, n * sizeof(T), cudaMemcpyDeviceToHost);
    return all;
}

/* An iterator that only takes things, as std::ostream_iterator, may have no distances. */
template <class It> void emu_skip(It &it, std::ptrdiff_t n, std::true_type)
{
    while (n-- > 0) ++it;
}
template <class It> void emu_skip(It &it, std::ptrdiff_t n, std::false_type)
{
    std::advance(it, n);
}

template <class In, class Out> Out copy(In first, In last, Out out)
{
    using T = emu_value<In>;
    const std::ptrdiff_t n = std::distance(first, last);
    if (n <= 0) return out;
    const bool there = !emu_in_kernel() && emu_traits<Out>::place == EMU_DEVICE &&
                       emu_traits<In>::place == EMU_HOST && !emu_scope::current();
    const bool here = !emu_in_kernel() && emu_traits<Out>::place == EMU_HOST &&
                      emu_traits<In>::place == EMU_DEVICE && !emu_scope::current();
    auto to = emu_raw(out);
    auto from = emu_raw(first);
    if (here) {
        const std::vector<T> all = emu_to_host<T>(first, last);
        for (std::ptrdiff_t i = 0; i < n; i++, ++to) *to = all[(std::size_t)i];
    } else if (there) {
        const std::vector<T> all(from, emu_raw(last));
        emu_temporary<T> copies((std::size_t)n, true);
        T *const data = copies.data;
        cudaMemcpy(data, all.data(), (std::size_t)n * sizeof(T), cudaMemcpyHostToDevice);
        emu_run("thrust::copy", true, [=]() mutable {
            for (std::ptrdiff_t i = 0; i < n; i++, ++to) *to = data[i];
        });
    } else {
        emu_run("thrust::copy", emu_on_device<In, Out>(), [=]() mutable {
            for (std::ptrdiff_t i = 0; i < n; i++, ++from, ++to) *to = *from;
        });
    }
    using kind = typename std::iterator_traits<Out>::iterator_category;
    emu_skip(out, n, std::is_same<kind, std::output_iterator_tag>());
    return out;
}
EMU_WITH_POLICY(copy)

template <class In, class Size, class Out> Out copy_n(In first, Size n, Out out)
{
    In last = first;
    std::advance(last, n);
    return ::thrust::copy(first, last, out);
}
EMU_WITH_POLICY(copy_n)

/* Those whose stencil fulfils the predicate. */
template <class In, class Stencil, class Out, class Predicate>
Out copy_if(In first, In last, Stencil stencil, Out out, Predicate holds)
{
    const std::ptrdiff_t n = std::distance(first, last);
    const auto from = emu_raw(first);
    const auto at = emu_raw(stencil);
    const auto to = emu_raw(out);
    return out +
           emu_run("thrust::copy_if", emu_on_device<In, Stencil, Out>(), [=]() mutable {
               std::ptrdiff_t kept = 0;
               for (std::ptrdiff_t i = 0; i < n; i++)
                   if (holds(at[i])) to[kept++] = from[i];
               return kept;
           });
}
template <class In, class Out, class Predicate>
Out copy_if(In first, In last, Out out, Predicate holds)
{
    return ::thrust::copy_if(first, last, first, out, holds);
}
EMU_WITH_POLICY(copy_if)

} // namespace thrust

#endif
