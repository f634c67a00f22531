/* shuffle and shuffle_copy: into an order that the generator's next two numbers choose. It
 * is another than NVIDIA's for the same numbers, which CUDA does not promise either. */
#ifndef THRUST_SHUFFLE_H
#define THRUST_SHUFFLE_H

#include "copy.h"

#include <cstdint>

namespace thrust
{

/* Fisher and Yates' way, with numbers of splitmix64 (S. Vigna, prng.di.unimi.it). */
template <class It, class Generator> void shuffle(It first, It last, Generator &&g)
{
    using T = emu_value<It>;
    const std::ptrdiff_t n = last - first;
    const auto at = emu_raw(first);
    std::uint64_t state = (std::uint64_t)g() << 32;
    state ^= (std::uint64_t)g();
    emu_run("thrust::shuffle", emu_on_device<It>(), [=]() mutable {
        for (std::ptrdiff_t i = n - 1; i > 0; i--) {
            std::uint64_t z = state += 0x9e3779b97f4a7c15;
            z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
            z = (z ^ z >> 27) * 0x94d049bb133111eb;
            const std::ptrdiff_t j =
                (std::ptrdiff_t)((z ^ z >> 31) % (std::uint64_t)(i + 1));
            const T x = at[i], y = at[j];
            at[i] = y;
            at[j] = x;
        }
    });
}
EMU_WITH_POLICY(shuffle)
template <class In, class Out, class Generator>
void shuffle_copy(In first, In last, Out out, Generator &&g)
{
    const Out end = ::thrust::copy(first, last, out);
    ::thrust::shuffle(out, end, g);
}
EMU_WITH_POLICY(shuffle_copy)

} // namespace thrust

#endif
