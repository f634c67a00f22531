/* What is written through it passes f before. */
#ifndef THRUST_TRANSFORM_OUTPUT_ITERATOR_H
#define THRUST_TRANSFORM_OUTPUT_ITERATOR_H

#include "../detail/run.h"

namespace thrust
{

/* *it, to which a value is assigned. */
template <class F, class Raw> class emu_transforming_reference
{
    Raw place;
    F function;

  public:
    emu_transforming_reference(Raw p, F f) : place(p), function(f)
    {
    }
    template <class T> const emu_transforming_reference &operator=(const T &value) const
    {
        F f = function;
        *place = f(value);
        return *this;
    }
};

template <class F, class It>
class transform_output_iterator
    : public emu_moving<transform_output_iterator<F, It>, It,
                        typename std::iterator_traits<It>::value_type,
                        emu_transforming_reference<F, It>>
{
    F function;

  public:
    transform_output_iterator(It it, F f)
        : transform_output_iterator::emu_moving(it), function(f)
    {
    }
    emu_transforming_reference<F, It> at() const
    {
        return emu_transforming_reference<F, It>(this->place, function);
    }
    F functor() const
    {
        return function;
    }
};
template <class F, class It>
transform_output_iterator<F, It> make_transform_output_iterator(It it, F f)
{
    return transform_output_iterator<F, It>(it, f);
}
template <class F, class It> struct emu_traits<transform_output_iterator<F, It>> {
    static constexpr emu_place place = emu_traits<It>::place;
    using raw = transform_output_iterator<F, typename emu_traits<It>::raw>;
    static raw strip(const transform_output_iterator<F, It> &it)
    {
        return raw(emu_raw(it.base()), it.functor());
    }
};

} // namespace thrust

#endif
