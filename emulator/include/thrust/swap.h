/* thrust::swap and swap_ranges. */
#ifndef THRUST_SWAP_H
#define THRUST_SWAP_H

#include "device_ptr.h"

namespace thrust
{

using std::swap;

template <class A, class B> B swap_ranges(A first, A last, B second)
{
    using T = emu_value<A>;
    const std::ptrdiff_t n = last - first;
    const auto a = emu_raw(first);
    const auto b = emu_raw(second);
    emu_run("thrust::swap_ranges", emu_on_device<A, B>(), [=]() mutable {
        for (std::ptrdiff_t i = 0; i < n; i++) {
            const T x = a[i];
            a[i] = b[i];
            b[i] = x;
        }
    });
    return second + n;
}
EMU_WITH_POLICY(swap_ranges)

} // namespace thrust

#endif
