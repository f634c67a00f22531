/* f(x) for each x of a range; the elements of a range in another order. */
#ifndef THRUST_TRANSFORM_ITERATOR_H
#define THRUST_TRANSFORM_ITERATOR_H

#include "../detail/run.h"

namespace thrust
{

template <class F, class It>
using emu_transformed = typename std::decay<decltype(std::declval<F &>()(
    *std::declval<typename emu_traits<It>::raw>()))>::type;

template <class F, class It, class... Unused>
class transform_iterator
    : public emu_moving<transform_iterator<F, It, Unused...>, It, emu_transformed<F, It>,
                        emu_transformed<F, It>>
{
    mutable F function; /* whose call need not be const */

  public:
    transform_iterator(It it, F f) : transform_iterator::emu_moving(it), function(f)
    {
    }
    explicit transform_iterator(It it) : transform_iterator(it, F())
    {
    }
    emu_transformed<F, It> at() const
    {
        return function(*this->place);
    }
    F functor() const
    {
        return function;
    }
};
template <class F, class It> transform_iterator<F, It> make_transform_iterator(It it, F f)
{
    return transform_iterator<F, It>(it, f);
}
template <class F, class It, class... Unused>
struct emu_traits<transform_iterator<F, It, Unused...>> {
    static constexpr emu_place place = emu_traits<It>::place;
    using raw = transform_iterator<F, typename emu_traits<It>::raw>;
    static raw strip(const transform_iterator<F, It, Unused...> &it)
    {
        return raw(emu_raw(it.base()), it.functor());
    }
};

template <class It, class Map>
class permutation_iterator
    : public emu_moving<permutation_iterator<It, Map>, Map,
                        typename std::iterator_traits<It>::value_type,
                        typename std::iterator_traits<It>::reference>
{
    It elements;

  public:
    permutation_iterator(It e, Map m) : permutation_iterator::emu_moving(m), elements(e)
    {
    }
    typename std::iterator_traits<It>::reference at() const
    {
        return elements[static_cast<std::ptrdiff_t>(*this->place)];
    }
    It base() const
    {
        return elements;
    }
    Map order() const
    {
        return this->place;
    }
};
template <class It, class Map>
permutation_iterator<It, Map> make_permutation_iterator(It elements, Map map)
{
    return permutation_iterator<It, Map>(elements, map);
}
template <class It, class Map> struct emu_traits<permutation_iterator<It, Map>> {
    static constexpr emu_place place = emu_traits<It>::place > emu_traits<Map>::place
                                           ? emu_traits<It>::place
                                           : emu_traits<Map>::place;
    using raw =
        permutation_iterator<typename emu_traits<It>::raw, typename emu_traits<Map>::raw>;
    static raw strip(const permutation_iterator<It, Map> &it)
    {
        return raw(emu_raw(it.base()), emu_raw(it.order()));
    }
};

} // namespace thrust

#endif
