/* A range from its end to its beginning. */
#ifndef THRUST_REVERSE_ITERATOR_H
#define THRUST_REVERSE_ITERATOR_H

#include "../detail/run.h"

namespace thrust
{

template <class It>
class reverse_iterator
    : public emu_iterator<reverse_iterator<It>,
                          typename std::iterator_traits<It>::value_type,
                          typename std::iterator_traits<It>::reference>
{
    It behind;

  public:
    explicit reverse_iterator(It it) : behind(it)
    {
    }
    typename std::iterator_traits<It>::reference at() const
    {
        return *(behind - 1);
    }
    void move(std::ptrdiff_t n)
    {
        behind -= n;
    }
    std::ptrdiff_t from(const reverse_iterator &other) const
    {
        return other.behind - behind;
    }
    It base() const
    {
        return behind;
    }
};
template <class It> reverse_iterator<It> make_reverse_iterator(It it)
{
    return reverse_iterator<It>(it);
}
template <class It> struct emu_traits<reverse_iterator<It>> {
    static constexpr emu_place place = emu_traits<It>::place;
    using raw = reverse_iterator<typename emu_traits<It>::raw>;
    static raw strip(const reverse_iterator<It> &it)
    {
        return raw(emu_raw(it.base()));
    }
};

} // namespace thrust

#endif
