/* fill, fill_n, sequence, generate, tabulate: values that come from nowhere. */
#ifndef THRUST_FILL_H
#define THRUST_FILL_H

#include "device_ptr.h"

namespace thrust
{

/* Element i becomes make(i). */
template <class It, class F>
void emu_make(const char *name, It first, std::ptrdiff_t n, F make)
{
    const auto to = emu_raw(first);
    if (n <= 0) return;
    emu_run(name, emu_on_device<It>(), [=]() mutable {
        for (std::ptrdiff_t i = 0; i < n; i++) to[i] = make(i);
    });
}

template <class It, class T> void fill(It first, It last, const T &value)
{
    const emu_value<It> all = static_cast<emu_value<It>>(value);
    emu_make("thrust::fill", first, last - first, [=](std::ptrdiff_t) { return all; });
}
EMU_WITH_POLICY(fill)
template <class It, class Size, class T> It fill_n(It first, Size n, const T &value)
{
    ::thrust::fill(first, first + (std::ptrdiff_t)n, value);
    return first + (std::ptrdiff_t)n;
}
EMU_WITH_POLICY(fill_n)
template <class It, class T> void uninitialized_fill(It first, It last, const T &value)
{
    ::thrust::fill(first, last, value);
}
EMU_WITH_POLICY(uninitialized_fill)

template <class It, class T> void sequence(It first, It last, T start, T step)
{
    emu_make("thrust::sequence", first, last - first, [=](std::ptrdiff_t i) {
        return static_cast<emu_value<It>>(start + static_cast<T>(i) * step);
    });
}
template <class It, class T> void sequence(It first, It last, T start)
{
    ::thrust::sequence(first, last, start, T(1));
}
template <class It> void sequence(It first, It last)
{
    ::thrust::sequence(first, last, emu_value<It>(0));
}
EMU_WITH_POLICY(sequence)

template <class It, class F> void generate(It first, It last, F f)
{
    emu_make("thrust::generate", first, last - first,
             [=](std::ptrdiff_t) mutable { return f(); });
}
EMU_WITH_POLICY(generate)
template <class It, class Size, class F> It generate_n(It first, Size n, F f)
{
    ::thrust::generate(first, first + (std::ptrdiff_t)n, f);
    return first + (std::ptrdiff_t)n;
}
EMU_WITH_POLICY(generate_n)

template <class It, class F> void tabulate(It first, It last, F f)
{
    emu_make("thrust::tabulate", first, last - first,
             [=](std::ptrdiff_t i) mutable { return f(i); });
}
EMU_WITH_POLICY(tabulate)

} // namespace thrust

#endif
