/* 5, 6, 7, ...; 5, 5, 5, ...; and a place where what is written is lost. */
#ifndef THRUST_COUNTING_ITERATOR_H
#define THRUST_COUNTING_ITERATOR_H

#include "../detail/run.h"

namespace thrust
{

template <class T, class... Unused>
class counting_iterator : public emu_iterator<counting_iterator<T, Unused...>, T, T>
{
    T value;

  public:
    explicit counting_iterator(T first = T()) : value(first)
    {
    }
    T at() const
    {
        return value;
    }
    void move(std::ptrdiff_t n)
    {
        value = static_cast<T>(value + static_cast<T>(n));
    }
    std::ptrdiff_t from(const counting_iterator &other) const
    {
        return static_cast<std::ptrdiff_t>(value) -
               static_cast<std::ptrdiff_t>(other.value);
    }
};
template <class T> counting_iterator<T> make_counting_iterator(T first)
{
    return counting_iterator<T>(first);
}

template <class T, class... Unused>
class constant_iterator
    : public emu_moving<constant_iterator<T, Unused...>, std::ptrdiff_t, T, T>
{
    T value;

  public:
    explicit constant_iterator(const T &v = T(), std::ptrdiff_t n = 0)
        : constant_iterator::emu_moving(n), value(v)
    {
    }
    T at() const
    {
        return value;
    }
};
template <class T>
constant_iterator<T> make_constant_iterator(const T &value, std::ptrdiff_t place = 0)
{
    return constant_iterator<T>(value, place);
}

struct emu_nowhere {
    template <class T> const emu_nowhere &operator=(const T &) const
    {
        return *this;
    }
};
template <class Unused = void>
class discard_iterator : public emu_moving<discard_iterator<Unused>, std::ptrdiff_t,
                                           emu_nowhere, emu_nowhere>
{
  public:
    explicit discard_iterator(std::ptrdiff_t n = 0) : discard_iterator::emu_moving(n)
    {
    }
    emu_nowhere at() const
    {
        return {};
    }
};
static inline discard_iterator<> make_discard_iterator(std::ptrdiff_t n = 0)
{
    return discard_iterator<>(n);
}

/* They lie nowhere. */
template <class It> struct emu_placeless {
    static constexpr emu_place place = EMU_ANYWHERE;
    using raw = It;
    static raw strip(const It &it)
    {
        return it;
    }
};
template <class... T>
struct emu_traits<counting_iterator<T...>> : emu_placeless<counting_iterator<T...>> {
};
template <class... T>
struct emu_traits<constant_iterator<T...>> : emu_placeless<constant_iterator<T...>> {
};
template <class T>
struct emu_traits<discard_iterator<T>> : emu_placeless<discard_iterator<T>> {
};

} // namespace thrust

#endif
