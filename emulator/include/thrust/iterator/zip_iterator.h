/* Several ranges side by side: an element is a tuple. */
#ifndef THRUST_ZIP_ITERATOR_H
#define THRUST_ZIP_ITERATOR_H

#include "../detail/run.h"
#include "../tuple.h"

namespace thrust
{

template <class It> using emu_reference = typename std::iterator_traits<It>::reference;

template <class Tuple> class zip_iterator;

template <class... It>
class zip_iterator<tuple<It...>>
    : public emu_iterator<zip_iterator<tuple<It...>>,
                          tuple<typename std::iterator_traits<It>::value_type...>,
                          tuple<emu_reference<It>...>>
{
    using indices = std::index_sequence_for<It...>;
    using elements = tuple<emu_reference<It>...>;
    tuple<It...> each;

    template <std::size_t... I> elements at_of(std::index_sequence<I...>) const
    {
        return elements(*std::get<I>(each)...);
    }
    template <std::size_t... I> void move_of(std::ptrdiff_t n, std::index_sequence<I...>)
    {
        const int all[] = {(std::get<I>(each) += n, 0)...};
        (void)all;
    }

  public:
    using iterator_tuple = tuple<It...>;

    zip_iterator() = default;
    explicit zip_iterator(const tuple<It...> &all) : each(all)
    {
    }
    const tuple<It...> &get_iterator_tuple() const
    {
        return each;
    }
    elements at() const
    {
        return at_of(indices());
    }
    void move(std::ptrdiff_t n)
    {
        move_of(n, indices());
    }
    std::ptrdiff_t from(const zip_iterator &other) const
    {
        return std::get<0>(each) - std::get<0>(other.each);
    }
};
template <class... It>
zip_iterator<tuple<It...>> make_zip_iterator(const tuple<It...> &all)
{
    return zip_iterator<tuple<It...>>(all);
}
template <class... It> zip_iterator<tuple<It...>> make_zip_iterator(It... each)
{
    return zip_iterator<tuple<It...>>(tuple<It...>(each...));
}

template <emu_place... Place> constexpr emu_place emu_together()
{
    emu_place all = EMU_ANYWHERE;
    for (emu_place p : {Place...})
        if (p > all) all = p;
    return all;
}
template <class... It> struct emu_traits<zip_iterator<tuple<It...>>> {
    static constexpr emu_place place = emu_together<emu_traits<It>::place...>();
    using raw = zip_iterator<tuple<typename emu_traits<It>::raw...>>;

    template <std::size_t... I>
    static raw strip_of(const tuple<It...> &all, std::index_sequence<I...>)
    {
        return raw(tuple<typename emu_traits<It>::raw...>(emu_raw(std::get<I>(all))...));
    }
    static raw strip(const zip_iterator<tuple<It...>> &it)
    {
        return strip_of(it.get_iterator_tuple(), std::index_sequence_for<It...>());
    }
};

/* A function of several arguments, called with a tuple. */
template <class F> class zip_function
{
    mutable F f; /* whose call need not be const */

    template <class Tuple, std::size_t... I>
    auto call(const Tuple &t, std::index_sequence<I...>) const
    {
        return f(std::get<I>(t)...);
    }

  public:
    explicit zip_function(F function) : f(function)
    {
    }
    template <class Tuple> auto operator()(const Tuple &t) const
    {
        return call(t, std::make_index_sequence<std::tuple_size<Tuple>::value>());
    }
};
template <class F> zip_function<F> make_zip_function(F f)
{
    return zip_function<F>(f);
}

} // namespace thrust

#endif
